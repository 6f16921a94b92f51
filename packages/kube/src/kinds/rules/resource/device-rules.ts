// One device of a slice: what it is, what it can, where it is.

import type { JsonObject } from "@keelson/base";

import { byteLength } from "../../../go-text/byte-order.ts";
import { printShape, struct } from "../../../go-text/struct-text.ts";
import { memberOf } from "../../../object/member.ts";
import {
  flagOf,
  has,
  maybeObject,
  maybeText,
  objectOf,
  objectsOf,
  sortedKeys,
  textOf,
} from "../../../object/members.ts";
import {
  dnsSubdomainProblems,
  labelKeyProblems,
  labelValueProblems,
} from "../../../object/names.ts";
import { showAmount } from "../amounts.ts";
import { checkNodeSelector } from "../core/node-selectors.ts";
import { isSame } from "../meta/checks.ts";
import { isSemver } from "../meta/semver.ts";
import type { Place } from "../place.ts";
import { taintEffects } from "./claim-spec.ts";
import { checkBinding } from "./claim-status.ts";
import { checkLabelName, checkQualifiedName } from "./names.ts";
import { checkRequestPolicy } from "./request-policy.ts";
import { checkEach, checkSet } from "./sets.ts";

const attributesMax = 32;
const valuesMax = 48;
const valueBytesMax = 64;
const taintsMax = 16;
const consumptionsMax = 2;
const countersMax = 32;
/** A domain, a slash and a name. */
const keyBytesMax = 63 + 1 + 32;

export function checkSliceDevice(
  device: JsonObject,
  at: Place,
  { old, isPerDevice }: { readonly old: JsonObject | undefined; readonly isPerDevice: boolean },
): void {
  checkLabelName(textOf(device, "name"), at.child("name"));
  const attributes = objectOf(device, "attributes");
  const capacity = objectOf(device, "capacity");
  const count = Object.keys(attributes).length + Object.keys(capacity).length;
  if (count > attributesMax) {
    const detail = `the total number of attributes and capacities must not exceed ${attributesMax}`;
    at.invalid(count, detail);
  }
  const values = Object.keys(attributes).length;
  if (values > valuesMax) {
    at.invalid(values, `the total number of attribute values must not exceed ${valuesMax}`);
  }
  checkMap(attributes, at.child("attributes"), checkAttribute);
  checkMap(capacity, at.child("capacity"), (one, own) => {
    const policy = maybeObject(one, "requestPolicy");
    if (policy === undefined) return;
    const place = own.child("requestPolicy");
    if (!flagOf(device, "allowMultipleAllocations")) {
      place.forbidden("allowMultipleAllocations must be true");
    } else checkRequestPolicy(policy, place, showAmount(memberOf(one, "value") ?? "0"));
  });
  const isKept = old !== undefined && isSame(memberOf(device, "taints"), memberOf(old, "taints"));
  if (!isKept) {
    checkEach(objectsOf(device, "taints"), at.child("taints"), {
      max: taintsMax,
      check: checkTaint,
    });
  }
  checkSet(objectsOf(device, "consumesCounters"), at.child("consumesCounters"), {
    max: consumptionsMax,
    check: (consumption, own) => {
      const set = textOf(consumption, "counterSet");
      if (set === "") own.child("counterSet").required();
      else checkLabelName(set, own.child("counterSet"));
      checkCounters(objectOf(consumption, "counters"), own.child("counters"));
    },
    keyOf: (consumption) => textOf(consumption, "counterSet"),
  });
  checkDeviceNodes(device, at, isPerDevice);
  checkBinding(device, at);
}

export function checkCounters(counters: JsonObject, at: Place): void {
  const names = sortedKeys(counters);
  if (names.length === 0) at.required();
  else if (names.length > countersMax) at.tooMany(names.length, countersMax);
  else for (const name of names) checkLabelName(name, at);
}

function checkMap(map: JsonObject, at: Place, check: (item: JsonObject, at: Place) => void): void {
  for (const key of sortedKeys(map)) {
    checkQualifiedName(key, at);
    check(objectOf(map, key), at.key(shortened(key)));
  }
}

/** A key that is too long is shown without its middle; a character that is cut in two is shown as broken. */
function shortened(key: string): string {
  if (byteLength(key) <= keyBytesMax) return key;
  const bytes = new TextEncoder().encode(key);
  const left = keyBytesMax - "...".length;
  const text = (start: number, end: number): string =>
    new TextDecoder().decode(bytes.subarray(start, end));
  const tail = bytes.length - Math.floor(left / 2);
  return `${text(0, Math.ceil(left / 2))}...${text(tail, bytes.length)}`;
}

const attributeShape = struct(
  `IntValue int *number
  BoolValue bool *boolean
  StringValue string *string
  VersionValue version *string
  IntValues ints []number
  BoolValues bools []boolean
  StringValues strings []string
  VersionValues versions []string`,
);

function checkAttribute(attribute: JsonObject, at: Place): void {
  const text = maybeText(attribute, "string");
  if (text !== undefined && byteLength(text) > valueBytesMax) {
    at.child("string").tooLong(valueBytesMax);
  }
  const version = maybeText(attribute, "version");
  if (version !== undefined) {
    if (!isSemver(version)) {
      const detail = "must be a string compatible with semver.org spec 2.0.0";
      at.child("version").invalid(version, detail);
    }
    if (byteLength(version) > valueBytesMax) at.child("version").tooLong(valueBytesMax);
  }
  const count = ["bool", "int", "string", "version"].filter((name) => has(attribute, name)).length;
  const detail = "exactly one value must be specified";
  if (count === 0) at.invalid("", detail);
  else if (count > 1) at.invalidShown(printShape(attributeShape, attribute), detail);
}

function checkTaint(taint: JsonObject, at: Place): void {
  const [key, value, effect] = [
    textOf(taint, "key"),
    textOf(taint, "value"),
    textOf(taint, "effect"),
  ];
  at.child("key").invalidEach(key, labelKeyProblems(key));
  if (value !== "") at.child("value").invalidEach(value, labelValueProblems(value));
  if (effect === "") at.child("effect").required();
  else if (!taintEffects.includes(effect)) at.child("effect").notSupported(effect, taintEffects);
}

function checkDeviceNodes(device: JsonObject, at: Place, isPerDevice: boolean): void {
  const node = maybeText(device, "nodeName");
  const selector = maybeObject(device, "nodeSelector");
  if (!isPerDevice) {
    if (node === undefined && selector === undefined && !has(device, "allNodes")) return;
    at.invalid(
      null,
      "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec",
    );
    return;
  }
  const set: string[] = [];
  if (node === "") at.child("nodeName").invalid(node, "must not be empty");
  else if (node !== undefined) {
    set.push("`nodeName`");
    at.child("nodeName").invalidEach(node, dnsSubdomainProblems(node));
  }
  if (selector !== undefined) {
    set.push("`nodeSelector`");
    checkNodeSelector(selector, at.child("nodeSelector"), { allowInvalidValues: false });
  }
  if (has(device, "allNodes")) {
    if (flagOf(device, "allNodes")) set.push("`allNodes`");
    else at.child("allNodes").invalid(false, "must be either unset or set to true");
  }
  const detail =
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
  if (set.length === 0) at.required(detail);
  else if (set.length > 1) at.invalid(`{${set.join(", ")}}`, detail);
}
