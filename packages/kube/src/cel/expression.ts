// Expressions: what the parser makes of a rule's text, with macros told apart from calls.

import { Environment, ParseError } from "@marcbachmann/cel-js";
import { takeMarks } from "./optional-marks.ts";

/** Where in the text something stands, from 0. */
type Offset = number;

/** An expression. `at` is where messages about it point. */
export type Expression =
  | { readonly op: "constant"; readonly value: Constant; readonly at: Offset }
  | { readonly op: "name"; readonly name: string; readonly at: Offset }
  | {
      readonly op: "select" | "has" | "optionalSelect";
      readonly operand: Expression;
      readonly field: string;
      readonly at: Offset;
    }
  | {
      readonly op: "call";
      /** As messages name it: `_+_`, `_[_]`, `size`. */
      readonly name: string;
      readonly target?: Expression;
      readonly args: readonly Expression[];
      readonly at: Offset;
    }
  | {
      readonly op: "and" | "or";
      readonly left: Expression;
      readonly right: Expression;
      readonly at: Offset;
    }
  | {
      readonly op: "choose";
      readonly test: Expression;
      readonly yes: Expression;
      readonly no: Expression;
      readonly at: Offset;
    }
  | { readonly op: "list"; readonly items: readonly Item[]; readonly at: Offset }
  | { readonly op: "map"; readonly entries: readonly Entry[]; readonly at: Offset }
  | {
      readonly op: "loop";
      readonly macro: LoopMacro;
      readonly range: Expression;
      /** One name, or two: of the index or key, and of the item or value. */
      readonly names: readonly string[];
      readonly filter?: Expression;
      readonly body: Expression;
      readonly at: Offset;
    }
  | {
      readonly op: "bind";
      readonly macro: "bind" | "optMap" | "optFlatMap";
      readonly name: string;
      readonly value: Expression;
      readonly body: Expression;
      readonly at: Offset;
    };

/** An item of a list literal. An optional one is there only if its value has one: `[?x]`. */
export interface Item {
  readonly value: Expression;
  readonly isOptional: boolean;
}

/** An entry of a map literal: `{k: x, ?l: y}`. */
export interface Entry extends Item {
  readonly key: Expression;
}

export type Constant =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | { readonly uint: bigint };

type LoopMacro =
  | "all"
  | "exists"
  | "exists_one"
  | "map"
  | "filter"
  | "transformList"
  | "transformMap"
  | "transformMapEntry"
  | "sortBy";

/** A text that is not an expression. */
export class ExpressionSyntaxError extends Error {
  readonly code = "EXPRESSION_SYNTAX";
  /** Where it stops making sense. */
  readonly at: Offset;

  constructor(message: string, at: Offset) {
    super(message);
    this.name = "ExpressionSyntaxError";
    this.at = at;
  }
}

const environment = new Environment({
  unlistedVariablesAreDyn: true,
  enableOptionalTypes: true,
  limits: { maxDepth: 200, maxAstNodes: 50_000 },
});

/** Parses a text. Size and depth are bounded: 50,000 nodes, 200 levels. */
export function parseExpression(text: string): Expression {
  const { text: unmarked, marks } = takeMarks(text);
  let root: Node;
  try {
    root = environment.parse(unmarked).ast;
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    const message = error.message.split("\n", 1)[0] ?? "";
    throw new ExpressionSyntaxError(`Syntax error: ${message}`, positionOf(error));
  }
  return new Converter(unmarked, marks).convert(root);
}

function positionOf(error: ParseError): Offset {
  const { range } = error as { range?: { start?: number } };
  return range?.start ?? 0;
}

/** A node as the library makes it. */
interface Node {
  readonly op: string;
  readonly args: unknown;
  readonly pos: Offset;
  readonly start: Offset;
  readonly end: Offset;
}

const binaryNames: Readonly<Record<string, string>> = {
  "==": "_==_",
  "!=": "_!=_",
  "<": "_<_",
  "<=": "_<=_",
  ">": "_>_",
  ">=": "_>=_",
  "+": "_+_",
  "-": "_-_",
  "*": "_*_",
  "/": "_/_",
  "%": "_%_",
  in: "@in",
};

const loopMacros = new Map<string, LoopMacro>([
  ["all", "all"],
  ["exists", "exists"],
  ["exists_one", "exists_one"],
  ["existsOne", "exists_one"],
  ["map", "map"],
  ["filter", "filter"],
  ["transformList", "transformList"],
  ["transformMap", "transformMap"],
  ["transformMapEntry", "transformMapEntry"],
  ["sortBy", "sortBy"],
]);

class Converter {
  readonly #text: string;
  readonly #marks: readonly Offset[];

  constructor(text: string, marks: readonly Offset[]) {
    this.#text = text;
    this.#marks = marks;
  }

  convert(node: Node): Expression {
    const { op, args, start } = node;
    switch (op) {
      case "value":
        return { op: "constant", value: constantOf(args), at: start };
      case "id":
        return { op: "name", name: args as string, at: start };
      case ".":
      case ".?": {
        const [operand, field] = args as [Node, string];
        const at = this.#find(operand.end, ".");
        const kind = op === "." ? "select" : "optionalSelect";
        return { op: kind, operand: this.convert(operand), field, at };
      }
      case "[]":
      case "[?]": {
        const [operand, index] = args as [Node, Node];
        const name = op === "[]" ? "_[_]" : "_[?_]";
        const at = this.#find(operand.end, "[");
        return { op: "call", name, args: [this.convert(operand), this.convert(index)], at };
      }
      case "&&":
      case "||": {
        const [left, right] = args as [Node, Node];
        const at = this.#find(left.end, op);
        const kind = op === "&&" ? "and" : "or";
        return { op: kind, left: this.convert(left), right: this.convert(right), at };
      }
      case "?:": {
        const [test, yes, no] = args as [Node, Node, Node];
        const at = this.#find(test.end, "?");
        const parts = { test: this.convert(test), yes: this.convert(yes), no: this.convert(no) };
        return { op: "choose", ...parts, at };
      }
      case "!_":
        return { op: "call", name: "!_", args: [this.convert(args as Node)], at: start };
      case "-_":
        return this.#negate(args as Node, start);
      case "list":
        return { op: "list", items: this.#items(args as Node[], start), at: start };
      case "map":
        return { op: "map", entries: this.#entries(args as [Node, Node][], start), at: start };
      case "call":
        return this.#call(node);
      case "rcall":
        return this.#receiverCall(node);
      default: {
        const name = binaryNames[op];
        if (name === undefined)
          throw new ExpressionSyntaxError(`unsupported operator ${op}`, start);
        const [left, right] = args as [Node, Node];
        const at = this.#find(left.end, op);
        return { op: "call", name, args: [this.convert(left), this.convert(right)], at };
      }
    }
  }

  #items(nodes: readonly Node[], start: Offset): Item[] {
    let end = start;
    return nodes.map((node) => {
      const item = { value: this.convert(node), isOptional: this.#isMarked(end, node.start) };
      end = node.end;
      return item;
    });
  }

  #entries(nodes: readonly (readonly [Node, Node])[], start: Offset): Entry[] {
    let end = start;
    return nodes.map(([key, value]) => {
      const isOptional = this.#isMarked(end, key.start);
      end = value.end;
      return { key: this.convert(key), value: this.convert(value), isOptional };
    });
  }

  #isMarked(from: Offset, to: Offset): boolean {
    return this.#marks.some((mark) => mark >= from && mark < to);
  }

  #negate(operand: Node, at: Offset): Expression {
    const inner = this.convert(operand);
    if (inner.op === "constant") {
      if (typeof inner.value === "bigint") return { ...inner, value: -inner.value, at };
      if (typeof inner.value === "number") return { ...inner, value: -inner.value, at };
    }
    return { op: "call", name: "-_", args: [inner], at };
  }

  #call({ args, start }: Node): Expression {
    const [name, nodes] = args as [string, Node[]];
    const at = this.#find(start + name.length, "(");
    if (name === "has" && nodes.length === 1) {
      const [inner] = nodes.map((node) => this.convert(node));
      if (inner?.op === "select") return { ...inner, op: "has", at };
      throw new ExpressionSyntaxError("invalid argument to has() macro", nodes[0]?.start ?? at);
    }
    return { op: "call", name, args: nodes.map((node) => this.convert(node)), at };
  }

  #receiverCall({ args }: Node): Expression {
    const [name, receiver, nodes] = args as [string, Node, Node[]];
    const dot = this.#find(receiver.end, ".");
    const at = this.#find(dot, "(");
    const macro = loopMacros.get(name);
    if (macro !== undefined && nodes.length >= 2) {
      const loop = this.#loop(macro, receiver, nodes, at);
      if (loop !== undefined) return loop;
    }
    const [variable, body] = nodes;
    if (
      (name === "optMap" || name === "optFlatMap") &&
      variable !== undefined &&
      body !== undefined &&
      nodes.length === 2
    ) {
      const bound = nameOf(variable);
      if (bound === undefined)
        throw new ExpressionSyntaxError("argument must be a simple name", variable.start);
      const value = this.convert(receiver);
      return { op: "bind", macro: name, name: bound, value, body: this.convert(body), at };
    }
    const target = this.convert(receiver);
    const converted = nodes.map((node) => this.convert(node));
    if (target.op === "name" && namespaces.has(target.name)) {
      return { op: "call", name: `${target.name}.${name}`, args: converted, at };
    }
    return { op: "call", name, target, args: converted, at };
  }

  #loop(
    macro: LoopMacro,
    receiver: Node,
    nodes: readonly Node[],
    at: Offset,
  ): Expression | undefined {
    const isTransform = macro.startsWith("transform");
    const last = nodes.at(-1);
    if (last === undefined) return undefined;
    let nameCount = isTransform ? 2 : 1;
    let hasFilter = nodes.length === nameCount + 2;
    if (!isTransform && macro !== "map" && nodes.length === 3) {
      nameCount = 2;
      hasFilter = false;
    }
    if (nodes.length !== nameCount + (hasFilter ? 2 : 1)) return undefined;
    const names = nodes.slice(0, nameCount).map((node) => {
      const name = nameOf(node);
      if (name === undefined)
        throw new ExpressionSyntaxError("argument must be a simple name", node.start);
      return name;
    });
    const filter = hasFilter ? nodes[nameCount] : undefined;
    return {
      op: "loop",
      macro,
      range: this.convert(receiver),
      names,
      ...(filter === undefined ? {} : { filter: this.convert(filter) }),
      body: this.convert(last),
      at,
    };
  }

  /** Where a token stands from an offset on; the offset itself if it is not there. */
  #find(from: Offset, token: string): Offset {
    const found = this.#text.indexOf(token, from);
    return found < 0 ? from : found;
  }
}

const namespaces = new Set(["optional"]);

function nameOf(node: Node): string | undefined {
  return node.op === "id" && typeof node.args === "string" ? node.args : undefined;
}

function constantOf(value: unknown): Constant {
  if (value === null || typeof value === "boolean" || typeof value === "bigint") return value;
  if (typeof value === "number" || typeof value === "string") return value;
  if (value instanceof Uint8Array) return value;
  // The library's own class for unsigned integers.
  return { uint: (value as { valueOf(): bigint }).valueOf() };
}
