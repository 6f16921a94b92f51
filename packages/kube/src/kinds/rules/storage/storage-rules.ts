// The rules of how volumes are made, attached and measured.

import type { JsonObject } from "@keelson/base";

import { byteLength } from "../../../go-text/byte-order.ts";
import { goLowerCase } from "../../../go-text/lower-case.ts";
import { printShape, struct } from "../../../go-text/struct-text.ts";
import { memberOf } from "../../../object/member.ts";
import {
  has,
  maybeNumber,
  maybeObject,
  maybeText,
  objectOf,
  objectsOf,
  textEntries,
  textOf,
  textsOf,
} from "../../../object/members.ts";
import { dnsSubdomainProblems, labelKeyProblems } from "../../../object/names.ts";
import type { FieldError } from "../../../status/field-error.ts";
import type { KindRules } from "../../kind-rules.ts";
import { showAmount, signOf } from "../amounts.ts";
import { deprecatedLabel } from "../core/node-labels.ts";
import { checkInlineVolume } from "../core/persistent-volume-spec.ts";
import { checkLabelSelector, isInvalidSelector, showSelector } from "../label-selectors.ts";
import { checkImmutable, checkImmutableShown, checkImmutableWord, isSame } from "../meta/checks.ts";
import { checkDriverName } from "../meta/driver-name.ts";
import { nodeSelectorWarnings } from "../meta/node-selector-warnings.ts";
import { Place } from "../place.ts";

const parametersMax = 512;
const parametersBytesMax = 256 * 1024;
const reclaimPolicies = ["Delete", "Retain"];
const bindingModes = ["Immediate", "WaitForFirstConsumer"];

export const storageClass: KindRules = {
  validate: classErrors,
  validateUpdate: (object, old) => {
    const errors = classErrors(object);
    for (const name of ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"]) {
      const check = name === "provisioner" ? checkImmutable : checkImmutableWord;
      check(memberOf(object, name), memberOf(old, name), Place.root(name, errors));
    }
    return errors;
  },
  warnings: (object) =>
    objectsOf(object, "allowedTopologies").flatMap((term, index) =>
      objectsOf(term, "matchLabelExpressions").flatMap((expression, place) => {
        const said = deprecatedLabel(textOf(expression, "key"));
        const path = `allowedTopologies[${index}].matchLabelExpressions[${place}].key`;
        return said === undefined ? [] : [`${path}: ${said}`];
      }),
    ),
};

function classErrors(object: JsonObject): FieldError[] {
  const at = Place.root("provisioner");
  checkProvisioner(textOf(object, "provisioner"), at);
  checkParameters(objectOf(object, "parameters"), Place.root("parameters", at.errors));
  const policy = textOf(object, "reclaimPolicy");
  if (policy !== "" && !reclaimPolicies.includes(policy)) {
    Place.root("reclaimPolicy", at.errors).notSupported(policy, reclaimPolicies);
  }
  const mode = maybeText(object, "volumeBindingMode");
  const place = Place.root("volumeBindingMode", at.errors);
  if (mode === undefined) place.required();
  else if (!bindingModes.includes(mode)) place.notSupported(mode, bindingModes);
  const topologies = objectsOf(object, "allowedTopologies");
  checkTopologies(topologies, Place.root("allowedTopologies", at.errors));
  return at.errors;
}

function checkProvisioner(provisioner: string, at: Place): void {
  if (provisioner === "") {
    at.required();
    return;
  }
  const name = goLowerCase(provisioner);
  at.invalidEach(name, labelKeyProblems(name));
}

function checkParameters(parameters: JsonObject, at: Place): void {
  const entries = textEntries(parameters);
  if (entries.length > parametersMax) {
    at.tooLong(parametersMax);
    return;
  }
  let bytes = 0;
  for (const [key, value] of entries) {
    if (key === "") at.invalid(key, "field can not be empty.");
    bytes += byteLength(key) + byteLength(value);
  }
  if (bytes > parametersBytesMax) at.tooLong(parametersBytesMax);
}

function checkTopologies(terms: readonly JsonObject[], at: Place): void {
  // The real server's list of what it has seen begins with as many empty terms as there are terms.
  const seen = new Map([["", terms.length]]);
  for (const [index, term] of terms.entries()) {
    const place = at.item(index).child("matchLabelExpressions");
    const values = new Map<string, string>();
    for (const [number, expression] of objectsOf(term, "matchLabelExpressions").entries()) {
      const own = place.item(number);
      const key = textOf(expression, "key");
      const set = checkTopology(expression, own);
      if (values.has(key)) own.child("key").duplicate(key);
      values.set(key, set);
    }
    const text = [...values]
      .map((pair) => JSON.stringify(pair))
      .toSorted()
      .join();
    const count = seen.get(text) ?? 0;
    for (let n = 0; n < count && !place.isFull; n++) place.duplicate("");
    seen.set(text, count + 1);
  }
}

/** Reports what is wrong with one label and its values; the set of them as a text. */
function checkTopology(expression: JsonObject, at: Place): string {
  const seen = new Set<string>();
  const values = textsOf(expression, "values");
  if (values.length === 0) at.child("values").required();
  for (const [index, value] of values.entries()) {
    if (seen.has(value)) at.child("values").item(index).duplicate(value);
    seen.add(value);
  }
  const key = textOf(expression, "key");
  at.child("key").invalidEach(key, labelKeyProblems(key));
  return JSON.stringify([...seen].toSorted());
}

export const volumeAttributesClass: KindRules = {
  validate: attributesErrors,
  validateUpdate: (object, old) => {
    const at = Place.root("driverName");
    if (textOf(object, "driverName") !== textOf(old, "driverName")) {
      at.forbidden("updates to driverName are forbidden.");
    }
    if (!isSame(memberOf(object, "parameters"), memberOf(old, "parameters"))) {
      Place.root("parameters", at.errors).forbidden("updates to parameters are forbidden.");
    }
    return [...at.errors, ...attributesErrors(object)];
  },
};

function attributesErrors(object: JsonObject): FieldError[] {
  const at = Place.root("driverName");
  checkProvisioner(textOf(object, "driverName"), at);
  const parameters = objectOf(object, "parameters");
  const place = Place.root("parameters", at.errors);
  checkParameters(parameters, place);
  if (Object.keys(parameters).length === 0) {
    place.required("must contain at least one key/value pair");
  }
  return at.errors;
}

const attachmentShape = struct(
  "Attacher attacher string\nSource source source\nNodeName nodeName string",
  {
    source: () =>
      struct(
        "PersistentVolumeName persistentVolumeName *string\nInlineVolumeSpec inlineVolumeSpec any",
      ),
  },
);
const errorBytesMax = 1024;

export const volumeAttachment: KindRules = {
  validate: attachmentErrors,
  validateUpdate: attachmentUpdateErrors,
  validateStatusUpdate: attachmentUpdateErrors,
};

function attachmentUpdateErrors(object: JsonObject, old: JsonObject): FieldError[] {
  const errors = attachmentErrors(object);
  checkImmutableShown(memberOf(object, "spec"), memberOf(old, "spec"), {
    at: Place.root("spec", errors),
    shown: () => printShape(attachmentShape, memberOf(object, "spec")),
  });
  return errors;
}

function attachmentErrors(object: JsonObject): FieldError[] {
  const at = Place.root("spec");
  const spec = objectOf(object, "spec");
  checkDriverName(textOf(spec, "attacher"), at.child("attacher"));
  const source = objectOf(spec, "source");
  const volume = maybeText(source, "persistentVolumeName");
  const isInline = has(source, "inlineVolumeSpec");
  const place = at.child("source");
  const detail = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  if (!isInline && volume === undefined) place.required(detail);
  else if (isInline && volume !== undefined) place.forbidden(detail);
  else if (volume === "") {
    place.child("persistentVolumeName").required("must specify non empty persistentVolumeName");
  } else if (isInline) {
    checkInlineVolume(objectOf(source, "inlineVolumeSpec"), place.child("inlineVolumeSpec"));
  }
  const node = textOf(spec, "nodeName");
  at.child("nodeName").invalidEach(node, dnsSubdomainProblems(node));
  checkAttachmentStatus(objectOf(object, "status"), Place.root("status", at.errors));
  if (volume !== undefined) {
    place.child("persistentVolumeName").invalidEach(volume, dnsSubdomainProblems(volume));
  }
  return at.errors;
}

function checkAttachmentStatus(status: JsonObject, at: Place): void {
  let bytes = 0;
  for (const [key, value] of textEntries(objectOf(status, "attachmentMetadata"))) {
    bytes += byteLength(key) + byteLength(value);
  }
  if (bytes > parametersBytesMax) at.child("attachmentMetadata").tooLong(parametersBytesMax);
  for (const name of ["attachError", "detachError"]) {
    const error = maybeObject(status, name);
    if (error === undefined) continue;
    // One limit is kept and another is told.
    if (byteLength(textOf(error, "message")) > errorBytesMax) {
      at.child(name).child("message").tooLong(parametersBytesMax);
    }
    const code = maybeNumber(error, "errorCode");
    if (code !== undefined && code < 0) {
      const detail = "must be between 0 and 2147483647, inclusive";
      at.child(name).child("errorCode").invalid(code, detail);
    }
  }
}

export const csiStorageCapacity: KindRules = {
  validate: (object) => capacityErrors(object, { allowInvalidValues: false }),
  validateUpdate: (object, old) => {
    const allowInvalidValues = isInvalidSelector(maybeObject(old, "nodeTopology"));
    const errors = capacityErrors(object, { allowInvalidValues });
    checkImmutableShown(memberOf(object, "nodeTopology"), memberOf(old, "nodeTopology"), {
      at: Place.root("nodeTopology", errors),
      shown: () => showSelector(maybeObject(object, "nodeTopology")),
    });
    const at = Place.root("storageClassName", errors);
    checkImmutable(textOf(object, "storageClassName"), textOf(old, "storageClassName"), at);
    return errors;
  },
  warnings: (object) => nodeSelectorWarnings(maybeObject(object, "nodeTopology"), "nodeTopology"),
};

function capacityErrors(
  object: JsonObject,
  options: { readonly allowInvalidValues: boolean },
): FieldError[] {
  const at = Place.root("nodeTopology");
  checkLabelSelector(maybeObject(object, "nodeTopology"), at, options);
  const name = textOf(object, "storageClassName");
  Place.root("storageClassName", at.errors).invalidEach(name, dnsSubdomainProblems(name));
  const capacity = memberOf(object, "capacity") ?? null;
  if (capacity !== null && signOf(capacity) < 0) {
    const place = Place.root("capacity", at.errors);
    place.invalid(showAmount(capacity), "must be greater than or equal to 0");
  }
  return at.errors;
}
