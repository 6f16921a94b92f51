import assert from "node:assert/strict";
import { test } from "node:test";

import type { Json, JsonObject } from "@keelson/base";

import { listOf, objectOf, objectsOf, textOf } from "../object/members.ts";
import {
  beginTermination,
  cleanupFinalizer,
  hasInstances,
  settleDefinition,
  settleDefinitions,
  terminate,
} from "./lifecycle.ts";

const now = "2026-01-01T00:00:00Z";
const later = "2026-01-02T00:00:00Z";

interface Options {
  readonly names?: JsonObject;
  readonly group?: string;
  readonly annotations?: JsonObject;
  readonly spec?: JsonObject;
}

function definition(plural: string, options: Options = {}): JsonObject {
  const { names = {}, group = "example.com", annotations = {}, spec = {} } = options;
  const kind = plural.slice(0, 1).toUpperCase() + plural.slice(1, -1);
  return {
    metadata: { name: `${plural}.${group}`, annotations },
    spec: {
      group,
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List`, ...names },
      versions: [{ name: "v1", served: true, storage: true }],
      ...spec,
    },
    status: { storedVersions: ["v1"] },
  };
}

function conditionsOf(one: JsonObject | undefined): string[] {
  return objectsOf(objectOf(one ?? {}, "status"), "conditions").map(
    (condition) =>
      `${textOf(condition, "type")}=${textOf(condition, "status")} ${textOf(condition, "reason")}: ${textOf(condition, "message")}`,
  );
}

const established = "Established=True InitialNamesAccepted: the initial names have been accepted";
const notAccepted = "Established=False NotAccepted: not all names are accepted";
const accepted = "NamesAccepted=True NoConflicts: no conflicts found";

test("a definition alone gets its names and is established", () => {
  const settled = settleDefinition(definition("things"), [], now);
  assert.deepEqual(settled["status"], {
    storedVersions: ["v1"],
    acceptedNames: { plural: "things", kind: "Thing", singular: "thing", listKind: "ThingList" },
    conditions: [
      {
        type: "NamesAccepted",
        status: "True",
        lastTransitionTime: now,
        reason: "NoConflicts",
        message: "no conflicts found",
      },
      {
        type: "Established",
        status: "True",
        lastTransitionTime: now,
        reason: "InitialNamesAccepted",
        message: "the initial names have been accepted",
      },
    ],
  });
});

test("what is settled stays the same object", () => {
  const settled = settleDefinition(definition("things"), [], now);
  assert.equal(settleDefinition(settled, [settled], later), settled);
});

const conflicts: readonly (readonly [asked: JsonObject, reason: string])[] = [
  [{ singular: "things" }, 'SingularConflict: "things" is already in use'],
  [{ shortNames: ["th"] }, 'ShortNamesConflict: "th" is already in use'],
  [
    { shortNames: ["th", "free", "thing"] },
    'ShortNamesConflict: ["th" is already in use, "thing" is already in use]',
  ],
  [{ kind: "Thing" }, 'KindConflict: "Thing" is already in use'],
  [{ kind: "ThingList" }, 'KindConflict: "ThingList" is already in use'],
  [{ listKind: "Thing" }, 'ListKindConflict: "Thing" is already in use'],
  [{ singular: "thing", kind: "Thing" }, 'KindConflict: "Thing" is already in use'],
];

test("the first in a group has the names that others ask for too", () => {
  const first = definition("things", { names: { shortNames: ["th"] } });
  for (const [names, reason] of conflicts) {
    const [, second] = settleDefinitions([first, definition("others", { names })], now);
    assert.deepEqual(conditionsOf(second), [`NamesAccepted=False ${reason}`, notAccepted]);
  }
});

test("names of another group are nobody's business", () => {
  const settled = settleDefinitions(
    [definition("things"), definition("things", { group: "other.com" })],
    now,
  );
  assert.deepEqual(settled.map(conditionsOf), [
    [accepted, established],
    [accepted, established],
  ]);
});

test("a name that becomes free goes to who waits for it", () => {
  const [, waiting] = settleDefinitions(
    [definition("things"), definition("others", { names: { kind: "Thing" } })],
    now,
  );
  assert.ok(waiting !== undefined);
  assert.deepEqual(conditionsOf(settleDefinition(waiting, [waiting], later)), [
    accepted,
    established,
  ]);
});

test("an established kind keeps its old names while new ones are taken", () => {
  const [first, second] = settleDefinitions([definition("things"), definition("others")], now);
  assert.ok(first !== undefined && second !== undefined);
  const spec = { ...(second["spec"] as JsonObject) };
  const names: Json = { plural: "others", singular: "thing", kind: "Other", listKind: "OtherList" };
  const renamed = settleDefinition({ ...second, spec: { ...spec, names } }, [first, second], later);
  assert.deepEqual(conditionsOf(renamed), [
    'NamesAccepted=False SingularConflict: "thing" is already in use',
    established,
  ]);
  assert.equal(textOf(objectOf(objectOf(renamed, "status"), "acceptedNames"), "singular"), "other");
});

const approvals: readonly (readonly [annotation: string, said: string])[] = [
  [
    "",
    'False MissingAnnotation: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
  ],
  ["unapproved", 'False UnapprovedAnnotation: not approved: "unapproved"'],
  ["https://example.com/1", "True ApprovedAnnotation: approved in https://example.com/1"],
  [
    "surely",
    'False InvalidAnnotation: protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111',
  ],
];

test("kinds of the community's groups say who approved them", () => {
  for (const [annotation, said] of approvals) {
    const annotations = { "api-approved.kubernetes.io": annotation };
    const one = definition("things", { group: "lab.k8s.io", annotations });
    assert.ok(
      conditionsOf(settleDefinition(one, [], now)).includes(
        `KubernetesAPIApprovalPolicyConformant=${said}`,
      ),
    );
  }
});

test("a schema that is not structural is said to be none, until it is", () => {
  const schema = (openAPIV3Schema: Json): JsonObject => ({
    versions: [{ name: "v1", schema: { openAPIV3Schema } }],
  });
  const said = (spec: JsonObject): string[] =>
    conditionsOf(settleDefinition(definition("things", { spec }), [], now)).filter((text) =>
      text.startsWith("NonStructural"),
    );
  assert.deepEqual(said(schema({ type: "object" })), []);
  assert.deepEqual(said({ preserveUnknownFields: true }), [
    "NonStructuralSchema=True Violations: spec.preserveUnknownFields: Invalid value: true: must be false",
  ]);
  assert.deepEqual(said(schema({ properties: { a: {} } })), [
    "NonStructuralSchema=True Violations: [spec.versions[0].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields, spec.versions[0].schema.openAPIV3Schema.type: Required value: must not be empty at the root]",
  ]);
  assert.deepEqual(said(schema({ type: "object", $ref: "#" })), [
    "NonStructuralSchema=Unknown StructuralError: failed to check validation schema for version v1: OpenAPIV3Schema '$ref' is not supported",
  ]);
  const bad = settleDefinition(
    definition("things", { spec: { preserveUnknownFields: true } }),
    [],
    now,
  );
  const { preserveUnknownFields: _, ...spec } = bad["spec"] as Record<string, Json>;
  assert.deepEqual(conditionsOf(settleDefinition({ ...bad, spec }, [], later)), [
    accepted,
    established,
  ]);
});

test("a webhook that cannot be trusted keeps a kind from being established", () => {
  const caBundle = btoa("nothing");
  const conversion = { strategy: "Webhook", webhook: { clientConfig: { caBundle } } };
  const one = definition("things", { spec: { conversion } });
  assert.deepEqual(conditionsOf(settleDefinition(one, [], now)), [
    accepted,
    "Established=False InvalidCABundle: The conversion webhook CABundle is invalid",
  ]);
});

test("a definition goes after its objects", () => {
  const settled = settleDefinition(definition("things"), [], now);
  const begun = beginTermination(settled, later);
  assert.equal(textOf(objectOf(begun, "metadata"), "deletionTimestamp"), later);
  assert.deepEqual(listOf(objectOf(begun, "metadata"), "finalizers"), [cleanupFinalizer]);
  assert.equal(hasInstances(begun), true);
  const said = (one: JsonObject): string | undefined => conditionsOf(one).at(-1);
  assert.equal(
    said(begun),
    "Terminating=True InstanceDeletionPending: CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
  );
  assert.equal(
    said(terminate(begun, { is: "InProgress" }, later)),
    "Terminating=True InstanceDeletionInProgress: CustomResource deletion is in progress",
  );
  assert.equal(
    said(terminate(begun, { is: "Failed", message: "could not list instances: no" }, later)),
    "Terminating=True InstanceDeletionFailed: could not list instances: no",
  );
  const done = terminate(begun, { is: "Done" }, later);
  assert.equal(said(done), "Terminating=False InstanceDeletionCompleted: removed all instances");
  assert.deepEqual(listOf(objectOf(done, "metadata"), "finalizers"), []);
});

test("a definition that was never established has no objects", () => {
  const begun = beginTermination(definition("things"), now);
  assert.equal(hasInstances(begun), false);
  assert.deepEqual(conditionsOf(terminate(begun, { is: "Done" }, now)), [
    "Terminating=False NeverEstablished: resource was never established",
  ]);
});

test("a schema is looked into once, however often anything else is settled", () => {
  let reads = 0;
  const openAPIV3Schema = {
    type: "object",
    get properties(): JsonObject {
      reads += 1;
      return {};
    },
  };
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }];
  const settled = settleDefinitions([definition("widgets", { spec: { versions } })], now);
  const before = reads;
  assert.ok(before > 0);
  settleDefinitions([...settled, definition("gadgets")], later);
  assert.equal(reads, before);
});
