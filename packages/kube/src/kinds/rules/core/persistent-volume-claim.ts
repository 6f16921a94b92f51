import type { Json, JsonObject, MutableJsonObject } from "@keelson/base";

import { goJson } from "../../../go-text/go-json.ts";
import { memberOf } from "../../../object/member.ts";
import {
  annotationsOf,
  has,
  listOf,
  maybeObject,
  maybeText,
  objectOf,
  sortedKeys,
  takeMember,
  textOf,
  writableObject,
} from "../../../object/members.ts";
import { labelKeyProblems } from "../../../object/names.ts";
import type { KindRules } from "../../kind-rules.ts";
import { amountOf, checkAmount, checkBasicAmount } from "../amounts.ts";
import { compareQuantities } from "../../../quantity/quantity.ts";
import { showInternalLines } from "../internal-form.ts";
import { isInvalidSelector } from "../label-selectors.ts";
import { Place } from "../place.ts";
import { isNative } from "../resource-names.ts";
import { semanticEqual } from "../semantic-equal.ts";
import { isStatusChange } from "../workloads.ts";
import { unifiedDiff } from "../unified-diff.ts";
import { checkClaimSpec, strictClaim, type ClaimRuleOptions } from "./claim-spec.ts";
import { claimSpecWarnings } from "./claim-warnings.ts";
import { classKey, oldClassWarnings } from "./storage-class-annotation.ts";

export const persistentVolumeClaimRules: KindRules = {
  prepareForCreate: (claim) => {
    const spec = writableObject(claim, "spec");
    if (spec !== undefined) prepareSources(spec, undefined);
    // Defaulting comes first, and leaves a phase in the status that is thrown away otherwise.
    claim["status"] = { phase: "Pending" };
  },
  prepareForUpdate: (claim, old) => {
    const spec = writableObject(claim, "spec");
    if (spec !== undefined) prepareSources(spec, objectOf(old, "spec"));
  },
  validate: (claim) => {
    const at = Place.root("spec");
    checkClaimSpec(objectOf(claim, "spec"), at, strictClaim);
    return at.errors;
  },
  validateUpdate: (claim, old) => {
    const at = Place.root("spec");
    checkClaimSpec(objectOf(claim, "spec"), at, optionsFor(old));
    checkChanges(claim, old, at);
    return at.errors;
  },
  validateStatusUpdate: (claim) => {
    const at = Place.root("status");
    checkStatus(claim, at);
    return at.errors;
  },
  warnings: (claim, old) => {
    // A change of the status is not spoken of.
    if (isStatusChange(claim, old)) return [];
    return [
      ...oldClassWarnings(annotationsOf(claim)),
      ...claimSpecWarnings(objectOf(claim, "spec"), "spec"),
    ];
  },
};

/** Two fields say where the content comes from; each is made from the other. */
function prepareSources(spec: MutableJsonObject, old: JsonObject | undefined): void {
  const isInUse = (name: string): boolean => old !== undefined && has(old, name);
  const reference = maybeObject(spec, "dataSourceRef");
  if (
    reference !== undefined &&
    textOf(reference, "namespace") !== "" &&
    !isInUse("dataSourceRef")
  ) {
    delete spec["dataSourceRef"];
  }
  const wasUsed = isInUse("dataSource") || isInUse("dataSourceRef");
  if (!wasUsed && !has(spec, "dataSourceRef") && !isPlainSource(objectOf(spec, "dataSource"))) {
    delete spec["dataSource"];
  }
  normaliseSources(spec);
}

function normaliseSources(spec: MutableJsonObject): void {
  const [source, reference] = [maybeObject(spec, "dataSource"), maybeObject(spec, "dataSourceRef")];
  if (source !== undefined && reference === undefined) spec["dataSourceRef"] = copyOf(source);
  if (reference === undefined || source !== undefined) return;
  if (textOf(reference, "namespace") === "") spec["dataSource"] = copyOf(reference);
}

function copyOf(source: JsonObject): MutableJsonObject {
  const group = maybeText(source, "apiGroup");
  return {
    ...(group === undefined ? { apiGroup: null } : { apiGroup: group }),
    kind: textOf(source, "kind"),
    name: textOf(source, "name"),
  };
}

function isPlainSource(source: JsonObject): boolean {
  const [kind, group] = [textOf(source, "kind"), textOf(source, "apiGroup")];
  if (kind === "PersistentVolumeClaim") return group === "";
  return kind === "VolumeSnapshot" && group === "snapshot.storage.k8s.io";
}

function optionsFor(old: JsonObject): ClaimRuleOptions {
  const spec = objectOf(old, "spec");
  return {
    allowInvalidSelectorValues: isInvalidSelector(maybeObject(spec, "selector")),
    allowInvalidSourceGroup: ["dataSource", "dataSourceRef"].some((name) =>
      has(objectOf(spec, name), "apiGroup"),
    ),
  };
}

function checkChanges(claim: JsonObject, old: JsonObject, at: Place): void {
  const [spec, before] = [objectOf(claim, "spec"), normalised(objectOf(old, "spec"))];
  const isBound = textOf(objectOf(claim, "status"), "phase") === "Bound";
  const kept: Record<string, Json> = { ...spec };
  const expected: Record<string, Json> = { ...before };
  if (textOf(before, "volumeName") === "") takeMember(expected, spec, "volumeName");
  if (isUpgradeFromAnnotation(claim, old)) delete kept["storageClassName"];
  else {
    const [next, last] = [claim, old].map((own) => textOf(annotationsOf(own), classKey));
    if (next !== last) {
      Place.root("metadata", at.errors)
        .child("annotations")
        .child(classKey)
        .invalid(next ?? "", "field is immutable");
    }
    const [name, oldName] = [spec, before].map((own) => maybeText(own, "storageClassName"));
    const oldClass = maybeText(annotationsOf(old), classKey);
    if (
      name !== undefined &&
      oldName === undefined &&
      (oldClass === undefined || name === oldClass)
    ) {
      delete kept["storageClassName"];
    }
  }
  if (isBound) {
    keepStorage(kept, before);
    takeMember(kept, before, "volumeAttributesClassName");
  }
  if (!semanticEqual(kept, expected)) {
    const [from, to] = [expected, kept].map((own) =>
      showInternalLines("core.PersistentVolumeClaimSpec", own),
    );
    at.forbidden(
      `spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n${unifiedDiff(from ?? "", to ?? "")}`,
    );
  }
  checkSize(spec, at, old);
  const [mode, oldMode] = [spec, before].map((own) => maybeText(own, "volumeMode"));
  if (mode !== oldMode) {
    Place.root("volumeMode", at.errors).invalidShown(goJson(mode ?? null), "field is immutable");
  }
  const attributes = maybeText(spec, "volumeAttributesClassName");
  const isChanged = attributes !== maybeText(before, "volumeAttributesClassName");
  if (isChanged && has(objectOf(old, "status"), "currentVolumeAttributesClassName")) {
    const place = at.child("volumeAttributesClassName");
    const reason = "is forbidden when status.currentVolumeAttributesClassName is not nil";
    if (attributes === undefined) place.forbidden(`update to nil ${reason}`);
    else if (attributes === "") place.forbidden(`update to empty string ${reason}`);
  }
}

function normalised(spec: JsonObject): JsonObject {
  const copy: MutableJsonObject = { ...spec } as MutableJsonObject;
  normaliseSources(copy);
  return copy;
}

/** The size of a bound claim may change. */
function keepStorage(kept: Record<string, Json>, old: JsonObject): void {
  const resources = objectOf(kept, "resources");
  const requests = maybeObject(resources, "requests");
  const storage = memberOf(objectOf(objectOf(old, "resources"), "requests"), "storage");
  if (requests === undefined) return;
  kept["resources"] = { ...resources, requests: { ...requests, storage: storage ?? "0" } };
}

/** From the annotation of old to the field. */
function isUpgradeFromAnnotation(claim: JsonObject, old: JsonObject): boolean {
  const [next, before] = [claim, old].map((own) => maybeText(annotationsOf(own), classKey));
  return (
    before !== undefined &&
    !has(objectOf(old, "spec"), "storageClassName") &&
    maybeText(objectOf(claim, "spec"), "storageClassName") === before &&
    (next === undefined || next === before)
  );
}

function checkSize(spec: JsonObject, at: Place, old: JsonObject): void {
  const sizeOf = (own: JsonObject) =>
    amountOf(objectOf(objectOf(own, "resources"), "requests"), "storage");
  const size = sizeOf(spec);
  if (compareQuantities(size, sizeOf(objectOf(old, "spec"))) >= 0) return;
  const capacity = amountOf(objectOf(objectOf(old, "status"), "capacity"), "storage");
  if (compareQuantities(size, capacity) > 0) return;
  at.child("resources")
    .child("requests")
    .child("storage")
    .forbidden("field can not be less than status.capacity");
}

const resizeStatuses: readonly string[] = [
  "ControllerResizeInProgress",
  "ControllerResizeInfeasible",
  "NodeResizeInProgress",
  "NodeResizeInfeasible",
  "NodeResizePending",
];

function checkStatus(claim: JsonObject, at: Place): void {
  const status = objectOf(claim, "status");
  if (listOf(objectOf(claim, "spec"), "accessModes").length === 0) {
    Place.root("Spec", at.errors).child("accessModes").required();
  }
  const capacity = objectOf(status, "capacity");
  for (const name of sortedKeys(capacity)) {
    checkBasicAmount(memberOf(capacity, name) ?? "0", at.child("capacity").key(name));
  }
  const statuses = objectOf(status, "allocatedResourceStatuses");
  for (const name of sortedKeys(statuses)) {
    const place = at.child("allocatedResourceStatuses");
    checkResourceKey(name, place);
    if (!resizeStatuses.includes(textOf(statuses, name))) place.notSupported(name, resizeStatuses);
  }
  const allocated = objectOf(status, "allocatedResources");
  for (const name of sortedKeys(allocated)) {
    const place = at.child("allocatedResources");
    const before = at.errors.length;
    checkResourceKey(name, place);
    if (at.errors.length > before) continue;
    const amount = memberOf(allocated, name) ?? "0";
    checkBasicAmount(amount, place.key(name));
    if (at.errors.length === before) checkAmount(amount, place.key(name), { resource: "storage" });
  }
}

function checkResourceKey(name: string, at: Place): void {
  const problems = labelKeyProblems(name);
  at.invalidEach(name, problems);
  if (problems.length === 0 && isNative(name) && name !== "storage") {
    at.notSupported(name, ["storage"]);
  }
}
