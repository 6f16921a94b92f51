// The rules of ResourceSlices.

import type { Json, JsonObject, MutableJsonObject } from "@keelson/base";

import { goLowerCase } from "../../../go-text/lower-case.ts";
import { quote } from "../../../go-text/quote.ts";
import { memberOf } from "../../../object/member.ts";
import {
  flagOf,
  has,
  listOf,
  maybeObject,
  maybeText,
  numberOf,
  objectOf,
  objectsOf,
  textOf,
  writableObject,
  writableObjects,
} from "../../../object/members.ts";
import { dnsSubdomainProblems } from "../../../object/names.ts";
import type { FieldError } from "../../../status/field-error.ts";
import type { KindRules } from "../../kind-rules.ts";
import { checkNodeSelector } from "../core/node-selectors.ts";
import { showInternal } from "../internal-form.ts";
import { checkImmutable, checkImmutableWord } from "../meta/checks.ts";
import { Place } from "../place.ts";
import { checkDriverName } from "../meta/driver-name.ts";
import { checkCounters, checkSliceDevice } from "./device-rules.ts";
import { checkLabelName, checkPoolName } from "./names.ts";
import { checkSet } from "./sets.ts";

const devicesMax = 128;
/** Devices with taints or counters are larger. */
const advancedDevicesMax = 64;
const counterSetsMax = 8;
const listAttributes = ["bools", "ints", "strings", "versions"];

export const resourceSlice: KindRules = {
  prepareForCreate: (object) => dropDisabled(object, undefined),
  prepareForUpdate: dropDisabled,
  validate: (object) => specErrors(object, undefined),
  validateUpdate: specErrors,
  warnings: (object) => {
    const driver = textOf(objectOf(object, "spec"), "driver");
    if (driver === goLowerCase(driver)) return [];
    return [
      `spec.driver: driver names should be lowercase; ${quote(driver)} contains uppercase characters`,
    ];
  },
};

/** Lists as attributes, and devices that stand for resources of their node, are off, as by default. */
function dropDisabled(object: MutableJsonObject, old: JsonObject | undefined): void {
  const before = objectsOf(objectOf(old ?? {}, "spec"), "devices");
  const hadMappings = before.some((device) => has(device, "nodeAllocatableResourceMappings"));
  const hadLists = before.some((device) =>
    Object.values(objectOf(device, "attributes")).some((attribute) =>
      listAttributes.some((name) => has(attribute as JsonObject, name)),
    ),
  );
  const spec = writableObject(object, "spec");
  for (const device of spec === undefined ? [] : writableObjects(spec, "devices")) {
    if (!hadMappings) delete device["nodeAllocatableResourceMappings"];
    if (hadLists) continue;
    const attributes = writableObject(device, "attributes") ?? {};
    for (const key of Object.keys(attributes)) {
      const attribute = writableObject(attributes, key);
      for (const name of listAttributes) delete attribute?.[name];
    }
  }
}

function specErrors(object: JsonObject, old: JsonObject | undefined): FieldError[] {
  const at = Place.root("spec");
  const spec = objectOf(object, "spec");
  checkDriverName(textOf(spec, "driver"), at.child("driver"));
  checkPool(objectOf(spec, "pool"), at.child("pool"));
  if (old !== undefined) checkKept(spec, objectOf(old, "spec"), at);
  checkNodes(spec, at);
  const devices = objectsOf(spec, "devices");
  if (has(spec, "sharedCounters") && has(spec, "devices")) {
    at.invalid("", "only one of `sharedCounters` or `devices` is allowed");
  }
  const isAdvanced = devices.some(
    (device) =>
      listOf(device, "taints").length > 0 || listOf(device, "consumesCounters").length > 0,
  );
  const before = new Map(
    objectsOf(objectOf(old ?? {}, "spec"), "devices").map((device) => [
      textOf(device, "name"),
      device,
    ]),
  );
  checkSet(devices, at.child("devices"), {
    max: isAdvanced ? advancedDevicesMax : devicesMax,
    check: (device, own) =>
      checkSliceDevice(device, own, {
        old: before.get(textOf(device, "name")),
        isPerDevice: flagOf(spec, "perDeviceNodeSelection"),
      }),
    keyOf: (device) => textOf(device, "name"),
  });
  checkSet(objectsOf(spec, "sharedCounters"), at.child("sharedCounters"), {
    max: counterSetsMax,
    check: (set, own) => {
      const name = textOf(set, "name");
      if (name === "") own.child("name").required();
      else checkLabelName(name, own.child("name"));
      checkCounters(objectOf(set, "counters"), own.child("counters"));
    },
    keyOf: (set) => textOf(set, "name"),
  });
  return at.errors;
}

function checkPool(pool: JsonObject, at: Place): void {
  checkPoolName(textOf(pool, "name"), at.child("name"));
  const shown = (name: string): Json => memberOf(pool, name) ?? 0;
  if (numberOf(pool, "resourceSliceCount") <= 0) {
    at.child("resourceSliceCount").invalid(
      shown("resourceSliceCount"),
      "must be greater than zero",
    );
  }
  if (numberOf(pool, "generation") < 0) {
    at.child("generation").invalid(shown("generation"), "must be greater than or equal to zero");
  }
}

function checkKept(spec: JsonObject, old: JsonObject, at: Place): void {
  const poolOf = (from: JsonObject): string => textOf(objectOf(from, "pool"), "name");
  checkImmutable(poolOf(spec), poolOf(old), at.child("pool").child("name"));
  checkImmutable(textOf(spec, "driver"), textOf(old, "driver"), at.child("driver"));
  checkImmutableWord(memberOf(spec, "nodeName"), memberOf(old, "nodeName"), at.child("nodeName"));
}

/** Reports a slice that is not in exactly one way tied to nodes. */
function checkNodes(spec: JsonObject, at: Place): void {
  const set: string[] = [];
  const node = maybeText(spec, "nodeName");
  if (node === "") {
    const detail = "must be either unset or set to a non-empty string";
    at.child("nodeName").invalid(node, detail);
  } else if (node !== undefined) {
    set.push("`nodeName`");
    at.child("nodeName").invalidEach(node, dnsSubdomainProblems(node));
  }
  const selector = maybeObject(spec, "nodeSelector");
  if (selector !== undefined) {
    set.push("`nodeSelector`");
    const place = at.child("nodeSelector");
    checkNodeSelector(selector, place, { allowInvalidValues: false });
    const terms = objectsOf(selector, "nodeSelectorTerms");
    if (terms.length !== 1) {
      const shown = terms.map((term) => showInternal("core.NodeSelectorTerm", term)).join(",");
      place
        .child("nodeSelectorTerms")
        .invalidShown(
          has(selector, "nodeSelectorTerms") ? `[${shown}]` : "null",
          "must have exactly one node selector term",
        );
    }
  }
  for (const name of ["allNodes", "perDeviceNodeSelection"]) {
    if (!has(spec, name)) continue;
    if (flagOf(spec, name)) set.push(`\`${name}\``);
    else at.child(name).invalid(false, "must be either unset or set to true");
  }
  const detail =
    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
  if (set.length === 0) at.required(detail);
  else if (set.length > 1) {
    at.invalid(`{${set.join(", ")}}`, `${detail}, but multiple fields are set`);
  }
}
