// The rules of every built-in kind, by group and kind.

import type { KindRules } from "../kind-rules.ts";
import { customResourceDefinition } from "./apiextensions/definition-rules.ts";

/** A table for one API group: rules by kind. */
export type GroupRules = Readonly<Record<string, KindRules>>;

const rules: Readonly<Record<string, GroupRules>> = {
  "apiextensions.k8s.io": { CustomResourceDefinition: customResourceDefinition },
};

/** The rules of a kind; none for a kind whose structure says everything. */
export function rulesOf({
  group,
  kind,
}: {
  readonly group: string;
  readonly kind: string;
}): KindRules {
  const ofGroup = Object.hasOwn(rules, group) ? rules[group] : undefined;
  return (ofGroup !== undefined && Object.hasOwn(ofGroup, kind) ? ofGroup[kind] : undefined) ?? {};
}
