// Near what a Pod wants to be, and far from what.

import type { JsonObject } from "@keelson/base";

import { maybeObject, objectOf, objectsOf, textOf, textsOf } from "../../../../object/members.ts";
import { labelKeyProblems, labelNames } from "../../../../object/names.ts";
import { checkLabelSelector } from "../../label-selectors.ts";
import type { Place } from "../../place.ts";
import { checkNodeSelector, checkPreferredTerms, checkWeight } from "../node-selectors.ts";
import { preferred, required } from "./affinity-terms.ts";
import type { PodRuleOptions } from "./pod-options.ts";

export function checkAffinity(spec: JsonObject, at: Place, options: PodRuleOptions): void {
  const affinity = maybeObject(spec, "affinity");
  if (affinity === undefined) return;
  const node = maybeObject(affinity, "nodeAffinity");
  if (node !== undefined) {
    const selector = maybeObject(node, required);
    const place = at.child("nodeAffinity");
    if (selector !== undefined) {
      checkNodeSelector(selector, place.child(required), {
        allowInvalidValues: options.allowInvalidNodeAffinityValues,
      });
    }
    checkPreferredTerms(objectsOf(node, preferred), place.child(preferred));
  }
  for (const name of ["podAffinity", "podAntiAffinity"]) {
    const part = maybeObject(affinity, name);
    if (part === undefined) continue;
    for (const [index, term] of objectsOf(part, required).entries()) {
      checkTerm(term, at.child(name).child(required).item(index), options);
    }
    for (const [index, term] of objectsOf(part, preferred).entries()) {
      const place = at.child(name).child(preferred).item(index);
      checkWeight(term, place);
      checkTerm(objectOf(term, "podAffinityTerm"), place.child("podAffinityTerm"), options);
    }
  }
}

/** Keys whose values a selector takes from the Pod itself. */
export function checkMatchLabelKeys(holder: JsonObject, at: Place): void {
  const selector = maybeObject(holder, "labelSelector");
  const keys = textsOf(holder, "matchLabelKeys");
  const others = textsOf(holder, "mismatchLabelKeys");
  if (keys.length === 0 && others.length === 0) return;
  checkKeys(keys, at.child("matchLabelKeys"), selector);
  checkKeys(others, at.child("mismatchLabelKeys"), selector);
  if (selector !== undefined) {
    const seen = new Set(Object.keys(objectOf(selector, "matchLabels")));
    const indexes = new Map(keys.map((key, index) => [key, index]));
    for (const expression of objectsOf(selector, "matchExpressions")) {
      const key = textOf(expression, "key");
      const index = indexes.get(key);
      if (index !== undefined && seen.has(key)) {
        at.item(index).invalid(key, "exists in both matchLabelKeys and labelSelector");
      }
      seen.add(key);
    }
  }
  const avoided = new Set(others);
  for (const [index, key] of keys.entries()) {
    if (avoided.has(key)) {
      at.child("matchLabelKeys")
        .item(index)
        .invalid(key, "exists in both matchLabelKeys and mismatchLabelKeys");
    }
  }
}

function checkTerm(term: JsonObject, at: Place, options: PodRuleOptions): void {
  const allowInvalidValues = options.allowInvalidSelectorValues;
  for (const name of ["labelSelector", "namespaceSelector"]) {
    checkLabelSelector(maybeObject(term, name), at.child(name), { allowInvalidValues });
  }
  for (const namespace of textsOf(term, "namespaces")) {
    at.child("namespace").invalidEach(namespace, labelNames(namespace));
  }
  checkMatchLabelKeys(term, at);
  const key = textOf(term, "topologyKey");
  if (key === "") at.child("topologyKey").required("can not be empty");
  at.child("topologyKey").invalidEach(key, labelKeyProblems(key));
}

function checkKeys(keys: readonly string[], at: Place, selector: JsonObject | undefined): void {
  if (keys.length === 0) return;
  if (selector === undefined) {
    at.forbidden("must not be specified when labelSelector is not set");
    return;
  }
  for (const [index, key] of keys.entries()) at.item(index).invalidEach(key, labelKeyProblems(key));
}
