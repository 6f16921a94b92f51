// ClusterRoles that gather the rules of others by their labels (`aggregationRule`).

import { isJsonObject, jsonEqual, type JsonObject } from "@keelson/base";
import { compareBytes, matchesLabels, memberOf, selectorFromObject } from "@keelson/kube";

import { nameOf } from "../../object-metadata.ts";
import { objectAt, objectsAt, textAt } from "../../fields.ts";

/** The rules that an aggregated ClusterRole is to have; undefined if it gathers nothing. Each rule appears once. */
export function aggregatedRules(
  clusterRole: JsonObject,
  all: Iterable<JsonObject>,
): readonly JsonObject[] | undefined {
  const aggregation = memberOf(clusterRole, "aggregationRule");
  if (!isJsonObject(aggregation)) return undefined;
  const name = nameOf(clusterRole);
  const others = [...all]
    .filter((role) => nameOf(role) !== name)
    .sort((a, b) => compareBytes(nameOf(a), nameOf(b)));
  const rules: JsonObject[] = [];
  for (const written of objectsAt(aggregation, "clusterRoleSelectors")) {
    const selector = selectorFromObject(written);
    if (selector === undefined) continue;
    for (const role of others) {
      if (!matchesLabels(selector, labelsOf(role))) continue;
      for (const rule of objectsAt(role, "rules")) {
        if (!rules.some((known) => jsonEqual(known, rule))) rules.push(rule);
      }
    }
  }
  return rules;
}

function labelsOf(role: JsonObject): Readonly<Record<string, string>> {
  const labels = objectAt(objectAt(role, "metadata"), "labels");
  return Object.fromEntries(Object.keys(labels).map((key) => [key, textAt(labels, key)]));
}
