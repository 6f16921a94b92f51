// Whether somebody's rules include others, and how what is missing is said.

import { compareBytes, quote } from "@keelson/kube";

import { Holding } from "./holding.ts";
import type { PolicyRule } from "./policy-rule.ts";

/** How many parts are looked at to find what somebody lacks. */
const partsMax = 100_000;

/**
 * What of `wanted` the `owned` rules do not include, taken apart into rules of one verb and one target each. A rule of more parts
 * than can be looked at is named whole, and is the last that is.
 */
export function uncoveredRules(
  owned: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
): readonly PolicyRule[] {
  const holdings = owned.map((rule) => new Holding(rule));
  const uncovered: PolicyRule[] = [];
  let parts = 0;
  for (const half of wanted.flatMap(halves)) {
    // Mostly one rule has it all; then it need not be taken apart.
    if (holdings.some((holding) => holding.covers(half))) continue;
    for (const part of takeApart(half)) {
      parts += 1;
      if (parts > partsMax) return [...uncovered, half];
      if (!holdings.some((holding) => holding.covers(part))) uncovered.push(part);
    }
  }
  return uncovered;
}

/** What a rule says of resources, and what it says of paths. */
function halves(rule: PolicyRule): readonly PolicyRule[] {
  const none: readonly string[] = [];
  return [
    { ...rule, nonResourceURLs: none },
    { ...rule, apiGroups: none, resources: none, resourceNames: none },
  ];
}

/** The rules as a refusal lists them: verbs of the same resource together, in order, each once. */
export function describeRules(rules: readonly PolicyRule[]): readonly string[] {
  const joined = new Map<string, PolicyRule & { readonly verbs: string[] }>();
  const described = new Set<string>();
  for (const rule of rules) {
    const { apiGroups, resources, resourceNames, nonResourceURLs, verbs } = rule;
    if (nonResourceURLs.length > 0) {
      described.add(describeRule(rule));
      continue;
    }
    const place = JSON.stringify([apiGroups, resources, resourceNames]);
    const same = joined.get(place);
    if (same === undefined) joined.set(place, { ...rule, verbs: [...verbs] });
    else for (const verb of verbs) same.verbs.push(verb);
  }
  for (const rule of joined.values()) described.add(describeRule(rule));
  return [...described].sort(compareBytes);
}

/** A list as Go prints it: `["a" "b"]`. */
export function quoteList(items: readonly string[]): string {
  return `[${items.map(quote).join(" ")}]`;
}

function describeRule(rule: PolicyRule): string {
  const parts = [
    ["APIGroups", rule.apiGroups],
    ["Resources", rule.resources],
    ["NonResourceURLs", rule.nonResourceURLs],
    ["ResourceNames", rule.resourceNames],
    ["Verbs", rule.verbs],
  ] as const;
  const filled = parts.filter(([, items]) => items.length > 0);
  return `{${filled.map(([name, items]) => `${name}:${quoteList(items)}`).join(", ")}}`;
}

function* takeApart(rule: PolicyRule): Generator<PolicyRule> {
  const none: readonly string[] = [];
  const names = rule.resourceNames.length === 0 ? [none] : rule.resourceNames.map((name) => [name]);
  for (const group of rule.apiGroups) {
    for (const resource of rule.resources) {
      for (const verb of rule.verbs) {
        for (const resourceNames of names) {
          yield {
            verbs: [verb],
            apiGroups: [group],
            resources: [resource],
            resourceNames,
            nonResourceURLs: none,
          };
        }
      }
    }
  }
  for (const path of rule.nonResourceURLs) {
    for (const verb of rule.verbs) {
      yield {
        verbs: [verb],
        apiGroups: none,
        resources: none,
        resourceNames: none,
        nonResourceURLs: [path],
      };
    }
  }
}
