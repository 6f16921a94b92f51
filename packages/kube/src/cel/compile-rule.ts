// A rule as written becomes a rule that runs.

import { trimSpace } from "../go-text/trim-space.ts";
import { fieldPathOf } from "./field-path.ts";
import type { StructuralSchema, ValidationRule } from "../schema/structural.ts";
import { checkExpression, formatIssues } from "./check.ts";
import { compileExpression, type Program } from "./evaluate.ts";
import { ExpressionSyntaxError, parseExpression } from "./expression.ts";
import { optionalOf, type CelType } from "./cel-type.ts";

/** A rule, ready to run unless `error` says why not. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly program?: Program;
  /** Why the rule does not compile. */
  readonly error?: string;
  readonly message?: Program;
  /** Why its `messageExpression` does not compile. */
  readonly messageError?: string;
  /** Whether it reads `oldSelf`: then it only runs where there is an old value. */
  readonly usesOldSelf: boolean;
  /** `fieldPath`, as paths are written. */
  readonly path: string;
}

/** Compiles a rule for values of a type. */
export function compileRule(
  rule: ValidationRule,
  schema: StructuralSchema,
  self: CelType,
): CompiledRule {
  const path = rule.fieldPath === undefined ? "" : (fieldPathOf(rule.fieldPath, schema) ?? "");
  if (trimSpace(rule.rule) === "") return { rule, usesOldSelf: false, path };
  const oldSelf = rule.optionalOldSelf === true ? optionalOf(self) : self;
  const variables = new Map([
    ["self", self],
    ["oldSelf", oldSelf],
  ]);
  const compiled = compileText(rule.rule, variables);
  if (compiled.error !== undefined) {
    return { rule, error: `compilation failed: ${compiled.error}`, usesOldSelf: false, path };
  }
  if (compiled.type.kind !== "bool") {
    return { rule, error: "cel expression must evaluate to a bool", usesOldSelf: false, path };
  }
  const { program } = compiled;
  const usesOldSelf = compiled.names.has("oldSelf");
  const base = { rule, program, usesOldSelf, path };
  if (rule.messageExpression === undefined || rule.messageExpression === "") return base;
  const message = compileText(rule.messageExpression, variables);
  if (message.error !== undefined) {
    return { ...base, messageError: `messageExpression compilation failed: ${message.error}` };
  }
  if (message.type.kind !== "string") {
    return { ...base, messageError: "messageExpression must evaluate to a string" };
  }
  return { ...base, message: message.program };
}

type CompiledText =
  | { readonly error: string }
  | {
      readonly error?: undefined;
      readonly type: CelType;
      readonly names: ReadonlySet<string>;
      readonly program: Program;
    };

function compileText(text: string, variables: ReadonlyMap<string, CelType>): CompiledText {
  try {
    const expression = parseExpression(text);
    const { type, issues, names } = checkExpression(expression, variables);
    if (issues.length > 0) return { error: formatIssues(text, issues) };
    return { type, names, program: compileExpression(expression) };
  } catch (error) {
    if (!(error instanceof ExpressionSyntaxError)) throw error;
    return { error: formatIssues(text, [{ message: error.message, at: error.at }]) };
  }
}
