// Expressions compiled into closures. Every step spends of a budget, so a rule cannot run away.

import { CelError, CostExceeded, NoSuchOverload } from "./cel-error.ts";
import { typeNamed } from "./check.ts";
import { compare, type Spend } from "./equality.ts";
import type { Constant, Entry, Expression, Item as Literal } from "./expression.ts";
import { overloadsOf } from "./functions.ts";
import type { Overload } from "./overload.ts";
import type { CelType } from "./cel-type.ts";
import {
  Duration,
  keyIdentity,
  List,
  Optional,
  QuantityValue,
  Struct,
  Timestamp,
  TypeValue,
  Uint,
  ValueMap,
  type Value,
} from "./values.ts";

/** An expression that can run. Throws a `CelError` if it has no value, `CostExceeded` if it takes too long. */
export type Program = (run: Run) => Value;

/** One run of a program: its variables and what it has spent. */
export class Run {
  readonly variables: Map<string, Value>;
  readonly spend: Spend;
  spent = 0;

  constructor(variables: ReadonlyMap<string, Value>, costMax: number) {
    this.variables = new Map(variables);
    this.spend = (cost) => {
      this.spent += cost;
      if (this.spent > costMax) throw new CostExceeded();
    };
  }
}

/** Compiles a checked expression. */
export function compileExpression(expression: Expression): Program {
  switch (expression.op) {
    case "constant": {
      const value = constantValue(expression.value);
      return () => value;
    }
    case "name":
      return compileName(expression.name);
    case "select":
    case "has":
    case "optionalSelect":
      return compileSelect(expression);
    case "call":
      return compileCall(expression);
    case "and":
      return compileLogic(expression, { decisive: false });
    case "or":
      return compileLogic(expression, { decisive: true });
    case "choose":
      return compileChoose(expression);
    case "list":
      return compileList(expression.items);
    case "map":
      return compileMap(expression.entries);
    case "loop":
      return compileLoop(expression);
    case "bind":
      return compileBind(expression);
  }
}

function constantValue(value: Constant): Value {
  if (typeof value === "object" && value !== null && !(value instanceof Uint8Array)) {
    return new Uint(value.uint);
  }
  return value;
}

function compileName(name: string): Program {
  const type = typeNamed(name);
  const typeValue = type === undefined ? undefined : new TypeValue(type);
  return ({ variables, spend }) => {
    spend(1);
    const value = variables.get(name);
    if (value !== undefined) return value;
    if (typeValue !== undefined) return typeValue;
    throw new CelError(`no such attribute(s): ${name}`);
  };
}

function compileSelect(
  expression: Extract<Expression, { op: "select" | "has" | "optionalSelect" }>,
): Program {
  const operand = compileExpression(expression.operand);
  const { op, field } = expression;
  return (run) => {
    run.spend(1);
    const base = operand(run);
    const holder = base instanceof Optional ? base.value : base;
    const found = holder === undefined ? undefined : member(holder, field);
    if (op === "has") return found !== undefined;
    if (op === "optionalSelect" || base instanceof Optional) return new Optional(found);
    if (found === undefined) throw new CelError(`no such key: ${field}`);
    return found;
  };
}

function member(holder: Value, field: string): Value | undefined {
  if (holder instanceof Struct) return holder.get(field);
  if (holder instanceof ValueMap) return holder.get(field);
  throw new NoSuchOverload();
}

function compileCall(expression: Extract<Expression, { op: "call" }>): Program {
  const parts =
    expression.target === undefined ? expression.args : [expression.target, ...expression.args];
  const programs = parts.map(compileExpression);
  const overloads = (overloadsOf(expression.name, expression.target !== undefined) ?? []).filter(
    ({ params }) => params.length === programs.length,
  );
  return (run) => {
    run.spend(1);
    const args = programs.map((program) => program(run));
    return dispatch(overloads, args).run(args, run.spend);
  };
}

function dispatch(overloads: readonly Overload[], args: readonly Value[]): Overload {
  for (const overload of overloads) {
    if (overload.params.every((param, index) => isInstance(param, args[index] ?? null))) {
      return overload;
    }
  }
  throw new NoSuchOverload();
}

/** Whether a value is of a type, as far as it says itself; what is in lists and maps is not looked at. */
function isInstance(type: CelType, value: Value): boolean {
  switch (type.kind) {
    case "int":
      return typeof value === "bigint";
    case "uint":
      return value instanceof Uint;
    case "double":
      return typeof value === "number";
    case "bool":
      return typeof value === "boolean";
    case "string":
      return typeof value === "string";
    case "bytes":
      return value instanceof Uint8Array;
    case "null":
      return value === null;
    case "duration":
      return value instanceof Duration;
    case "timestamp":
      return value instanceof Timestamp;
    case "quantity":
      return value instanceof QuantityValue;
    case "list":
      return value instanceof List && (value.length === 0 || isInstance(type.item, value.at(0)));
    case "map":
      return value instanceof ValueMap;
    case "optional":
      return value instanceof Optional;
    case "type":
      return value instanceof TypeValue;
    case "object":
      return value instanceof Struct;
    case "dyn":
    case "param":
      return true;
  }
}

/** `&&` and `||`: a side that decides makes an error of the other one not matter. */
function compileLogic(
  expression: Extract<Expression, { op: "and" | "or" }>,
  { decisive }: { readonly decisive: boolean },
): Program {
  const left = compileExpression(expression.left);
  const right = compileExpression(expression.right);
  return (run) => {
    run.spend(1);
    const first = attempt(left, run);
    if (first === decisive) return decisive;
    const second = attempt(right, run);
    if (second === decisive) return decisive;
    if (first instanceof CelError) throw first;
    if (second instanceof CelError) throw second;
    return !decisive;
  };
}

function attempt(program: Program, run: Run): boolean | CelError {
  try {
    const value = program(run);
    return typeof value === "boolean" ? value : new NoSuchOverload();
  } catch (error) {
    if (error instanceof CelError) return error;
    throw error;
  }
}

function compileChoose(expression: Extract<Expression, { op: "choose" }>): Program {
  const test = compileExpression(expression.test);
  const yes = compileExpression(expression.yes);
  const no = compileExpression(expression.no);
  return (run) => {
    run.spend(1);
    const chosen = test(run);
    if (typeof chosen !== "boolean") throw new NoSuchOverload();
    return chosen ? yes(run) : no(run);
  };
}

function compileList(items: readonly Literal[]): Program {
  const programs = items.map(compileItem);
  return (run) => {
    run.spend(10);
    const made = programs.map((program) => program(run));
    return new List({ items: made.filter((value) => value !== undefined) });
  };
}

/** The value of an item; undefined if it is optional and there is none. */
function compileItem({ value, isOptional }: Literal): (run: Run) => Value | undefined {
  const program = compileExpression(value);
  if (!isOptional) return program;
  return (run) => {
    const optional = program(run);
    if (!(optional instanceof Optional))
      throw new CelError("cannot initialize optional list element from non-optional value");
    return optional.value;
  };
}

function compileMap(entries: readonly Entry[]): Program {
  const programs = entries.map(
    (entry) => [compileExpression(entry.key), compileItem(entry)] as const,
  );
  return (run) => {
    run.spend(30);
    const map = new Map<string, readonly [Value, Value]>();
    for (const [keyProgram, valueProgram] of programs) {
      const key = keyProgram(run);
      const value = valueProgram(run);
      if (value !== undefined) putEntry(map, key, value);
    }
    return new ValueMap(map);
  };
}

function putEntry(map: Map<string, readonly [Value, Value]>, key: Value, value: Value): void {
  const identity = keyIdentity(key);
  if (identity === undefined) throw new CelError("unsupported key type");
  if (map.has(identity)) throw new CelError(`Failed with repeated key`);
  map.set(identity, [key, value]);
}

function compileBind(expression: Extract<Expression, { op: "bind" }>): Program {
  const value = compileExpression(expression.value);
  const body = compileExpression(expression.body);
  const { macro, name } = expression;
  return (run) => {
    const optional = value(run);
    if (!(optional instanceof Optional)) throw new NoSuchOverload();
    const { value: held } = optional;
    if (held === undefined) return optional;
    const result = withVariables(run, [[name, held]], () => body(run));
    return macro === "optMap" ? new Optional(result) : result;
  };
}

/** Runs with further variables, which hide those of the same name. */
function withVariables<T>(run: Run, bound: readonly (readonly [string, Value])[], act: () => T): T {
  const hidden = bound.map(([name]) => [name, run.variables.get(name)] as const);
  for (const [name, value] of bound) run.variables.set(name, value);
  try {
    return act();
  } finally {
    for (const [name, value] of hidden) {
      if (value === undefined) run.variables.delete(name);
      else run.variables.set(name, value);
    }
  }
}

interface Item {
  readonly key: Value;
  readonly value: Value;
  /** What a loop with one name sees: the item of a list, the key of a map. */
  readonly single: Value;
}

function* itemsOf(range: Value): Generator<Item> {
  if (range instanceof List) {
    for (let index = 0; index < range.length; index++) {
      const value = range.at(index);
      yield { key: BigInt(index), value, single: value };
    }
  } else if (range instanceof ValueMap) {
    for (const [key, value] of range.entries.values()) yield { key, value, single: key };
  } else {
    throw new NoSuchOverload();
  }
}

function compileLoop(expression: Extract<Expression, { op: "loop" }>): Program {
  const range = compileExpression(expression.range);
  const body = compileExpression(expression.body);
  const filter = expression.filter === undefined ? undefined : compileExpression(expression.filter);
  const [first = "", second] = expression.names;
  const { macro } = expression;
  const bind = ({ key, value, single }: Item): (readonly [string, Value])[] =>
    second === undefined
      ? [[first, single]]
      : [
          [first, key],
          [second, value],
        ];
  return (run) => {
    const values = range(run);
    const each = function* (): Generator<readonly [Item, <T>(act: () => T) => T]> {
      for (const item of itemsOf(values)) {
        run.spend(3);
        const within = <T>(act: () => T): T => withVariables(run, bind(item), act);
        if (filter === undefined || within(() => truth(filter(run)))) yield [item, within];
      }
    };
    switch (macro) {
      case "all":
        return quantify(each(), body, run, { decisive: false });
      case "exists":
        return quantify(each(), body, run, { decisive: true });
      case "exists_one": {
        let count = 0;
        for (const [, within] of each()) if (within(() => truth(body(run)))) count++;
        return count === 1;
      }
      case "filter": {
        const kept: Value[] = [];
        for (const [item, within] of each()) {
          if (within(() => truth(body(run)))) kept.push(item.single);
        }
        return new List({ items: kept });
      }
      case "map":
      case "transformList": {
        const made: Value[] = [];
        for (const [, within] of each()) made.push(within(() => body(run)));
        return new List({ items: made });
      }
      case "transformMap":
      case "transformMapEntry": {
        const made = new Map<string, readonly [Value, Value]>();
        for (const [item, within] of each()) {
          const result = within(() => body(run));
          if (macro === "transformMap") putEntry(made, item.key, result);
          else if (result instanceof ValueMap) {
            for (const [key, value] of result.entries.values()) putEntry(made, key, value);
          } else throw new NoSuchOverload();
        }
        return new ValueMap(made);
      }
      case "sortBy": {
        const keyed: (readonly [Value, Value])[] = [];
        for (const [item, within] of each()) keyed.push([within(() => body(run)), item.single]);
        run.spend(keyed.length);
        return new List({ items: keyed.sort(([a], [b]) => compare(a, b)).map(([, item]) => item) });
      }
    }
  };
}

function truth(value: Value): boolean {
  if (typeof value !== "boolean") throw new NoSuchOverload();
  return value;
}

/** `all` and `exists`: an item that decides makes the errors of others not matter. */
function quantify(
  items: Iterable<readonly [Item, <T>(act: () => T) => T]>,
  body: Program,
  run: Run,
  { decisive }: { readonly decisive: boolean },
): boolean {
  let failure: CelError | undefined;
  for (const [, within] of items) {
    const result = within(() => attempt(body, run));
    if (result === decisive) return decisive;
    if (result instanceof CelError) failure ??= result;
  }
  if (failure !== undefined) throw failure;
  return !decisive;
}
