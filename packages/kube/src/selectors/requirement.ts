import { compareBytes } from "../go-text/byte-order.ts";
import { labelKeyProblems, labelValueProblems } from "../object/names.ts";
import { invalidField, printFieldErrors, type FieldError } from "../status/field-error.ts";
import { parseInteger, type LabelOperator, type LabelRequirement } from "./label-selector.ts";

/** A selector that cannot be understood. The message is that of Kubernetes. */
export class BadSelector extends Error {
  readonly code = "BAD_SELECTOR";

  constructor(message: string) {
    super(message);
    this.name = "BadSelector";
  }
}

/** Where a requirement stands, for messages; nowhere is `<nil>`. */
const nowhere = "<nil>";

/**
 * A requirement, if key, operator and values go together. `path` is where it stands in an object; without one it came
 * in a query. Throws a `BadSelector`.
 */
export function labelRequirement(
  key: string,
  operator: LabelOperator,
  values: readonly string[],
  path?: string,
): LabelRequirement {
  const errors: FieldError[] = [];
  const at = (name: string): string => (path === undefined ? name : `${path}.${name}`);
  const keyError = invalidLabelKey(key, at("key"));
  if (keyError !== undefined) errors.push(keyError);
  const wrong = countProblem(operator, values.length);
  if (wrong !== undefined) errors.push(invalidField(at("values"), values, wrong));
  if (operator === "gt" || operator === "lt") {
    for (const [index, value] of values.entries()) {
      if (parseInteger(value) === undefined) {
        const detail = "for 'Gt', 'Lt' operators, the value must be an integer";
        errors.push(invalidField(`${at("values")}[${index}]`, value, detail));
      }
    }
  }
  for (const [index, value] of values.entries()) {
    const problems = labelValueProblems(value);
    if (problems.length > 0) {
      errors.push(invalidField(`${at("values")}[${index}][${key}]`, value, problems.join("; ")));
    }
  }
  if (errors.length > 0) throw new BadSelector(printFieldErrors(errors));
  return { key, operator, values: values.toSorted(compareBytes) };
}

/** Throws a `BadSelector` for a key that no label can have. */
export function requireLabelKey(key: string): void {
  const error = invalidLabelKey(key, nowhere);
  if (error !== undefined) throw new BadSelector(printFieldErrors([error]));
}

function invalidLabelKey(key: string, path: string): FieldError | undefined {
  const problems = labelKeyProblems(key);
  return problems.length === 0 ? undefined : invalidField(path, key, problems.join("; "));
}

function countProblem(operator: LabelOperator, count: number): string | undefined {
  switch (operator) {
    case "in":
    case "notin":
      return count === 0 ? "for 'in', 'notin' operators, values set can't be empty" : undefined;
    case "=":
    case "==":
    case "!=":
      return count === 1 ? undefined : "exact-match compatibility requires one single value";
    case "exists":
    case "!":
      return count === 0 ? undefined : "values set must be empty for exists and does not exist";
    case "gt":
    case "lt":
      return count === 1 ? undefined : "for 'Gt', 'Lt' operators, exactly one value is required";
  }
}
