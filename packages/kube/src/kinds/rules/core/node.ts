import type { JsonObject } from "@keelson/base";

import { byteLength, compareBytes } from "../../../go-text/byte-order.ts";
import { quote } from "../../../go-text/quote.ts";
import { memberOf } from "../../../object/member.ts";
import {
  annotationsOf,
  has,
  maybeNumber,
  maybeObject,
  objectOf,
  objectsOf,
  sortedKeys,
  textOf,
  textsOf,
  writableObject,
} from "../../../object/members.ts";
import {
  labelKeyProblems,
  labelNames,
  labelValueProblems,
  subdomainNames,
} from "../../../object/names.ts";
import type { KindRules } from "../../kind-rules.ts";
import { isDualStack, checkNetwork, networkWarnings, parseNetwork } from "../addresses.ts";
import { checkAmount } from "../amounts.ts";
import { readAnnotatedList } from "../annotated-json.ts";
import { showInternal } from "../internal-form.ts";
import { Place } from "../place.ts";
import { configKeyProblems } from "../text-problems.ts";
import { isStatusChange } from "../workloads.ts";
import { avoidedPodsKey, checkAvoidedPods } from "./avoided-pods.ts";
import { checkEffect } from "./pod/tolerations.ts";

const taintsKey = "scheduler.alpha.kubernetes.io/taints";
const annotatedTaint = {
  name: "core.Taint",
  fields: { Key: "string", Value: "string", Effect: "core.TaintEffect", TimeAdded: "time" },
};

export const nodeRules: KindRules = {
  prepareForCreate: (node) => {
    const [spec, status] = ["spec", "status"].map((name) => writableObject(node, name));
    if (spec !== undefined) delete spec["configSource"];
    if (status !== undefined) delete status["config"];
  },
  prepareForUpdate: (node, old) => {
    const spec = writableObject(node, "spec");
    if (spec !== undefined && !has(objectOf(old, "spec"), "configSource"))
      delete spec["configSource"];
  },
  prepareForStatusUpdate: (node, old) => {
    const status = writableObject(node, "status");
    if (status !== undefined && !has(objectOf(old, "status"), "config")) delete status["config"];
  },
  validate: (node) => {
    const at = Place.root("");
    checkNode(node, at);
    return at.errors;
  },
  validateUpdate: (node, old) => {
    const at = Place.root("");
    checkNode(node, at);
    checkNodeUpdate(node, old, at);
    return at.errors;
  },
  validateStatusUpdate: (node, old) => {
    const at = Place.root("");
    checkNodeUpdate(node, old, at);
    return at.errors;
  },
  warnings: (node, old) => {
    if (isStatusChange(node, old)) return [];
    const spec = objectOf(node, "spec");
    return [
      ...(has(spec, "configSource") ? ["spec.configSource: the feature is removed"] : []),
      ...(textOf(spec, "externalID") === ""
        ? []
        : ["spec.externalID: this field is deprecated, and is unused by Kubernetes"]),
      ...textsOf(spec, "podCIDRs").flatMap((range, index) =>
        networkWarnings(range, `spec.podCIDRs[${index}]`),
      ),
    ];
  },
};

function checkNode(node: JsonObject, at: Place): void {
  const [spec, status] = [objectOf(node, "spec"), objectOf(node, "status")];
  const metadata = Place.root("metadata", at.errors);
  checkAnnotations(node, metadata.child("annotations"));
  checkTaints(objectsOf(spec, "taints"), metadata.child("taints"));
  checkResources(status, at);
  const swap = maybeNumber(objectOf(objectOf(status, "nodeInfo"), "swap"), "capacity");
  if (swap !== undefined && swap <= 0) {
    metadata.child("nodeSwapStatus").child("capacity").invalid(swap, "must be greater than zero");
  }
  checkFeatures(status, at);
  const ranges = textsOf(spec, "podCIDRs");
  const place = Place.root("spec", at.errors).child("podCIDRs");
  for (const [index, range] of ranges.entries()) checkNetwork(range, place.item(index));
  if (ranges.length < 2) return;
  const parsed = ranges.map((range) => parseNetwork(range)?.address);
  const wrong = parsed.indexOf(undefined);
  if (wrong >= 0) {
    place.internal(
      `invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[${wrong}]: <nil> (invalid CIDR address: ${ranges[wrong]})`,
    );
  }
  if (wrong >= 0 || !isDualStack(parsed) || ranges.length > 2) {
    place.invalid(ranges, "may specify no more than one CIDR for each IP family");
  }
}

function checkNodeUpdate(node: JsonObject, old: JsonObject, at: Place): void {
  const [spec, status] = [objectOf(node, "spec"), objectOf(node, "status")];
  const before = objectOf(old, "spec");
  const metadata = Place.root("metadata", at.errors);
  checkAnnotations(node, metadata.child("annotations"));
  checkResources(status, at);
  checkFeatures(status, at);
  checkAddresses(status, Place.root("status", at.errors).child("addresses"));
  const place = Place.root("spec", at.errors);
  const [ranges, oldRanges] = [textsOf(spec, "podCIDRs"), textsOf(before, "podCIDRs")];
  const change = 'node updates may not change podCIDR except from "" to valid';
  if (oldRanges.length > 0 && ranges.length !== oldRanges.length) {
    place.child("podCIDRs").forbidden(change);
  } else {
    for (const [index, range] of oldRanges.entries()) {
      if (range !== ranges[index]) place.child("podCIDRs").forbidden(change);
    }
  }
  const provider = textOf(before, "providerID");
  if (provider !== "" && provider !== textOf(spec, "providerID")) {
    place
      .child("providerID")
      .forbidden('node updates may not change providerID except from "" to valid');
  }
  const config = maybeObject(spec, "configSource");
  if (config !== undefined) checkConfig(config, place.child("configSource"), { isStatus: false });
  const own = objectOf(status, "config");
  for (const name of ["assigned", "active", "lastKnownGood"]) {
    const source = maybeObject(own, name);
    const target = Place.root("status", at.errors).child("config").child(name);
    if (source !== undefined) checkConfig(source, target, { isStatus: true });
  }
  checkTaints(objectsOf(spec, "taints"), metadata.child("taints"));
  if (textOf(spec, "externalID") !== textOf(before, "externalID")) {
    place.child("externalID").forbidden("may not be updated");
  }
}

function checkTaints(taints: readonly JsonObject[], at: Place): void {
  const seen = new Set<string>();
  for (const [index, taint] of taints.entries()) {
    const place = at.item(index);
    const [key, value, effect] = ["key", "value", "effect"].map((name) => textOf(taint, name));
    place.child("key").invalidEach(key ?? "", labelKeyProblems(key ?? ""));
    const problems = labelValueProblems(value ?? "");
    if (problems.length > 0) place.child("value").invalid(value ?? "", problems.join(";"));
    if (effect === "" || effect === undefined) place.child("effect").required();
    else checkEffect(effect, place.child("effect"));
    const pair = JSON.stringify([effect, key]);
    if (seen.has(pair)) {
      place.duplicateShown(
        showInternal("core.Taint", taint),
        "taints must be unique by key and effect pair",
      );
    }
    seen.add(pair);
  }
}

function checkAnnotations(node: JsonObject, at: Place): void {
  const annotations = annotationsOf(node);
  const text = textOf(annotations, taintsKey);
  if (text !== "") {
    const taints = readAnnotatedList(text, annotatedTaint);
    if (typeof taints === "string") at.invalid(taintsKey, taints);
    else checkTaints(taints, at.child(taintsKey));
  }
  checkAvoidedPods(textOf(annotations, avoidedPodsKey), at);
}

function checkResources(status: JsonObject, at: Place): void {
  for (const list of ["capacity", "allocatable"]) {
    const amounts = objectOf(status, list);
    const place = Place.root("status", at.errors).child(list);
    for (const name of sortedKeys(amounts)) {
      checkAmount(memberOf(amounts, name) ?? "0", place.child(name), { resource: name });
    }
  }
}

function checkFeatures(status: JsonObject, at: Place): void {
  const features = textsOf(status, "declaredFeatures");
  const place = Place.root("status", at.errors).child("declaredFeatures");
  for (const [index, feature] of features.entries()) {
    if (byteLength(feature) > 253) {
      place
        .item(index)
        .invalid(
          feature,
          `invalid feature name ${quote(feature)}: must be no more than 253 characters`,
        );
    } else if (!/^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/.test(feature)) {
      place
        .item(index)
        .invalid(
          feature,
          `invalid feature name ${quote(feature)}: must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes`,
        );
    }
    const next = features[index + 1];
    if (next === undefined) continue;
    if (next === feature) place.item(index + 1).duplicate(next);
    else if (compareBytes(feature, next) > 0) {
      place.item(index + 1).invalid(next, "list must be sorted alphabetically");
    }
  }
}

function checkAddresses(status: JsonObject, at: Place): void {
  const seen = new Set<string>();
  for (const [index, address] of objectsOf(status, "addresses").entries()) {
    const shown = showInternal("core.NodeAddress", address);
    if (seen.has(shown)) at.item(index).duplicateShown(shown);
    seen.add(shown);
  }
}

function checkConfig(
  source: JsonObject,
  at: Place,
  { isStatus }: { readonly isStatus: boolean },
): void {
  const map = maybeObject(source, "configMap");
  if (map === undefined) {
    at.invalidShown(
      showInternal("core.NodeConfigSource", source),
      "exactly one reference subfield must be non-nil",
    );
    return;
  }
  const place = at.child("configMap");
  for (const name of ["uid", "resourceVersion"]) {
    const value = textOf(map, name);
    if (isStatus && value === "") place.child(name).required();
    if (!isStatus && value !== "") place.child(name).forbidden(`${name} must not be set in spec`);
  }
  for (const [name, problems] of [
    ["namespace", labelNames],
    ["name", subdomainNames],
    ["kubeletConfigKey", configKeyProblems],
  ] as const) {
    const value = textOf(map, name);
    if (value === "") place.child(name).required();
    else place.child(name).invalidEach(value, problems(value));
  }
}
