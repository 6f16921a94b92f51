import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { Json, JsonObject } from "@keelson/base";
import * as fc from "fast-check";

import { StatusError } from "../status/status.ts";
import { deploymentSchema } from "../testing/deployment-schema.ts";
import { fieldManager, type ApplyOptions } from "./field-manager.ts";
import { FieldSet } from "./field-set.ts";
import { managedFieldsOf } from "./managed-fields.ts";

const now = "2026-01-01T00:00:00Z";
const later = "2026-01-01T00:00:05Z";
const deployments = fieldManager({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  schema: deploymentSchema,
  resetFields: new Map([["apps/v1", FieldSet.of(["status"])]]),
});

function by(manager: string, options: Partial<ApplyOptions> = {}): ApplyOptions {
  return { manager, force: false, now, ...options };
}

function deployment(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", ...metadata },
    spec,
  };
}

function containers(...items: readonly JsonObject[]): JsonObject {
  return { template: { spec: { containers: items } } };
}

/** Who owns what: `manager/operation` to the stored set. */
function owners(object: JsonObject): Record<string, Json> {
  const entries = (managedFieldsOf(object) ?? []) as readonly JsonObject[];
  return Object.fromEntries(
    entries.map((entry) => [
      ["manager", "operation", "subresource"]
        .map((name) => entry[name])
        .filter((text) => typeof text === "string")
        .join("/"),
      entry["fieldsV1"] ?? null,
    ]),
  );
}

/** As a server would store it. */
function stored(object: JsonObject): JsonObject {
  return { ...object, metadata: { ...(object["metadata"] as JsonObject), uid: "u-1" } };
}

/** What a server makes of the nulls that giving up leaves behind. */
function withoutNulls(object: JsonObject): JsonObject {
  return JSON.parse(
    JSON.stringify(object),
    (_, value: unknown) => value ?? undefined,
  ) as JsonObject;
}

function failureOf(call: () => unknown): StatusError["status"] {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof StatusError, String(error));
    return error.status;
  }
  return assert.fail("it did not fail");
}

suite("apply", () => {
  test("creates, and owns what it says but for names and system fields", () => {
    const { object } = deployments.apply(
      undefined,
      deployment({ replicas: 3 }, { namespace: "default", labels: { app: "a" } }),
      by("one"),
    );
    assert.deepEqual(managedFieldsOf(object), [
      {
        manager: "one",
        operation: "Apply",
        apiVersion: "apps/v1",
        time: now,
        fieldsType: "FieldsV1",
        fieldsV1: { "f:metadata": { "f:labels": { "f:app": {} } }, "f:spec": { "f:replicas": {} } },
      },
    ]);
  });

  test("fails with every field that others own and it would change", () => {
    const first = deployments.apply(
      undefined,
      deployment({ replicas: 3, paused: true, minReadySeconds: 1 }),
      by("one"),
    ).object;
    const second = deployments.update(first, { ...stored(first) }, { manager: "two", now });
    const status = failureOf(() =>
      deployments.apply(second, deployment({ replicas: 4, paused: false }), by("three")),
    );
    assert.deepEqual(status, {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message:
        'Apply failed with 2 conflicts: conflicts with "one":\n- .spec.paused\n- .spec.replicas',
      reason: "Conflict",
      details: {
        causes: [
          { reason: "FieldManagerConflict", message: 'conflict with "one"', field: ".spec.paused" },
          {
            reason: "FieldManagerConflict",
            message: 'conflict with "one"',
            field: ".spec.replicas",
          },
        ],
      },
      code: 409,
    });
  });

  test("names an updater with its version, and a subresource", () => {
    const created = deployments.update(undefined, deployment({ replicas: 1 }), {
      manager: "up",
      now,
    });
    assert.equal(
      failureOf(() => deployments.apply(created, deployment({ replicas: 2 }), by("one"))).message,
      'Apply failed with 1 conflict: conflict with "up" using apps/v1: .spec.replicas',
    );
    const status = fieldManager({
      group: "apps",
      version: "v1",
      kind: "Deployment",
      schema: deploymentSchema,
      subresource: "status",
    });
    const object = status.apply(
      stored(created),
      { ...deployment({}), status: { replicas: 1 } },
      by("st"),
    ).object;
    assert.equal(
      failureOf(() =>
        status.apply(object, { ...deployment({}), status: { replicas: 2 } }, by("one")),
      ).message,
      'Apply failed with 1 conflict: conflict with "st" with subresource "status": .status.replicas',
    );
  });

  test("forced, takes the field from its owner", () => {
    const first = deployments.apply(undefined, deployment({ replicas: 3 }), by("one")).object;
    const { object } = deployments.apply(
      first,
      deployment({ replicas: 4 }),
      by("two", { force: true }),
    );
    assert.deepEqual(owners(object), { "two/Apply": { "f:spec": { "f:replicas": {} } } });
  });

  test("shares a field with whoever says the same", () => {
    const first = deployments.apply(undefined, deployment({ replicas: 3 }), by("one")).object;
    const { object, isChanged } = deployments.apply(first, deployment({ replicas: 3 }), by("two"));
    assert.equal(isChanged, false);
    assert.deepEqual(owners(object), {
      "one/Apply": { "f:spec": { "f:replicas": {} } },
      "two/Apply": { "f:spec": { "f:replicas": {} } },
    });
  });

  test("removes what it gives up alone, and keeps what another owns too", () => {
    const both = deployment(containers({ name: "web", image: "a" }, { name: "log", image: "b" }));
    let object = deployments.apply(undefined, both, by("one")).object;
    object = deployments.apply(
      object,
      deployment(containers({ name: "web", image: "a" })),
      by("two"),
    ).object;
    object = deployments.apply(object, deployment({ replicas: 1 }), by("one")).object;
    assert.deepEqual(object["spec"], {
      template: { spec: { containers: [{ name: "web", image: "a" }] } },
      replicas: 1,
    });
  });

  test("takes an item that it gives up away with what others put into it", () => {
    let object = deployments.apply(
      undefined,
      deployment(containers({ name: "web", image: "a" })),
      by("one"),
    ).object;
    // Somebody else's field in our item.
    object = deployments.update(
      stored(object),
      stored(deployment(containers({ name: "web", image: "a", workingDir: "/" }))),
      { manager: "two", now },
    );
    object = deployments.apply(object, deployment({ replicas: 1 }), by("one")).object;
    assert.deepEqual(object["spec"], { template: { spec: { containers: null } }, replicas: 1 });
    assert.deepEqual(Object.keys(owners(object)), ["one/Apply"]);
  });

  test("tells items apart by their keys with defaults", () => {
    const object = deployments.apply(
      undefined,
      deployment(containers({ name: "web", ports: [{ containerPort: 80 }] })),
      by("one"),
    ).object;
    const { object: merged } = deployments.apply(
      object,
      deployment(containers({ name: "web", ports: [{ containerPort: 80, protocol: "UDP" }] })),
      by("two"),
    );
    assert.deepEqual(merged["spec"], {
      template: {
        spec: {
          containers: [
            {
              name: "web",
              ports: [{ containerPort: 80 }, { containerPort: 80, protocol: "UDP" }],
            },
          ],
        },
      },
    });
  });

  test("refuses items with the same keys", () => {
    const status = failureOf(() =>
      deployments.apply(
        undefined,
        deployment(containers({ name: "web" }, { name: "web" })),
        by("one"),
      ),
    );
    assert.deepEqual([status.code, status.reason], [422, "Invalid"]);
    assert.match(status.message ?? "", /duplicate entries for key \[name=\\"web\\"\]/);
  });

  for (const [what, config, code, message] of [
    [
      "a field outside the schema",
      { ...deployment({}), unknownField: 1 },
      500,
      "failed to create typed patch object (/web; apps/v1, Kind=Deployment): .unknownField: field not declared in schema",
    ],
    [
      "a scalar where an object belongs",
      { ...deployment({}), spec: "text" },
      500,
      "failed to create typed patch object (/web; apps/v1, Kind=Deployment): .spec: expected map, got &{text}",
    ],
    [
      "a text where a number belongs",
      deployment({ replicas: "3" }),
      500,
      "failed to create typed patch object (/web; apps/v1, Kind=Deployment): .spec.replicas: expected numeric (int or float), got string",
    ],
    [
      "an item without its key",
      deployment(containers({ image: "a" })),
      500,
      'failed to create typed patch object (/web; apps/v1, Kind=Deployment): .spec.template.spec.containers: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
    ],
    [
      "another version",
      { ...deployment({}), apiVersion: "apps/v1beta1" },
      400,
      "invalid object type: apps/v1beta1, Kind=Deployment",
    ],
    [
      "managed fields",
      deployment({}, { managedFields: [] }),
      400,
      "metadata.managedFields must be nil",
    ],
  ] as const satisfies readonly (readonly [string, JsonObject, number, string])[]) {
    test(`refuses ${what}`, () => {
      const status = failureOf(() => deployments.apply(undefined, config, by("one")));
      assert.deepEqual([status.code, status.message], [code, message]);
    });
  }

  test("meets before-first-apply where nobody was tracked", () => {
    const live = stored(deployment({ replicas: 1 }));
    assert.equal(
      failureOf(() => deployments.apply(live, deployment({ replicas: 2 }), by("one"))).message,
      'Apply failed with 1 conflict: conflict with "before-first-apply" using apps/v1: .spec.replicas',
    );
    const { object } = deployments.apply(
      live,
      deployment({ replicas: 2 }),
      by("one", { force: true }),
    );
    assert.deepEqual(owners(object), {
      "one/Apply": { "f:spec": { "f:replicas": {} } },
      "before-first-apply/Update": { "f:spec": {} },
    });
  });

  test("takes over from kubectl's client-side apply what nobody changed since", () => {
    const applied = deployment({ replicas: 2, paused: true });
    const annotations = {
      "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify(applied),
    };
    const live = deployments.update(
      undefined,
      deployment({ replicas: 2, paused: true }, { annotations }),
      { manager: "kubectl-client-side-apply", now },
    );
    const config = deployment({ replicas: 5, paused: true });
    assert.equal(failureOf(() => deployments.apply(stored(live), config, by("other"))).code, 409);
    const { object } = deployments.apply(stored(live), config, by("kubectl"));
    assert.equal((object["spec"] as JsonObject)["replicas"], 5);
    assert.equal(
      ((object["metadata"] as JsonObject)["annotations"] as JsonObject)[
        "kubectl.kubernetes.io/last-applied-configuration"
      ],
      '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"paused":true,"replicas":5}}\n',
    );
    // Changed by somebody else since: that field is not the client's any more.
    const moved = deployments.update(
      stored(live),
      stored(deployment({ replicas: 3, paused: true }, { annotations })),
      { manager: "scaler", now },
    );
    assert.equal(
      failureOf(() => deployments.apply(moved, config, by("kubectl"))).message,
      'Apply failed with 1 conflict: conflict with "scaler" using apps/v1: .spec.replicas',
    );
  });

  test("changes no byte if it changes nothing", () => {
    const config = deployment({ replicas: 3, ...containers({ name: "web", image: "a" }) });
    const first = deployments.apply(undefined, config, by("one")).object;
    const again = deployments.apply(first, config, by("one", { now: later }));
    assert.equal(again.isChanged, false);
    assert.equal(JSON.stringify(again.object), JSON.stringify(first));
  });

  test("forgets versions that a built-in kind has no more, and refuses those of a custom one", () => {
    const entry = {
      manager: "old",
      operation: "Update",
      apiVersion: "apps/v0",
      fieldsType: "FieldsV1",
      fieldsV1: { "f:spec": { "f:replicas": {} } },
    };
    const live = stored(deployment({ replicas: 1 }, { managedFields: [entry] }));
    const { object } = deployments.apply(live, deployment({ replicas: 2 }), by("one"));
    assert.deepEqual(Object.keys(owners(object)), ["one/Apply"]);
    const custom = fieldManager({
      group: "apps",
      version: "v1",
      kind: "Deployment",
      schema: deploymentSchema,
      isCustom: true,
    });
    assert.equal(
      failureOf(() => custom.apply(live, deployment({ replicas: 2 }), by("one"))).message,
      "request to convert CR to an invalid group/version: apps/v0",
    );
  });

  test("compares what others own in their version", () => {
    const renamed = (from: string, to: string, apiVersion: string) => (object: JsonObject) => {
      const { [from]: value, ...spec } = (object["spec"] ?? {}) as JsonObject;
      return { ...object, apiVersion, spec: value === undefined ? spec : { ...spec, [to]: value } };
    };
    const schemaWith = (name: string) =>
      ({
        type: "object",
        properties: {
          apiVersion: { type: "string" },
          kind: { type: "string" },
          metadata: { type: "object" },
          spec: { type: "object", properties: { [name]: { type: "integer" } } },
        },
      }) as const;
    const widgets = fieldManager({
      group: "x.io",
      version: "v2",
      kind: "Widget",
      schema: schemaWith("count"),
      versions: new Map([
        ["x.io/v1", { schema: schemaWith("size"), convert: renamed("count", "size", "x.io/v1") }],
        ["x.io/v2", { schema: schemaWith("count"), convert: renamed("size", "count", "x.io/v2") }],
      ]),
    });
    const live: JsonObject = {
      apiVersion: "x.io/v2",
      kind: "Widget",
      metadata: {
        name: "w",
        uid: "u",
        managedFields: [
          {
            manager: "old",
            operation: "Apply",
            apiVersion: "x.io/v1",
            fieldsType: "FieldsV1",
            fieldsV1: { "f:spec": { "f:size": {} } },
          },
        ],
      },
      spec: { count: 1 },
    };
    const config = { apiVersion: "x.io/v2", kind: "Widget", metadata: { name: "w" } };
    assert.equal(
      failureOf(() => widgets.apply(live, { ...config, spec: { count: 2 } }, by("new"))).message,
      'Apply failed with 1 conflict: conflict with "old": .spec.size',
    );
    // Its own last apply was in v1: what it gave up there is removed here.
    assert.deepEqual(widgets.apply(live, config, by("old")).object["spec"], {});
  });
});

suite("update", () => {
  test("gives changed fields to whoever changed them", () => {
    const first = deployments.update(undefined, deployment({ replicas: 1, paused: true }), {
      manager: "one",
      now,
    });
    const next = deployments.update(stored(first), stored(deployment({ replicas: 2 })), {
      manager: "two",
      now: later,
    });
    assert.deepEqual(owners(next), {
      "one/Update": { "f:spec": {} },
      "two/Update": { "f:spec": { "f:replicas": {} } },
    });
  });

  test("leaves entries and times alone if nothing changes", () => {
    const first = deployments.update(undefined, deployment({ replicas: 1 }), {
      manager: "one",
      now,
    });
    const next = deployments.update(stored(first), stored(deployment({ replicas: 1 })), {
      manager: "two",
      now: later,
    });
    assert.deepEqual(managedFieldsOf(next), managedFieldsOf(first));
  });

  test("does not begin to track an object that was not tracked", () => {
    const next = deployments.update(stored(deployment({})), stored(deployment({ replicas: 1 })), {
      manager: "one",
      now,
    });
    assert.equal(managedFieldsOf(next), undefined);
  });

  for (const [what, sent, kept] of [
    ["an empty list", [], false],
    ["a list of nothing", [{}], false],
    ["null", null, true],
    ["nonsense", [{ operation: "Sing" }], true],
    [
      "a malformed set",
      [{ operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: { "k:{": {} } }],
      true,
    ],
  ] as const satisfies readonly (readonly [string, Json, boolean])[]) {
    test(`${kept ? "keeps" : "clears"} managed fields when sent ${what}`, () => {
      const live = stored(
        deployments.update(undefined, deployment({ replicas: 1 }), { manager: "one", now }),
      );
      const sentObject = stored(deployment({ replicas: 1 }, { managedFields: sent }));
      const next = deployments.update(live, sentObject, { manager: "two", now });
      assert.deepEqual(managedFieldsOf(next), kept ? managedFieldsOf(live) : undefined);
    });
  }

  test("merges the oldest of more than ten updaters", () => {
    let object = deployments.update(undefined, deployment({}, { labels: { l0: "x" } }), {
      manager: "m00",
      now: "2026-01-01T00:00:00Z",
    });
    const labels: Record<string, string> = { l0: "x" };
    for (let i = 1; i < 12; i++) {
      labels[`l${i}`] = "x";
      object = deployments.update(
        stored(object),
        stored(deployment({}, { labels: { ...labels } })),
        {
          manager: `m${String(i).padStart(2, "0")}`,
          now: `2026-01-01T00:00:${String(i).padStart(2, "0")}Z`,
        },
      );
    }
    const entries = (managedFieldsOf(object) ?? []) as readonly JsonObject[];
    assert.equal(entries.length, 10);
    assert.deepEqual(entries[0], {
      manager: "ancient-changes",
      operation: "Update",
      apiVersion: "apps/v1",
      time: "2026-01-01T00:00:02Z",
      fieldsType: "FieldsV1",
      fieldsV1: {
        "f:metadata": { "f:labels": { ".": {}, "f:l0": {}, "f:l1": {}, "f:l2": {} } },
        "f:spec": {},
      },
    });
  });
});

suite("apply as algebra", () => {
  const name = fc.constantFrom("a", "b", "c");
  const item = fc.record(
    {
      name,
      image: fc.constantFrom("1", "2"),
      env: fc.uniqueArray(fc.record({ name, value: fc.constantFrom("x", "y") }), {
        selector: (value) => value.name,
        minLength: 1,
        maxLength: 3,
      }),
    },
    { requiredKeys: ["name"] },
  );
  const configs = fc
    .record(
      {
        replicas: fc.integer({ min: 0, max: 3 }),
        paused: fc.boolean(),
        containers: fc.uniqueArray(item, {
          selector: (value) => value.name,
          minLength: 1,
          maxLength: 3,
        }),
        labels: fc.dictionary(
          fc.constantFrom("x", "y", "__proto__", "constructor"),
          fc.constant("v"),
          { minKeys: 1, noNullPrototype: true },
        ),
      },
      { requiredKeys: ["replicas"] },
    )
    .map(({ containers: items, labels, ...spec }) =>
      deployment(
        items === undefined ? spec : { ...spec, template: { spec: { containers: items } } },
        labels === undefined ? {} : { labels },
      ),
    );
  const steps = fc.array(fc.tuple(fc.constantFrom("one", "two"), configs), { maxLength: 5 });

  const run = (script: readonly (readonly [string, JsonObject])[]): JsonObject | undefined =>
    script.reduce<JsonObject | undefined>(
      (live, [manager, config]) =>
        withoutNulls(deployments.apply(live, config, by(manager, { force: true })).object),
      undefined,
    );

  test("applying twice changes nothing", () => {
    fc.assert(
      fc.property(steps, configs, (script, config) => {
        const once = run([...script, ["one", config]]);
        assert.ok(once !== undefined);
        const twice = deployments.apply(once, config, by("one", { force: true, now: later }));
        assert.equal(JSON.stringify(twice.object), JSON.stringify(once));
      }),
    );
  });

  test("what one applies is there, and what it gives up is gone unless another owns it", () => {
    fc.assert(
      fc.property(steps, configs, (script, config) => {
        const live = run([...script, ["one", config]]);
        assert.ok(live !== undefined);
        // Applying it as anybody else, without force, meets no conflict.
        deployments.apply(live, config, by("somebody"));
        const { object } = deployments.apply(live, deployment({}), by("one", { force: true }));
        const mine = owners(object)["one/Apply"];
        assert.deepEqual(mine, { "f:spec": {} });
      }),
    );
  });
});
