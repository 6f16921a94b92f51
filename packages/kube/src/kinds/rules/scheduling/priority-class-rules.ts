// The rules of PriorityClasses.

import { flagOf, has, maybeText, numberOf, objectOf, textOf } from "../../../object/members.ts";
import type { KindRules } from "../../kind-rules.ts";
import { checkImmutableWord } from "../meta/checks.ts";
import { Place } from "../place.ts";

const systemPrefix = "system-";
const userValueMax = 1_000_000_000;
const policies = ["PreemptLowerPriority", "Never"];

/** The classes that are the system's own, and their values. */
const systemClasses: ReadonlyMap<string, number> = new Map([
  ["system-node-critical", 2_000_001_000],
  ["system-cluster-critical", 2_000_000_000],
]);

export const priorityClass: KindRules = {
  validate: (object) => {
    const at = Place.root("value");
    const name = textOf(objectOf(object, "metadata"), "name");
    const value = numberOf(object, "value");
    if (name.startsWith(systemPrefix)) {
      const problem = systemProblem(name, value, flagOf(object, "globalDefault"));
      if (problem !== undefined) {
        const detail = `priority class names with 'system-' prefix are reserved for system use only. error: ${problem}`;
        Place.root("metadata", at.errors).child("name").forbidden(detail);
      }
    } else if (value > userValueMax) {
      at.forbidden(`maximum allowed value of a user defined priority is ${userValueMax}`);
    }
    const policy = maybeText(object, "preemptionPolicy");
    const place = Place.root("preemptionPolicy", at.errors);
    if (policy === "") place.required();
    else if (policy !== undefined && !policies.includes(policy)) {
      place.notSupported(policy, policies);
    }
    return at.errors;
  },
  validateUpdate: (object, old) => {
    const at = Place.root("value");
    if (numberOf(object, "value") !== numberOf(old, "value")) {
      at.forbidden("may not be changed in an update.");
    }
    const place = Place.root("preemptionPolicy", at.errors);
    const policyOf = (from: typeof old): string | null =>
      has(from, "preemptionPolicy") ? textOf(from, "preemptionPolicy") : null;
    checkImmutableWord(policyOf(object), policyOf(old), place);
    return at.errors;
  },
};

function systemProblem(name: string, value: number, isDefault: boolean): string | undefined {
  const known = systemClasses.get(name);
  if (known === undefined) return `${name} is not a known system priority class`;
  if (value !== known) return `value of ${name} PriorityClass must be ${known}`;
  return isDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}
