// The rules of a schema, run over an object.

import { isJsonArray, isJsonObject, type Json } from "@keelson/base";
import { trimSpace } from "../go-text/trim-space.ts";
import { Correlation, itemsByKey, keyOf } from "../schema/correlation.ts";
import {
  childPath,
  itemPath,
  printFieldError,
  forbiddenField,
  invalidField,
  requiredField,
  type FieldError,
} from "../status/field-error.ts";
import type { StructuralSchema, ValidationReason } from "../schema/structural.ts";
import { CelError, CostExceeded, NoSuchOverload } from "./cel-error.ts";
import { compileRule, type CompiledRule } from "./compile-rule.ts";
import { Run, type Program } from "./evaluate.ts";
import { schemaType } from "./schema-type.ts";
import { Optional, valueOf, type Value } from "./values.ts";

/** What one rule, and all rules of one request, may spend. A step costs 1, reading text a tenth per character. */
export const celLimits = { perRule: 1_000_000, perRequest: 10_000_000 } as const;

/** What rules found: errors, and what would be one had the value changed. */
export interface RuleReport {
  readonly errors: readonly FieldError[];
  readonly warnings: readonly string[];
}

export interface RuleOptions {
  /** The object before the change; absent when it is new. */
  readonly old?: Json;
  /** Where the value stands; empty for a whole object. */
  readonly path?: string;
  /** Whether the value is a whole object, with a type and metadata. */
  readonly isObject?: boolean;
  readonly perRule?: number;
  readonly perRequest?: number;
}

/**
 * Runs every `x-kubernetes-validations` rule of a schema over a value that has passed the schema itself. What
 * did not change since `old` is only warned of, unless the rule compares with it.
 *
 * Time is bounded: a rule that spends more than `perRule`, or all together more than `perRequest`, is an error.
 */
export function validateRules(
  schema: StructuralSchema,
  value: Json,
  {
    old,
    path = "",
    isObject = true,
    perRule = celLimits.perRule,
    perRequest = celLimits.perRequest,
  }: RuleOptions = {},
): RuleReport {
  const node = nodeOf(schema, isObject);
  if (node === undefined) return { errors: [], warnings: [] };
  const correlation =
    old === undefined ? undefined : new Correlation({ value, old, schema, path: "" });
  const validation = new Validation(perRule, perRequest);
  validation.visit(node, {
    value,
    old: old ?? null,
    path,
    near: { current: correlation, parent: undefined },
  });
  return { errors: validation.errors, warnings: validation.warnings };
}

/** Whether a schema has any rule. */
export function hasRules(schema: StructuralSchema): boolean {
  return nodeOf(schema, true) !== undefined;
}

/** The rules at one place of a schema, and of the places below it that have any. */
interface RuleNode {
  readonly schema: StructuralSchema;
  readonly isObject: boolean;
  readonly rules: readonly CompiledRule[];
  /** There are rules, but nothing is declared that they could speak of. */
  readonly isUntyped: boolean;
  readonly properties: ReadonlyMap<string, RuleNode>;
  readonly others: RuleNode | undefined;
  readonly items: RuleNode | undefined;
}

const objectNodes = new WeakMap<StructuralSchema, { readonly node: RuleNode | undefined }>();
const plainNodes = new WeakMap<StructuralSchema, { readonly node: RuleNode | undefined }>();

function nodeOf(schema: StructuralSchema, isObject: boolean): RuleNode | undefined {
  const cache = isObject ? objectNodes : plainNodes;
  const known = cache.get(schema);
  if (known !== undefined) return known.node;
  cache.set(schema, { node: undefined });
  const node = buildNode(schema, isObject);
  cache.set(schema, { node });
  return node;
}

function buildNode(schema: StructuralSchema, isObject: boolean): RuleNode | undefined {
  const self = schemaType(schema, { isObject });
  const written = schema["x-kubernetes-validations"] ?? [];
  const isUntyped = self === undefined && written.length > 0;
  const rules = self === undefined ? [] : written.map((rule) => compileRule(rule, schema, self));
  const part = (below: StructuralSchema): RuleNode | undefined =>
    nodeOf(below, below["x-kubernetes-embedded-resource"] === true);
  const properties = new Map<string, RuleNode>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const node = part(property);
    if (node !== undefined) properties.set(name, node);
  }
  const { additionalProperties, items } = schema;
  const others = typeof additionalProperties === "object" ? part(additionalProperties) : undefined;
  const itemsNode = items === undefined ? undefined : part(items);
  if (
    rules.length === 0 &&
    !isUntyped &&
    properties.size === 0 &&
    others === undefined &&
    itemsNode === undefined
  ) {
    return undefined;
  }
  return { schema, isObject, rules, isUntyped, properties, others, items: itemsNode };
}

/** The old value that belongs to this one, or else the nearest one above that has any. */
interface Near {
  readonly current: Correlation | undefined;
  readonly parent: Correlation | undefined;
}

interface Place {
  readonly value: Json;
  readonly old: Json;
  readonly path: string;
  readonly near: Near;
}

/** Thrown when there is nothing left to spend; the error that says so has been added. */
class Exhausted extends Error {}

class Validation {
  readonly errors: FieldError[] = [];
  readonly warnings: string[] = [];
  readonly #perRule: number;
  #left: number;

  constructor(perRule: number, perRequest: number) {
    this.#perRule = perRule;
    this.#left = perRequest;
  }

  visit(node: RuleNode, place: Place): void {
    try {
      this.#visit(node, place);
    } catch (error) {
      if (!(error instanceof Exhausted)) throw error;
    }
  }

  #visit(node: RuleNode, place: Place): void {
    const { value, old, path, near } = place;
    if (value === null) return;
    this.#runAll(node, place);
    if (isJsonArray(value)) {
      if (node.items === undefined) return;
      const isMap = node.schema["x-kubernetes-list-type"] === "map";
      const olds = isMap && isJsonArray(old) ? itemsByKey(old, node.schema) : undefined;
      for (const [index, item] of value.entries()) {
        const key = keyOf(item, node.schema);
        const oldItem = key === undefined ? undefined : olds?.get(key);
        const at = itemPath(path, index);
        this.#visit(node.items, {
          value: item,
          old: oldItem ?? null,
          path: at,
          near: below(near, () => near.current?.item(index, at)),
        });
      }
    } else if (isJsonObject(value)) {
      for (const [name, member] of Object.entries(value)) {
        const property = node.properties.get(name);
        const oldMember =
          isJsonObject(old) && Object.hasOwn(old, name) ? (old[name] ?? null) : null;
        if (node.others !== undefined) {
          const at = { value: member, old: oldMember, path: itemPath(path, name) };
          this.#visit(node.others, { ...at, near: field(near, name) });
        }
        if (property !== undefined) {
          const at = { value: member, old: oldMember, path: childPath(path, name) };
          this.#visit(property, { ...at, near: field(near, name) });
        }
      }
    }
  }

  #runAll(node: RuleNode, place: Place): void {
    if (node.isUntyped) {
      const detail =
        "rule compiler initialization error: failed to convert to declType for CEL validation rules";
      this.errors.push(invalidField(place.path, node.schema.type ?? "", detail));
      return;
    }
    if (node.rules.length === 0) return;
    const type = node.schema.type ?? "";
    if (this.#left <= 0) this.#exhaust(place.path, type);
    const self = valueOrError(place.value, node);
    if (self instanceof CelError) {
      this.errors.push(invalidField(place.path, type, self.message));
      return;
    }
    const variables = new Map([["self", self]]);
    // What was written under another schema may have no value under this one.
    const oldSelf = place.old === null ? undefined : valueOrError(place.old, node);
    for (const compiled of node.rules) this.#runRule(compiled, { node, place, variables, oldSelf });
  }

  #runRule(
    compiled: CompiledRule,
    {
      node,
      place,
      variables,
      oldSelf,
    }: {
      readonly node: RuleNode;
      readonly place: Place;
      readonly variables: Map<string, Value>;
      readonly oldSelf: Value | CelError | undefined;
    },
  ): void {
    const { rule, program, error } = compiled;
    const type = node.schema.type ?? "";
    if (error !== undefined) {
      this.errors.push(invalidField(place.path, type, `rule compile error: ${error}`));
      return;
    }
    if (program === undefined) return;
    const isOptional = rule.optionalOldSelf === true;
    if (compiled.usesOldSelf && oldSelf === undefined && !isOptional) return;
    const own = new Map(variables);
    if (oldSelf instanceof CelError) {
      if (compiled.usesOldSelf) {
        const detail = `${oldSelf.message} evaluating rule: ${ruleText(rule)}`;
        this.errors.push(invalidField(place.path, type, detail));
        return;
      }
    } else if (isOptional) own.set("oldSelf", new Optional(oldSelf));
    else if (oldSelf !== undefined) own.set("oldSelf", oldSelf);

    const outcome = this.#run(program, own, { path: place.path, type, rule: ruleText(rule) });
    if (outcome === undefined || outcome === true) return;
    const detail = this.#message(compiled, own, place.path, type) ?? defaultMessage(rule);
    const at = compiled.path === "" ? place.path : childPath(place.path, compiled.path);
    const isWhole = type === "object" || type === "array";
    const shown = isWhole ? undefined : place.value;
    const { reason = "FieldValueInvalid" } = rule;
    const problem = errorFor({ reason, path: at, value: shown }, detail);
    if (!compiled.usesOldSelf && isUnchanged(place.near))
      this.warnings.push(printFieldError(problem));
    else this.errors.push(problem);
  }

  /** The value of a rule, or nothing if it had none and the error has been added. */
  #run(
    program: Program,
    variables: ReadonlyMap<string, Value>,
    { path, type, rule }: { readonly path: string; readonly type: string; readonly rule: string },
  ): Value | undefined {
    const run = new Run(variables, this.#perRule);
    try {
      const value = program(run);
      this.#pay(run.spent, path, type);
      return value;
    } catch (error) {
      if (error instanceof CostExceeded) {
        const detail = `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${rule}`;
        this.errors.push(invalidField(path, type, detail));
        throw new Exhausted("", { cause: error });
      }
      if (!(error instanceof CelError)) throw error;
      this.#pay(run.spent, path, type);
      const detail =
        error instanceof NoSuchOverload
          ? `'${error.message}': call arguments did not match a supported operator, function or macro signature for rule: ${rule}`
          : `${error.message} evaluating rule: ${rule}`;
      this.errors.push(invalidField(path, type, detail));
      return undefined;
    }
  }

  #pay(cost: number, path: string, type: string): void {
    if (cost > this.#left) this.#exhaust(path, type);
    this.#left -= cost;
  }

  #exhaust(path: string, type: string): never {
    const detail =
      "validation failed due to running out of cost budget, no further validation rules will be run";
    this.errors.push(invalidField(path, type, detail));
    throw new Exhausted();
  }

  /** The text of a rule's `messageExpression`, or nothing where it has no usable one. */
  #message(
    { message, rule }: CompiledRule,
    variables: ReadonlyMap<string, Value>,
    path: string,
    type: string,
  ): string | undefined {
    if (message === undefined) return undefined;
    const run = new Run(variables, this.#perRule);
    let value: Value;
    try {
      value = message(run);
    } catch (error) {
      if (error instanceof CostExceeded) {
        const detail = `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${JSON.stringify(rule.messageExpression)}`;
        this.errors.push(invalidField(path, type, detail));
        throw new Exhausted("", { cause: error });
      }
      if (!(error instanceof CelError)) throw error;
      return undefined;
    }
    if (run.spent > this.#left) {
      const detail =
        "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run";
      this.errors.push(invalidField(path, type, detail));
      throw new Exhausted();
    }
    this.#left -= run.spent;
    if (typeof value !== "string") return undefined;
    const text = trimSpace(value);
    if (text === "" || text.includes("\n")) return undefined;
    return new TextEncoder().encode(text).length > messageBytesMax ? undefined : text;
  }
}

const messageBytesMax = 5 * 1024;

function valueOrError(json: Json, { schema, isObject }: RuleNode): Value | CelError {
  try {
    return valueOf(json, schema, isObject);
  } catch (error) {
    if (error instanceof CelError) return error;
    throw error;
  }
}

function below(near: Near, step: () => Correlation | undefined): Near {
  return near.current === undefined ? near : { current: step(), parent: near.current };
}

function field(near: Near, name: string): Near {
  const { current, parent } = near;
  if (current === undefined) return near;
  const isTypeMeta = parent === undefined && (name === "apiVersion" || name === "kind");
  if (isTypeMeta) return { current: undefined, parent: undefined };
  return { current: current.field(name, ""), parent: current };
}

function isUnchanged({ current, parent }: Near): boolean {
  return (current ?? parent)?.isEqual() === true;
}

function ruleText({
  message = "",
  rule,
}: {
  readonly message?: string;
  readonly rule: string;
}): string {
  return message === "" ? trimSpace(rule) : trimSpace(message);
}

function defaultMessage(rule: { readonly message?: string; readonly rule: string }): string {
  return (rule.message ?? "") === "" ? `failed rule: ${ruleText(rule)}` : ruleText(rule);
}

function errorFor(
  {
    reason,
    path,
    value,
  }: { readonly reason: ValidationReason; readonly path: string; readonly value: Json | undefined },
  detail: string,
): FieldError {
  const shown = value === undefined ? {} : { value };
  switch (reason) {
    case "FieldValueForbidden":
      return forbiddenField(path, detail);
    case "FieldValueRequired":
      return requiredField(path, detail);
    case "FieldValueDuplicate":
      return { type: reason, field: path === "" ? "<nil>" : path, ...shown, detail: "" };
    case "FieldValueInvalid":
      return { type: reason, field: path === "" ? "<nil>" : path, ...shown, detail };
  }
}
