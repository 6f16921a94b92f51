// Which objects a label selector chooses.

import { compareBytes } from "../go-text/byte-order.ts";

export type LabelOperator = "in" | "notin" | "=" | "==" | "!=" | "exists" | "!" | "gt" | "lt";

/** One condition on one label. Values are sorted, and as many as the operator wants. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

/** All of these must hold; none chooses everything. In the order of their keys. */
export type LabelSelector = readonly LabelRequirement[];

/** Labels, by key. */
export type Labels = Readonly<Record<string, string>>;

export function matchesLabels(selector: LabelSelector, labels: Labels): boolean {
  return selector.every((requirement) => matchesRequirement(requirement, labels));
}

/** The selector as Kubernetes writes it; `parseLabelSelector` reads it back. */
export function printLabelSelector(selector: LabelSelector): string {
  return selector.map(printRequirement).join(",");
}

/** Requirements in the order of their keys. */
export function sortRequirements(requirements: readonly LabelRequirement[]): LabelSelector {
  return requirements.toSorted((a, b) => compareBytes(a.key, b.key));
}

function matchesRequirement({ key, operator, values }: LabelRequirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "in":
    case "=":
    case "==":
      return value !== undefined && values.includes(value);
    case "notin":
    case "!=":
      return value === undefined || !values.includes(value);
    case "exists":
      return value !== undefined;
    case "!":
      return value === undefined;
    case "gt":
    case "lt": {
      const actual = parseInteger(value);
      const bound = parseInteger(values[0]);
      if (actual === undefined || bound === undefined) return false;
      return operator === "gt" ? actual > bound : actual < bound;
    }
  }
}

function printRequirement({ key, operator, values }: LabelRequirement): string {
  const list = values.join(",");
  switch (operator) {
    case "in":
    case "notin":
      return `${key} ${operator} (${list})`;
    case "=":
    case "==":
    case "!=":
      return `${key}${operator}${list}`;
    case "exists":
      return key;
    case "!":
      return `!${key}`;
    case "gt":
      return `${key}>${list}`;
    case "lt":
      return `${key}<${list}`;
  }
}

/** A decimal int64, or undefined. */
export function parseInteger(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^[+-]?\d{1,40}$/.test(text)) return undefined;
  const integer = BigInt(text.replace(/^\+/, ""));
  return integer === BigInt.asIntN(64, integer) ? integer : undefined;
}
