// What of a Pod may change.

import type { JsonObject } from "@keelson/base";

import { goJson } from "../../../../go-text/go-json.ts";
import { memberOf } from "../../../../object/member.ts";
import {
  annotationsOf,
  has,
  maybeNumber,
  maybeObject,
  maybeText,
  objectOf,
  objectsOf,
  sortedKeys,
  takeMember,
  textOf,
} from "../../../../object/members.ts";
import { showInternal, showInternalLines } from "../../internal-form.ts";
import { Place } from "../../place.ts";
import { semanticEqual } from "../../semantic-equal.ts";
import { int32Max } from "../../text-problems.ts";
import { unifiedDiff } from "../../unified-diff.ts";
import { required } from "./affinity-terms.ts";
import { appArmorPrefix, checkPodAnnotations, mirrorKey } from "./annotations.ts";
import { checkImageSpaces } from "./container.ts";
import { checkPod } from "./check-pod.ts";
import type { PodRuleOptions } from "./pod-options.ts";
import { checkTolerations } from "./tolerations.ts";

const changeable = [
  "`spec.containers[*].image`",
  "`spec.initContainers[*].image`",
  "`spec.activeDeadlineSeconds`",
  "`spec.tolerations` (only additions to existing tolerations)",
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
].join(",");

/** Reports what is wrong with a Pod that replaces another. */
export function checkPodUpdate(
  pod: JsonObject,
  old: JsonObject,
  { at, options }: { readonly at: Place; readonly options: PodRuleOptions },
): void {
  checkPod(pod, at, options);
  checkAnnotationUpdates(pod, old, { at, options });
  const [spec, before] = [objectOf(pod, "spec"), objectOf(old, "spec")];
  for (const list of ["containers", "initContainers"]) {
    const containers = objectsOf(spec, list);
    if (containers.length !== objectsOf(before, list).length) {
      at.child(list).forbidden("pod updates may not add or remove containers");
      return;
    }
    for (const [index, container] of containers.entries()) {
      const place = at.child(list).item(index);
      if (textOf(container, "image") === "") place.child("image").required();
      checkImageSpaces(container, place);
    }
  }
  if (!isDeadlineRight(spec, before, at.child("activeDeadlineSeconds"))) return;
  checkAddedTolerations(spec, before, { at: at.child("tolerations"), options });
  checkRemovedGates(spec, before, at.child("schedulingGates"));
  if (semanticEqual(spec, before)) return;
  const kept = withOldWhereAllowed(spec, before, at);
  if (semanticEqual(kept, before)) return;
  const [from, to] = [before, kept].map((own) => showInternalLines("core.PodSpec", own));
  at.forbidden(
    `pod updates may not change fields other than ${changeable}\n${unifiedDiff(from ?? "", to ?? "")}`,
  );
}

/** Reports annotations that may not come, go or change. */
export function checkAnnotationUpdates(
  pod: JsonObject,
  old: JsonObject,
  { at, options }: { readonly at: Place; readonly options: PodRuleOptions },
): void {
  const place = Place.root("metadata", at.errors).child("annotations");
  const [annotations, before] = [pod, old].map(annotationsOf);
  if (annotations === undefined || before === undefined) return;
  const report = (key: string, verb: string): void => {
    if (key.startsWith(appArmorPrefix)) {
      place.key(key).forbidden(`may not ${verb} AppArmor annotations`);
    }
    if (key === mirrorKey) place.key(key).forbidden(`may not ${verb} mirror pod annotation`);
  };
  for (const key of sortedKeys(before)) {
    if (maybeText(annotations, key) !== textOf(before, key)) report(key, "remove or update");
  }
  for (const key of sortedKeys(annotations)) {
    if (!has(before, key)) report(key, "add");
  }
  checkPodAnnotations(annotations, place, { spec: objectOf(pod, "spec"), options });
}

/** False if the rest is not asked. */
function isDeadlineRight(spec: JsonObject, old: JsonObject, at: Place): boolean {
  const [next, before] = [spec, old].map((own) => maybeNumber(own, "activeDeadlineSeconds"));
  if (next === undefined) {
    if (before !== undefined) {
      at.invalid(null, "must not update from a positive integer to nil value");
    }
    return true;
  }
  if (next < 0 || next > int32Max) {
    const shown = memberOf(spec, "activeDeadlineSeconds") ?? next;
    at.invalid(shown, `must be between 0 and ${int32Max}, inclusive`);
    return false;
  }
  if (before !== undefined && before < next) {
    at.invalid(next, "must be less than or equal to previous value");
    return false;
  }
  return true;
}

function checkAddedTolerations(
  spec: JsonObject,
  old: JsonObject,
  { at, options }: { readonly at: Place; readonly options: PodRuleOptions },
): void {
  const tolerations = objectsOf(spec, "tolerations");
  const timeless = (toleration: JsonObject): string =>
    goJson({ ...toleration, tolerationSeconds: 0 });
  const known = new Set(tolerations.map(timeless));
  for (const before of objectsOf(old, "tolerations")) {
    if (!known.has(timeless(before))) {
      at.forbidden("existing toleration can not be modified except its tolerationSeconds");
      return;
    }
  }
  checkTolerations(tolerations, at, options);
}

function checkRemovedGates(spec: JsonObject, old: JsonObject, at: Place): void {
  const before = new Set(objectsOf(old, "schedulingGates").map((gate) => textOf(gate, "name")));
  const added = new Map<string, number>();
  for (const [index, gate] of objectsOf(spec, "schedulingGates").entries()) {
    if (!before.has(textOf(gate, "name"))) added.set(textOf(gate, "name"), index);
  }
  for (const [name, index] of added) {
    at.item(index)
      .child("name")
      .forbidden(`only deletion is allowed, but found new scheduling gate '${name}'`);
  }
}

/** The new spec with the old values of all that may change: what is left of the difference may not. */
function withOldWhereAllowed(spec: JsonObject, old: JsonObject, at: Place): JsonObject {
  const kept: Record<string, JsonObject[string]> = { ...spec };
  const keep = (name: string): void => takeMember(kept, old, name);
  for (const list of ["containers", "initContainers"]) {
    const before = objectsOf(old, list);
    const containers = objectsOf(spec, list);
    if (containers.length === 0) continue;
    kept[list] = containers.map((container, index) => ({
      ...container,
      image: textOf(before[index] ?? {}, "image"),
    }));
  }
  for (const name of ["activeDeadlineSeconds", "schedulingGates", "tolerations"]) keep(name);
  const period = maybeNumber(old, "terminationGracePeriodSeconds");
  if (
    period !== undefined &&
    period < 0 &&
    maybeNumber(spec, "terminationGracePeriodSeconds") === 1
  ) {
    keep("terminationGracePeriodSeconds");
  }
  if (objectsOf(old, "schedulingGates").length === 0) return kept;
  if (!semanticEqual(spec["nodeSelector"], old["nodeSelector"])) {
    checkAddedSelector(spec, old, at.child("nodeSelector"));
    keep("nodeSelector");
  }
  const [affinity, before] = [maybeObject(spec, "affinity"), maybeObject(old, "affinity")];
  const [node, oldNode] = [affinity, before].map((own) => own && maybeObject(own, "nodeAffinity"));
  if (!semanticEqual(node, oldNode)) {
    checkAddedAffinity(node, oldNode, at.child("affinity").child("nodeAffinity"));
    const rest = Object.fromEntries(
      Object.entries(affinity ?? {}).filter(([name]) => name !== "nodeAffinity"),
    );
    if (oldNode !== undefined) kept["affinity"] = { ...rest, nodeAffinity: oldNode };
    else if (before === undefined && Object.keys(rest).length === 0) delete kept["affinity"];
    else kept["affinity"] = rest;
  }
  return kept;
}

function checkAddedSelector(spec: JsonObject, old: JsonObject, at: Place): void {
  const [selector, before] = [objectOf(spec, "nodeSelector"), objectOf(old, "nodeSelector")];
  if (Object.keys(before).every((key) => maybeText(selector, key) === textOf(before, key))) return;
  at.invalidShown(
    has(spec, "nodeSelector") ? goJson(selector) : "null",
    "only additions to spec.nodeSelector are allowed (no mutations or deletions)",
  );
}

function checkAddedAffinity(
  node: JsonObject | undefined,
  old: JsonObject | undefined,
  at: Place,
): void {
  if (old === undefined || !has(old, required)) return;
  const termsOf = (own: JsonObject | undefined): readonly JsonObject[] =>
    objectsOf(objectOf(own ?? {}, required), "nodeSelectorTerms");
  const [terms, before] = [termsOf(node), termsOf(old)];
  const place = at.child(required).child("nodeSelectorTerms");
  const show = (term: JsonObject): string => showInternal("core.NodeSelectorTerm", term);
  if (before.length > 0 && before.length !== terms.length) {
    place.invalidShown(
      terms.length === 0 ? "null" : `[${terms.map(show).join(",")}]`,
      "no additions/deletions to non-empty NodeSelectorTerms list are allowed",
    );
    return;
  }
  for (const [index, term] of before.entries()) {
    const next = terms[index] ?? {};
    if (!hasOnlyAdditions(next, term)) {
      place
        .item(index)
        .invalidShown(show(next), "only additions are allowed (no mutations or deletions)");
    }
  }
}

function hasOnlyAdditions(term: JsonObject, old: JsonObject): boolean {
  const lists = ["matchExpressions", "matchFields"] as const;
  const wasEmpty = lists.every((list) => objectsOf(old, list).length === 0);
  if (wasEmpty) return lists.every((list) => objectsOf(term, list).length === 0);
  return lists.every((list) => {
    const before = objectsOf(old, list);
    return semanticEqual(objectsOf(term, list).slice(0, before.length), before);
  });
}
