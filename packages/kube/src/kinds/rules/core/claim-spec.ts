// What a claim for a volume asks for: claims themselves, and templates of claims.

import type { JsonObject } from "@keelson/base";

import { memberOf } from "../../../object/member.ts";
import { has, maybeObject, maybeText, objectOf, textOf, textsOf } from "../../../object/members.ts";
import { dnsSubdomainProblems, labelNames } from "../../../object/names.ts";
import { validateAnnotations } from "../../../object/metadata-rules.ts";
import { checkAmount, showAmount, signOf } from "../amounts.ts";
import { checkLabels, checkLabelSelector } from "../label-selectors.ts";
import type { Place } from "../place.ts";

export interface ClaimRuleOptions {
  readonly allowInvalidSelectorValues: boolean;
  readonly allowInvalidSourceGroup: boolean;
}

export const strictClaim: ClaimRuleOptions = {
  allowInvalidSelectorValues: false,
  allowInvalidSourceGroup: false,
};

const accessModes: readonly string[] = [
  "ReadOnlyMany",
  "ReadWriteMany",
  "ReadWriteOnce",
  "ReadWriteOncePod",
];

export function checkClaimSpec(
  spec: JsonObject,
  at: Place,
  { allowInvalidSelectorValues, allowInvalidSourceGroup }: ClaimRuleOptions,
): void {
  const modes = textsOf(spec, "accessModes");
  if (modes.length === 0) at.child("accessModes").required("at least 1 access mode is required");
  checkLabelSelector(maybeObject(spec, "selector"), at.child("selector"), {
    allowInvalidValues: allowInvalidSelectorValues,
  });
  checkAccessModes(modes, at.child("accessModes"));
  const place = at.child("resources").key("storage");
  const storage = memberOf(objectOf(objectOf(spec, "resources"), "requests"), "storage");
  if (storage === undefined || storage === null) place.required();
  else if (signOf(storage) <= 0) place.invalid(showAmount(storage), "must be greater than zero");
  else checkAmount(storage, place, { resource: "storage" });
  checkClass(spec, at, "storageClassName");
  checkVolumeMode(spec, at);
  const [source, reference] = [maybeObject(spec, "dataSource"), maybeObject(spec, "dataSourceRef")];
  for (const name of ["dataSource", "dataSourceRef"]) {
    const value = maybeObject(spec, name);
    if (value !== undefined) checkDataSource(value, at.child(name), { allowInvalidSourceGroup });
  }
  // The real server shows a struct without public members here.
  if (reference !== undefined && textOf(reference, "namespace") !== "") {
    if (source !== undefined) {
      at.invalid({}, "may not be specified when dataSourceRef.namespace is specified");
    }
  } else if (source !== undefined && reference !== undefined && !isSame(source, reference)) {
    at.invalid({}, "must match dataSourceRef");
  }
  checkClass(spec, at, "volumeAttributesClassName");
}

/** A template of a claim in a Pod. */
export function checkClaimTemplate(template: JsonObject, at: Place): void {
  const metadata = objectOf(template, "metadata");
  const place = at.child("metadata");
  const annotations = place.child("annotations");
  annotations.add(validateAnnotations(objectOf(metadata, "annotations"), annotations.path));
  checkLabels(objectOf(metadata, "labels"), place.child("labels"));
  for (const [name, said = name] of notInTemplates) {
    if (has(metadata, name)) place.child(said).forbidden("cannot be set");
  }
  checkClaimSpec(objectOf(template, "spec"), at.child("spec"), strictClaim);
}

export function checkAccessModes(modes: readonly string[], at: Place): void {
  for (const mode of modes) if (!accessModes.includes(mode)) at.notSupported(mode, accessModes);
  const hasOther = modes.some((mode) => mode !== "ReadWriteOncePod" && accessModes.includes(mode));
  if (modes.includes("ReadWriteOncePod") && hasOther) {
    at.forbidden("may not use ReadWriteOncePod with other access modes");
  }
}

export function checkVolumeMode(spec: JsonObject, at: Place): void {
  const mode = maybeText(spec, "volumeMode");
  if (mode !== undefined && mode !== "Block" && mode !== "Filesystem") {
    at.child("volumeMode").notSupported(mode, ["Block", "Filesystem"]);
  }
}

const notInTemplates: readonly (readonly [name: string, said?: string])[] = [
  ["name"],
  ["generateName"],
  ["namespace"],
  ["selfLink"],
  ["uid", "uID"],
  ["resourceVersion"],
  ["generation"],
  ["creationTimestamp"],
  ["deletionTimestamp"],
  ["deletionGracePeriodSeconds"],
  ["ownerReferences"],
  ["finalizers"],
  ["managedFields"],
];

function checkClass(spec: JsonObject, at: Place, name: string): void {
  const value = textOf(spec, name);
  if (value !== "") at.child(name).invalidEach(value, dnsSubdomainProblems(value));
}

function checkDataSource(
  source: JsonObject,
  at: Place,
  { allowInvalidSourceGroup }: Pick<ClaimRuleOptions, "allowInvalidSourceGroup">,
): void {
  const [name, kind] = [textOf(source, "name"), textOf(source, "kind")];
  if (name === "") at.child("name").required();
  if (kind === "") at.child("kind").required();
  const group = textOf(source, "apiGroup");
  if (group === "" && kind !== "PersistentVolumeClaim") {
    at.invalid(kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  }
  if (group !== "" && !allowInvalidSourceGroup) {
    at.child("apiGroup").invalidEach(group, dnsSubdomainProblems(group));
  }
  const namespace = textOf(source, "namespace");
  if (namespace !== "") at.child("namespace").invalidEach(namespace, labelNames(namespace));
}

function isSame(source: JsonObject, reference: JsonObject): boolean {
  return ["apiGroup", "kind", "name"].every(
    (name) => maybeText(source, name) === maybeText(reference, name),
  );
}
