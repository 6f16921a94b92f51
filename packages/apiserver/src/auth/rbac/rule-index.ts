// The rules of one role, found by what is asked for: roles have hundreds of rules, and a request meets a few.

import type { Attributes } from "../authorizer.ts";
import { ruleAllows, type PolicyRule } from "./policy-rule.ts";

/** Answers whether some rule of a role allows a request, without looking at the others. */
export class RuleIndex {
  readonly rules: readonly PolicyRule[];
  readonly #byResource = new Map<string, PolicyRule[]>();
  readonly #forPaths: readonly PolicyRule[];

  constructor(rules: readonly PolicyRule[]) {
    this.rules = rules;
    for (const rule of rules) {
      for (const resource of new Set(rule.resources)) {
        const same = this.#byResource.get(resource);
        if (same === undefined) this.#byResource.set(resource, [rule]);
        else same.push(rule);
      }
    }
    this.#forPaths = rules.filter(({ nonResourceURLs }) => nonResourceURLs.length > 0);
  }

  allows(attributes: Attributes): boolean {
    if (!attributes.isResource) return someAllows(this.#forPaths, attributes);
    const { resource, subresource } = attributes;
    const combined = subresource === "" ? resource : `${resource}/${subresource}`;
    return (
      someAllows(this.#byResource.get(combined), attributes) ||
      someAllows(this.#byResource.get("*"), attributes) ||
      (subresource !== "" && someAllows(this.#byResource.get(`*/${subresource}`), attributes))
    );
  }
}

function someAllows(rules: readonly PolicyRule[] | undefined, attributes: Attributes): boolean {
  if (rules === undefined) return false;
  for (const rule of rules) if (ruleAllows(rule, attributes)) return true;
  return false;
}
