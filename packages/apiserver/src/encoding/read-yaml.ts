// YAML bodies as Go's sigs.k8s.io/yaml reads them: YAML 1.1, then JSON.

import { JsonNumber, setMember, type MutableJson, type MutableJsonObject } from "@keelson/base";
import { isAlias, isMap, isPair, isScalar, isSeq, Lexer, LineCounter, parseDocument } from "yaml";

/** A text that is no YAML, with the words of Go's reader as far as they can be known. */
export class YamlError extends Error {
  readonly code = "YAML";
  override readonly name = "YamlError";
}

export interface YamlReport {
  readonly value: MutableJson;
  /** Keys said twice: `line 9: key "foo" already set in map`. */
  readonly duplicates: readonly string[];
}

const depthMax = 512;

/** Reads one document. Throws a `YamlError`. Aliases may not blow it up, nor depth overflow the stack. */
export function readYaml(text: string): YamlReport {
  refuseDepth(text);
  const lines = new LineCounter();
  const document = parseDocument(text, {
    version: "1.1",
    uniqueKeys: false,
    intAsBigInt: true,
    merge: true,
    lineCounter: lines,
    logLevel: "silent",
  });
  const [error] = document.errors;
  if (error !== undefined) throw new YamlError(`yaml: ${error.message.split("\n", 1)[0] ?? ""}`);
  const reader = new Reader(lines);
  const value = reader.convert(document.contents, 0);
  return { value, duplicates: reader.duplicates };
}

/** Before anything is built: the parser would work for seconds on what overflows its stack in the end. */
function refuseDepth(text: string): void {
  let depth = 0;
  /** Collections that begin on one line, one inside the other. */
  let chain = 0;
  let isScalarNext = false;
  for (const token of new Lexer().lex(text)) {
    if (isScalarNext) {
      isScalarNext = false;
      continue;
    }
    if (token === scalarMark) isScalarNext = true;
    else if (token === "[" || token === "{") depth += 1;
    else if (token === "]" || token === "}") depth -= 1;
    else if (token === "\n" || token === "\r\n") chain = 0;
    else if (depth === 0 && (token === "-" || token === "?" || token === ":")) chain += 1;
    if (depth > depthMax || chain > depthMax) {
      throw new YamlError(`yaml: exceeded max depth of ${depthMax}`);
    }
  }
}

/** Before the text of a plain scalar: whatever follows is no mark of a collection. */
const scalarMark = "\u001f";

class Reader {
  readonly duplicates: string[] = [];
  readonly #lines: LineCounter;
  /** What each anchor last stood for, in the order of the text. */
  readonly #anchors = new Map<string, unknown>();
  #nodes = 0;
  #aliased = 0;
  /** How many aliases the present node is inside of. */
  #aliases = 0;

  constructor(lines: LineCounter) {
    this.#lines = lines;
  }

  convert(node: unknown, depth: number): MutableJson {
    if (depth > depthMax) throw new YamlError(`yaml: exceeded max depth of ${depthMax}`);
    this.#count();
    if (node === null || node === undefined) return null;
    if (isAlias(node)) return this.#convertAlias(node.source, depth);
    this.#noteAnchor(node);
    if (isScalar(node)) return scalar(node.value, node.source);
    if (isSeq(node)) return node.items.map((item) => this.convert(item, depth + 1));
    if (isMap(node)) return this.#convertMap(node.items, depth);
    throw new YamlError("yaml: cannot be read as JSON");
  }

  /** Aliases repeat what they name: the more of a document they make up, the sooner it is refused. */
  #count(): void {
    this.#nodes += 1;
    if (this.#aliases > 0) this.#aliased += 1;
    const isMuch = this.#aliased > 100 && this.#nodes > 1_000;
    if (isMuch && this.#aliased / this.#nodes > aliasShareMax(this.#nodes)) {
      throw new YamlError("yaml: document contains excessive aliasing");
    }
  }

  #noteAnchor(node: unknown): void {
    if (!isScalar(node) && !isSeq(node) && !isMap(node)) return;
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
  }

  #convertAlias(anchor: string, depth: number): MutableJson {
    const named = this.#anchors.get(anchor);
    if (named === undefined) throw new YamlError(`yaml: unknown anchor '${anchor}' referenced`);
    this.#aliases += 1;
    try {
      return this.convert(named, depth + 1);
    } finally {
      this.#aliases -= 1;
    }
  }

  #convertMap(items: readonly unknown[], depth: number): MutableJsonObject {
    const object: MutableJsonObject = {};
    const own = new Set<string>();
    for (const item of items) {
      if (!isPair(item)) continue;
      const key = keyText(item.key);
      if (key === "<<") {
        this.#merge(object, item.value, depth);
        continue;
      }
      if (own.has(key)) this.#noteDuplicate(item.key, key);
      own.add(key);
      setMember(object, key, this.convert(item.value, depth + 1));
    }
    return object;
  }

  /** A merge never wins over a key of the map itself, and keys come in any order. */
  #merge(object: MutableJsonObject, value: unknown, depth: number): void {
    const merged = this.convert(value, depth + 1);
    for (const one of Array.isArray(merged) ? merged : [merged]) {
      if (typeof one !== "object" || one === null || Array.isArray(one)) continue;
      if (one instanceof JsonNumber) continue;
      for (const [name, member] of Object.entries(one)) {
        if (!Object.hasOwn(object, name)) setMember(object, name, member);
      }
    }
  }

  #noteDuplicate(node: unknown, key: string): void {
    if (this.duplicates.length >= 100) return;
    const offset = isScalar(node) ? (node.range?.[0] ?? 0) : 0;
    const { line } = this.#lines.linePos(offset);
    this.duplicates.push(`line ${line}: key ${JSON.stringify(key)} already set in map`);
  }
}

/** Small documents may be made of aliases almost wholly, large ones for a tenth. */
function aliasShareMax(nodes: number): number {
  const [few, many] = [400_000, 4_000_000];
  if (nodes <= few) return 0.99;
  if (nodes >= many) return 0.1;
  return 0.99 - 0.89 * ((nodes - few) / (many - few));
}

function keyText(key: unknown): string {
  if (!isScalar(key)) throw new YamlError("yaml: a key must be a scalar");
  const { value } = key;
  if (typeof value === "string") return value;
  // A key that YAML 1.1 reads as something else is the text of that: `yes` is `true`.
  const isPlain =
    typeof value === "boolean" || typeof value === "number" || typeof value === "bigint";
  return isPlain ? String(value) : (key.source ?? "");
}

function scalar(value: unknown, source: string | undefined): MutableJson {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "bigint") {
    return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  }
  if (typeof value === "number") {
    if (!Number.isFinite(value))
      throw new YamlError(`yaml: ${source ?? "a number"} has no place in JSON`);
    // As Go writes a float that was read from YAML.
    return Number.isInteger(value) && Math.abs(value) >= 1e21
      ? new JsonNumber(value.toExponential())
      : value;
  }
  if (value instanceof Date) return source ?? value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  return source ?? "";
}
