// Type-checking, when a rule is written rather than when it runs.

import { characterCount } from "../schema/character-count.ts";
import type { Expression, Item } from "./expression.ts";
import { overloadsOf } from "./functions.ts";
import {
  bool,
  bytes,
  double,
  dyn,
  int,
  isAssignable,
  isSame,
  listOf,
  mapOf,
  nullType,
  optionalOf,
  string,
  substitute,
  typeName,
  uint,
  type Bindings,
  type CelType,
} from "./cel-type.ts";

/** Something wrong with an expression. */
interface Issue {
  readonly message: string;
  /** Where in the text. */
  readonly at: number;
}

/** The type of an expression and what is wrong with it; with any issue the type means nothing. */
interface Checked {
  readonly type: CelType;
  readonly issues: readonly Issue[];
  /** The variables it reads. */
  readonly names: ReadonlySet<string>;
}

/** Checks an expression against the variables it may read. */
export function checkExpression(
  expression: Expression,
  variables: ReadonlyMap<string, CelType>,
): Checked {
  const checker = new Checker();
  const type = checker.check(expression, new Map(variables));
  return { type, issues: checker.issues, names: checker.names };
}

/** Types that can also be written as values: `type(x) == string`. */
const typeNames = new Map<string, CelType>([
  ["bool", bool],
  ["int", int],
  ["uint", uint],
  ["double", double],
  ["string", string],
  ["bytes", bytes],
  ["list", listOf(dyn)],
  ["map", mapOf(dyn, dyn)],
  ["null_type", nullType],
]);

export function typeNamed(name: string): CelType | undefined {
  return typeNames.get(name);
}

type Scope = ReadonlyMap<string, CelType>;

class Checker {
  readonly issues: Issue[] = [];
  readonly names = new Set<string>();

  check(expression: Expression, scope: Scope): CelType {
    switch (expression.op) {
      case "constant":
        return constantType(expression.value);
      case "name":
        return this.#name(expression.name, expression.at, scope);
      case "select":
      case "has":
      case "optionalSelect":
        return this.#select(expression, scope);
      case "call":
        return this.#call(expression, scope);
      case "and":
      case "or": {
        for (const side of [expression.left, expression.right]) {
          this.#boolean(this.check(side, scope), side.at);
        }
        return bool;
      }
      case "choose":
        return this.#choose(expression, scope);
      case "list":
        return listOf(this.#join(expression.items, scope));
      case "map": {
        const keys = expression.entries.map(({ key }) => ({ value: key, isOptional: false }));
        return mapOf(this.#join(keys, scope), this.#join(expression.entries, scope));
      }
      case "loop":
        return this.#loop(expression, scope);
      case "bind": {
        const optional = this.check(expression.value, scope);
        if (optional.kind !== "optional" && optional.kind !== "dyn") {
          this.#noOverload(expression.macro, optional, [], expression.at);
          return dyn;
        }
        const held = optional.kind === "optional" ? optional.of : dyn;
        const body = this.check(expression.body, new Map(scope).set(expression.name, held));
        return expression.macro === "optMap" ? optionalOf(body) : body;
      }
    }
  }

  #issue(message: string, at: number): CelType {
    this.issues.push({ message, at });
    return dyn;
  }

  #name(name: string, at: number, scope: Scope): CelType {
    const type = scope.get(name);
    if (type !== undefined) {
      this.names.add(name);
      return type;
    }
    const named = typeNames.get(name);
    if (named !== undefined) return { kind: "type", of: named };
    return this.#issue(`undeclared reference to '${name}' (in container '')`, at);
  }

  #select(
    expression: Extract<Expression, { op: "select" | "has" | "optionalSelect" }>,
    scope: Scope,
  ): CelType {
    const { field, at } = expression;
    const operand = this.check(expression.operand, scope);
    const isOptional = operand.kind === "optional";
    const inner = isOptional ? operand.of : operand;
    const type = this.#fieldType(inner, field, at);
    if (expression.op === "has") return bool;
    return isOptional || expression.op === "optionalSelect" ? optionalOf(type) : type;
  }

  #fieldType(type: CelType, field: string, at: number): CelType {
    if (type.kind === "object") {
      return type.fields.get(field) ?? this.#issue(`undefined field '${field}'`, at);
    }
    if (type.kind === "map") return type.value;
    if (type.kind === "dyn" || type.kind === "param") return dyn;
    return this.#issue(`type '${typeName(type)}' does not support field selection`, at);
  }

  #call(expression: Extract<Expression, { op: "call" }>, scope: Scope): CelType {
    const { name, target, at } = expression;
    const receiver = target === undefined ? undefined : this.check(target, scope);
    const args = expression.args.map((part) => this.check(part, scope));
    const isMethod = target !== undefined;
    const overloads = overloadsOf(name, isMethod) ?? [];
    // A function that is called as a method, or the other way round, is known and does not fit.
    if (overloads.length === 0 && overloadsOf(name, !isMethod) === undefined) {
      return this.#issue(`undeclared reference to '${name}' (in container '')`, at);
    }
    const types = receiver === undefined ? args : [receiver, ...args];
    const results: CelType[] = [];
    for (const { params, result } of overloads) {
      const bindings: Bindings = new Map();
      const isMatch =
        params.length === types.length &&
        params.every((param, index) => isAssignable(param, types[index] ?? dyn, bindings));
      if (isMatch) results.push(substitute(result, bindings));
    }
    const [first, ...others] = results;
    if (first === undefined) {
      this.#noOverload(name, receiver, args, at);
      return dyn;
    }
    return others.every((other) => isSame(first, other)) ? first : dyn;
  }

  #noOverload(
    name: string,
    receiver: CelType | undefined,
    args: readonly CelType[],
    at: number,
  ): void {
    const list = `(${args.map(typeName).join(", ")})`;
    const applied = receiver === undefined ? list : `${typeName(receiver)}.${list}`;
    this.#issue(`found no matching overload for '${name}' applied to '${applied}'`, at);
  }

  #choose(expression: Extract<Expression, { op: "choose" }>, scope: Scope): CelType {
    const test = this.check(expression.test, scope);
    const yes = this.check(expression.yes, scope);
    const no = this.check(expression.no, scope);
    const bindings: Bindings = new Map();
    const param: CelType = { kind: "param", name: "A" };
    const isRight =
      isAssignable(bool, test, bindings) &&
      isAssignable(param, yes, bindings) &&
      isAssignable(param, no, bindings);
    if (!isRight) this.#noOverload("_?_:_", undefined, [test, yes, no], expression.at);
    return substitute(param, bindings);
  }

  /** The one type of all parts: literals are not mixed. */
  #join(parts: readonly Item[], scope: Scope): CelType {
    let joined: CelType | undefined;
    for (const { value: part, isOptional } of parts) {
      const found = this.check(part, scope);
      const type = isOptional ? this.#held(found, part.at) : found;
      if (joined === undefined || joined.kind === "dyn") joined = type;
      else if (!isAssignable(joined, type, new Map())) {
        const message = `expected type '${typeName(joined)}' but found '${typeName(type)}'`;
        this.#issue(message, part.at);
      }
    }
    return joined ?? { kind: "param", name: "item" };
  }

  /** The type that an optional entry adds. */
  #held(type: CelType, at: number): CelType {
    if (type.kind === "optional") return type.of;
    if (type.kind !== "dyn") {
      const wanted = typeName(optionalOf(type));
      this.#issue(`expected type '${wanted}' but found '${typeName(type)}'`, at);
    }
    return type;
  }

  #loop(expression: Extract<Expression, { op: "loop" }>, scope: Scope): CelType {
    const { macro, names, filter, at } = expression;
    const range = this.check(expression.range, scope);
    const parts = rangeTypes(range);
    if (parts === undefined) {
      const message = `expression of type '${typeName(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`;
      return this.#issue(message, expression.range.at);
    }
    const inner = new Map(scope);
    const [first = "", second] = names;
    if (second === undefined) {
      inner.set(first, parts.single);
    } else {
      inner.set(first, parts.key);
      inner.set(second, parts.value);
    }
    const test = filter === undefined ? undefined : this.check(filter, inner);
    const body = this.check(expression.body, inner);
    if (test !== undefined) this.#chosen(test, listOf(body), at);
    switch (macro) {
      case "all":
      case "exists":
        this.#boolean(body, expression.body.at);
        return bool;
      case "exists_one":
        this.#chosen(body, int, at);
        return bool;
      case "filter":
        this.#chosen(body, listOf(parts.single), at);
        return listOf(parts.single);
      case "map":
      case "transformList":
        return listOf(body);
      case "transformMap":
        return mapOf(parts.key, body);
      case "transformMapEntry":
        return body.kind === "map" ? body : mapOf(dyn, dyn);
      case "sortBy":
        return range;
    }
  }

  #boolean(type: CelType, at: number): void {
    if (isAssignable(bool, type, new Map())) return;
    this.#issue(`expected type 'bool' but found '${typeName(type)}'`, at);
  }

  /** What decides whether an item counts is, to the real server, the test of a `?:`. */
  #chosen(test: CelType, result: CelType, at: number): void {
    if (isAssignable(bool, test, new Map())) return;
    this.#noOverload("_?_:_", undefined, [test, result, result], at);
  }
}

function rangeTypes(
  range: CelType,
): { readonly single: CelType; readonly key: CelType; readonly value: CelType } | undefined {
  if (range.kind === "list") return { single: range.item, key: int, value: range.item };
  if (range.kind === "map") return { single: range.key, key: range.key, value: range.value };
  const isOpen = range.kind === "dyn" || range.kind === "param";
  return isOpen ? { single: dyn, key: dyn, value: dyn } : undefined;
}

function constantType(value: Extract<Expression, { op: "constant" }>["value"]): CelType {
  if (typeof value === "boolean") return bool;
  if (typeof value === "bigint") return int;
  if (typeof value === "number") return double;
  if (typeof value === "string") return string;
  if (value === null) return nullType;
  return value instanceof Uint8Array ? bytes : uint;
}

/** Issues as the real server prints them, each with the line it is about and an arrow. */
export function formatIssues(text: string, issues: readonly Issue[]): string {
  const lines = text.split("\n");
  return issues
    .map(({ message, at }) => {
      const before = text.slice(0, at).split("\n");
      const row = before.length;
      const column = characterCount(before.at(-1) ?? "");
      const line = (lines[row - 1] ?? "").replaceAll("\t", " ");
      return `ERROR: <input>:${row}:${column + 1}: ${message}\n | ${line}\n | ${".".repeat(column)}^`;
    })
    .join("\n");
}
