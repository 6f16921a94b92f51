// ClusterRoles that gather the rules of others by their labels (`aggregationRule`).

import { isJsonObject, writeJson, type JsonObject } from "@keelson/base";
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
  const rules = new Map<string, JsonObject>();
  for (const written of objectsAt(aggregation, "clusterRoleSelectors")) {
    const selector = selectorFromObject(written);
    if (selector === undefined) continue;
    for (const role of others) {
      if (!matchesLabels(selector, labelsOf(role))) continue;
      for (const rule of objectsAt(role, "rules")) {
        const text = textOf(rule);
        if (!rules.has(text)) rules.set(text, rule);
      }
    }
  }
  return [...rules.values()];
}

/** The same for equal rules, in whatever order they say their parts: a role may have as many as fit into a body. */
function textOf(rule: JsonObject): string {
  return writeJson(
    Object.keys(rule)
      .toSorted()
      .map((name) => [name, rule[name] ?? null]),
  );
}

function labelsOf(role: JsonObject): Readonly<Record<string, string>> {
  const labels = objectAt(objectAt(role, "metadata"), "labels");
  return Object.fromEntries(Object.keys(labels).map((key) => [key, textAt(labels, key)]));
}
