// What a role allows, rule by rule.

import type { JsonObject } from "@keelson/base";

import type { Attributes } from "../authorizer.ts";
import { objectsAt, textsAt } from "../../fields.ts";

/** One rule: all its verbs, on all its resources or paths. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  /** Empty: whatever the name. */
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** The rules of a Role or ClusterRole; anything that is no rule is left out. */
export function readRules(role: JsonObject): readonly PolicyRule[] {
  return objectsAt(role, "rules").map(readRule);
}

/** A rule as an object holds it: what is empty is left out. */
export function writeRule(rule: PolicyRule): JsonObject {
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
  return {
    verbs,
    ...(apiGroups.length === 0 ? {} : { apiGroups }),
    ...(resources.length === 0 ? {} : { resources }),
    ...(resourceNames.length === 0 ? {} : { resourceNames }),
    ...(nonResourceURLs.length === 0 ? {} : { nonResourceURLs }),
  };
}

export function ruleAllows(rule: PolicyRule, attributes: Attributes): boolean {
  if (!includesOrAll(rule.verbs, attributes.verb)) return false;
  if (!attributes.isResource) return allowsPath(rule, attributes.path);
  const { group, resource, subresource, name } = attributes;
  return (
    includesOrAll(rule.apiGroups, group) &&
    allowsResource(rule.resources, resource, subresource) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(name))
  );
}

/** Whether the path pattern `owner` matches whatever `path` matches: equal, or a prefix before its stars. */
export function pathCovers(owner: string, path: string): boolean {
  return owner === path || (owner.endsWith("*") && path.startsWith(pathStem(owner)));
}

/** A path pattern before its stars. */
export function pathStem(pattern: string): string {
  let end = pattern.length;
  while (pattern[end - 1] === "*") end -= 1;
  return pattern.slice(0, end);
}

function allowsPath({ nonResourceURLs }: PolicyRule, path: string): boolean {
  return nonResourceURLs.some((pattern) => pathCovers(pattern, path));
}

function allowsResource(rules: readonly string[], resource: string, subresource: string): boolean {
  if (subresource === "") return includesOrAll(rules, resource);
  return includesOrAll(rules, `${resource}/${subresource}`) || rules.includes(`*/${subresource}`);
}

function includesOrAll(rules: readonly string[], asked: string): boolean {
  return rules.includes(asked) || rules.includes("*");
}

function readRule(rule: JsonObject): PolicyRule {
  return {
    verbs: textsAt(rule, "verbs"),
    apiGroups: textsAt(rule, "apiGroups"),
    resources: textsAt(rule, "resources"),
    resourceNames: textsAt(rule, "resourceNames"),
    nonResourceURLs: textsAt(rule, "nonResourceURLs"),
  };
}
