// The life of a definition: named, established, and one day taken away with its objects. Pure: each step takes a
// definition and gives the next, the same object where there is nothing to do.

import { append, isJsonObject, type JsonObject } from "@keelson/base";

import { unsupportedIn } from "../cel/validate-schema.ts";
import { caBundleProblem } from "../kinds/rules/meta/ca-bundle.ts";
import { flagOf, maybeObject, objectOf, objectsOf, textOf, textsOf } from "../object/members.ts";
import { invalidField, printFieldErrors, type FieldError } from "../status/field-error.ts";
import { readSchema } from "../schema/read-schema.ts";
import { validateStructure } from "../schema/structure.ts";
import { approvalOf, isProtectedGroup } from "./approval.ts";
import {
  conditionOf,
  isConditionTrue,
  saying,
  withCondition,
  withoutCondition,
  type DefinitionCondition,
} from "./conditions.ts";
import { conversionBundleOf } from "./conversion-webhook.ts";
import { acceptNames } from "./naming.ts";

/** Held by a definition that is being deleted until its objects are gone. */
export const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

/** Everything that follows from the definitions there are, for one of them. */
export function settleDefinition(
  definition: JsonObject,
  all: readonly JsonObject[],
  now: string,
): JsonObject {
  const named = acceptNames(definition, all, now);
  return establish(judgeApproval(judgeStructure(named, now), now), now);
}

/**
 * Settles all definitions, those that were there first before the others: a name that two ask for goes to the one
 * that comes first in the list. Names that become free are given at once. Those that do not change are the same objects.
 */
export function settleDefinitions(
  definitions: readonly JsonObject[],
  now: string,
): readonly JsonObject[] {
  let settled = [...definitions];
  // Each round accepts a name or ends; a name that was released may be asked for by another.
  for (let round = 0; round <= definitions.length; round += 1) {
    const before = settled;
    for (const [index, definition] of settled.entries()) {
      const next = settleDefinition(definition, settled, now);
      if (next !== definition) settled = settled.with(index, next);
    }
    if (settled.every((definition, index) => definition === before[index])) break;
  }
  return settled;
}

/** A kind whose names are accepted is established, unless its webhook cannot be trusted. */
function establish(definition: JsonObject, now: string): JsonObject {
  if (!isConditionTrue(definition, "NamesAccepted")) return definition;
  if (isConditionTrue(definition, "Established")) return definition;
  const bundle = conversionBundleOf(definition);
  const condition: DefinitionCondition =
    bundle !== "" && caBundleProblem(bundle) !== undefined
      ? {
          type: "Established",
          status: "False",
          reason: "InvalidCABundle",
          message: "The conversion webhook CABundle is invalid",
        }
      : {
          type: "Established",
          status: "True",
          reason: "InitialNamesAccepted",
          message: "the initial names have been accepted",
        };
  return saying(definition, condition, now);
}

/** Says so if a schema is not structural, as those of old may be. */
function judgeStructure(definition: JsonObject, now: string): JsonObject {
  const condition = structureCondition(definition);
  if (condition === undefined) {
    return conditionOf(definition, "NonStructuralSchema") === undefined
      ? definition
      : withoutCondition(definition, "NonStructuralSchema");
  }
  return saying(definition, condition, now);
}

/** What was found out about a spec, which is asked for whenever any definition changes: `null` is nothing. */
const structures = new WeakMap<JsonObject, DefinitionCondition | null>();

function structureCondition(definition: JsonObject): DefinitionCondition | undefined {
  const spec = objectOf(definition, "spec");
  let known = structures.get(spec);
  if (known === undefined) structures.set(spec, (known = judgeSchemas(spec) ?? null));
  return known ?? undefined;
}

function judgeSchemas(spec: JsonObject): DefinitionCondition | undefined {
  const errors: FieldError[] = [];
  if (flagOf(spec, "preserveUnknownFields")) {
    errors.push(invalidField("spec.preserveUnknownFields", true, "must be false"));
  }
  for (const [index, version] of objectsOf(spec, "versions").entries()) {
    const written = maybeObject(objectOf(version, "schema"), "openAPIV3Schema");
    if (written === undefined) continue;
    const schema = readSchema(written);
    const unsupported = unsupportedIn(schema);
    if (unsupported !== undefined) {
      const message = `failed to check validation schema for version ${textOf(version, "name")}: ${unsupported}`;
      return { type: "NonStructuralSchema", status: "Unknown", reason: "StructuralError", message };
    }
    append(errors, validateStructure(schema, `spec.versions[${index}].schema.openAPIV3Schema`));
  }
  if (errors.length === 0) return undefined;
  const message = printFieldErrors(errors);
  return { type: "NonStructuralSchema", status: "True", reason: "Violations", message };
}

const approvalReasons = {
  Invalid: { status: "False", reason: "InvalidAnnotation" },
  Missing: { status: "False", reason: "MissingAnnotation" },
  Approved: { status: "True", reason: "ApprovedAnnotation" },
  Bypassed: { status: "False", reason: "UnapprovedAnnotation" },
} as const;

/** Says whether a kind of the community's groups is approved. */
function judgeApproval(definition: JsonObject, now: string): JsonObject {
  if (!isProtectedGroup(textOf(objectOf(definition, "spec"), "group"))) return definition;
  const { state, reason: message } = approvalOf(definition);
  const condition: DefinitionCondition = {
    type: "KubernetesAPIApprovalPolicyConformant",
    ...approvalReasons[state],
    message,
  };
  return saying(definition, condition, now);
}

/** The definition at the first request to delete it: held until its objects are gone. */
export function beginTermination(definition: JsonObject, now: string): JsonObject {
  const { metadata } = definition;
  const old = metadata !== undefined && isJsonObject(metadata) ? metadata : {};
  const finalizers = textsOf(objectOf(definition, "metadata"), "finalizers");
  const held = finalizers.includes(cleanupFinalizer)
    ? finalizers
    : [...finalizers, cleanupFinalizer];
  const deletionTimestamp = textOf(old, "deletionTimestamp");
  const marked: JsonObject = {
    ...definition,
    metadata: {
      ...old,
      deletionTimestamp: deletionTimestamp === "" ? now : deletionTimestamp,
      finalizers: held,
    },
  };
  return withCondition(
    marked,
    terminating(
      "True",
      "InstanceDeletionPending",
      "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    ),
    now,
  );
}

/** How far the deletion of a definition's objects is. */
export type Termination =
  | { readonly is: "InProgress" }
  | { readonly is: "Failed"; readonly message: string }
  | { readonly is: "Unconfirmed"; readonly message: string }
  | { readonly is: "Done" };

/** The definition with its condition Terminating, and without our finalizer once all is done. */
export function terminate(definition: JsonObject, state: Termination, now: string): JsonObject {
  const next = withCondition(definition, terminationCondition(definition, state), now);
  return state.is === "Done" ? withoutFinalizer(next) : next;
}

/** Kinds that the server itself has in the same place: their objects are not the definition's to delete. */
const overlapping: ReadonlySet<string> = new Set([
  "apiservices.apiregistration.k8s.io",
  "customresourcedefinitions.apiextensions.k8s.io",
]);

/** Whether there can be objects to delete before the definition goes. */
export function hasInstances(definition: JsonObject): boolean {
  return isConditionTrue(definition, "Established") && !isOverlapping(definition);
}

function isOverlapping(definition: JsonObject): boolean {
  const spec = objectOf(definition, "spec");
  return overlapping.has(`${textOf(objectOf(spec, "names"), "plural")}.${textOf(spec, "group")}`);
}

function terminationCondition(definition: JsonObject, state: Termination): DefinitionCondition {
  switch (state.is) {
    case "InProgress":
      return terminating(
        "True",
        "InstanceDeletionInProgress",
        "CustomResource deletion is in progress",
      );
    case "Failed":
      return terminating("True", "InstanceDeletionFailed", state.message);
    case "Unconfirmed": {
      const message = `could not confirm zero CustomResources remaining: ${state.message}`;
      return terminating("True", "InstanceDeletionCheck", message);
    }
    case "Done":
      if (isOverlapping(definition)) {
        const message = "instances overlap with built-in resources in storage";
        return terminating("False", "OverlappingBuiltInResource", message);
      }
      return isConditionTrue(definition, "Established")
        ? terminating("False", "InstanceDeletionCompleted", "removed all instances")
        : terminating("False", "NeverEstablished", "resource was never established");
  }
}

function terminating(
  status: DefinitionCondition["status"],
  reason: string,
  message: string,
): DefinitionCondition {
  return { type: "Terminating", status, reason, message };
}

function withoutFinalizer(definition: JsonObject): JsonObject {
  const { metadata } = definition;
  if (metadata === undefined || !isJsonObject(metadata)) return definition;
  const finalizers = textsOf(metadata, "finalizers").filter((name) => name !== cleanupFinalizer);
  return { ...definition, metadata: { ...metadata, finalizers } };
}
