// YAML bodies as Go's sigs.k8s.io/yaml reads them: YAML 1.1, then JSON.

import { JsonNumber, setMember, type MutableJson, type MutableJsonObject } from "@keelson/base";
import { quote } from "@keelson/kube";
import {
  EVENT_ID,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  YAMLException,
  type Event,
  type ScalarEvent,
} from "js-yaml";

import { BadScalar, scalarValue } from "./yaml-scalars.ts";

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
const duplicatesMax = 100;

/**
 * Reads the first document. Throws a `YamlError`. Its time is linear in the text: aliases may not blow it up, nor
 * depth overflow the stack.
 */
export function readYaml(text: string): YamlReport {
  const reader = new Reader(text, eventsOf(text));
  try {
    return { value: reader.document(), duplicates: reader.duplicates };
  } catch (error) {
    if (!(error instanceof BadScalar)) throw error;
    throw new YamlError(error.message, { cause: error });
  }
}

function eventsOf(text: string): readonly Event[] {
  try {
    return parseEvents(text, { maxDepth: depthMax });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const line = error.mark === undefined ? "" : `line ${error.mark.line + 1}: `;
    throw new YamlError(`yaml: ${line}${error.reason}`, { cause: error });
  }
}

/** Walks the events of a document once; those that an alias names, again. */
class Reader {
  readonly duplicates: string[] = [];
  readonly #text: string;
  readonly #events: readonly Event[];
  /** Where the node begins that each anchor last stood for, in the order of the text. */
  readonly #anchors = new Map<string, number>();
  #counted = { offset: 0, line: 1 };
  #at = 0;
  #nodes = 0;
  #aliased = 0;
  /** How many aliases the present node is inside of. */
  #aliases = 0;

  constructor(text: string, events: readonly Event[]) {
    this.#text = text;
    this.#events = events;
  }

  document(): MutableJson {
    if (this.#events[this.#at]?.type !== EVENT_ID.DOCUMENT) return null;
    this.#at += 1;
    return this.#events[this.#at]?.type === EVENT_ID.POP ? null : this.#node(0);
  }

  /** The node that begins here, and goes behind it. */
  #node(depth: number): MutableJson {
    if (depth > depthMax) throw new YamlError(`yaml: exceeded max depth of ${depthMax}`);
    this.#count();
    const event = this.#events[this.#at];
    if (event === undefined) throw new YamlError("yaml: unexpected end");
    switch (event.type) {
      case EVENT_ID.SCALAR:
        this.#noteAnchor(event);
        this.#at += 1;
        return this.#scalar(event);
      case EVENT_ID.SEQUENCE:
        this.#noteAnchor(event);
        this.#at += 1;
        return this.#sequence(depth);
      case EVENT_ID.MAPPING:
        this.#noteAnchor(event);
        this.#at += 1;
        return this.#mapping(depth);
      case EVENT_ID.ALIAS:
        this.#at += 1;
        return this.#alias(this.#text.slice(event.anchorStart, event.anchorEnd), depth);
      case EVENT_ID.DOCUMENT:
      case EVENT_ID.POP:
        throw new YamlError("yaml: unexpected end of a collection");
    }
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

  #noteAnchor({ anchorStart, anchorEnd }: { anchorStart: number; anchorEnd: number }): void {
    if (anchorStart >= 0) this.#anchors.set(this.#text.slice(anchorStart, anchorEnd), this.#at);
  }

  #scalar(event: ScalarEvent): MutableJson {
    const { tagStart, tagEnd, style } = event;
    const tag = tagStart < 0 ? "" : this.#text.slice(tagStart, tagEnd);
    const isPlain = style === SCALAR_STYLE.PLAIN;
    return scalarValue(getScalarValue(this.#text, event), { tag, isPlain });
  }

  #sequence(depth: number): MutableJson[] {
    const items: MutableJson[] = [];
    while (this.#events[this.#at]?.type !== EVENT_ID.POP) items.push(this.#node(depth + 1));
    this.#at += 1;
    return items;
  }

  #mapping(depth: number): MutableJsonObject {
    const object: MutableJsonObject = {};
    this.#fill(object, depth);
    return object;
  }

  /** Puts the members of the mapping that is open here into an object; the last of a name counts. */
  #fill(object: MutableJsonObject, depth: number): void {
    while (this.#events[this.#at]?.type !== EVENT_ID.POP) {
      if (this.#isMerge()) {
        this.#at += 1;
        this.#merge(object, depth + 1);
        continue;
      }
      const said = this.#node(depth + 1);
      if (said === null) throw noKey(this.#node(depth + 1));
      const key = keyText(said);
      if (Object.hasOwn(object, key)) this.#noteDuplicate(key);
      setMember(object, key, this.#node(depth + 1));
    }
    this.#at += 1;
  }

  #isMerge(): boolean {
    const event = this.#events[this.#at];
    return (
      event?.type === EVENT_ID.SCALAR &&
      event.style === SCALAR_STYLE.PLAIN &&
      event.valueEnd - event.valueStart === 2 &&
      this.#text.startsWith("<<", event.valueStart)
    );
  }

  /** Puts the members of the mapping that begins here, or of each in a sequence, into an object. */
  #merge(object: MutableJsonObject, depth: number): void {
    this.#count();
    const event = this.#events[this.#at];
    if (depth > depthMax) throw new YamlError(`yaml: exceeded max depth of ${depthMax}`);
    if (event?.type === EVENT_ID.MAPPING) {
      this.#noteAnchor(event);
      this.#at += 1;
      this.#fill(object, depth);
    } else if (event?.type === EVENT_ID.ALIAS) {
      this.#at += 1;
      this.#through(this.#text.slice(event.anchorStart, event.anchorEnd), () => {
        if (this.#events[this.#at]?.type !== EVENT_ID.MAPPING) throw noMap();
        this.#merge(object, depth + 1);
      });
    } else if (event?.type === EVENT_ID.SEQUENCE) {
      this.#noteAnchor(event);
      this.#mergeAll(object, depth);
    } else throw noMap();
  }

  /** From the last to the first, so that earlier ones count. */
  #mergeAll(object: MutableJsonObject, depth: number): void {
    const begins: number[] = [];
    for (this.#at += 1; this.#events[this.#at]?.type !== EVENT_ID.POP; this.#skip()) {
      if (this.#events[this.#at]?.type === EVENT_ID.SEQUENCE) throw noMap();
      begins.push(this.#at);
    }
    const end = this.#at + 1;
    for (const begin of begins.toReversed()) {
      this.#at = begin;
      this.#merge(object, depth + 1);
    }
    this.#at = end;
  }

  /** Goes behind the node that begins here. */
  #skip(): void {
    let open = 0;
    do {
      const type = this.#events[this.#at]?.type;
      if (type === EVENT_ID.SEQUENCE || type === EVENT_ID.MAPPING) open += 1;
      else if (type === EVENT_ID.POP) open -= 1;
      else if (type === undefined) return;
      this.#at += 1;
    } while (open > 0);
  }

  #alias(anchor: string, depth: number): MutableJson {
    return this.#through(anchor, () => this.#node(depth + 1));
  }

  /** Reads from where an anchor stands, and comes back. */
  #through<Read>(anchor: string, read: () => Read): Read {
    const begin = this.#anchors.get(anchor);
    if (begin === undefined) throw new YamlError(`yaml: unknown anchor '${anchor}' referenced`);
    const back = this.#at;
    this.#aliases += 1;
    try {
      this.#at = begin;
      return read();
    } finally {
      this.#at = back;
      this.#aliases -= 1;
    }
  }

  /** It is told where the value begins. */
  #noteDuplicate(key: string): void {
    if (this.duplicates.length >= duplicatesMax) return;
    const line = this.#lineAt(startOf(this.#events[this.#at]));
    this.duplicates.push(`line ${line}: key ${quote(key)} already set in map`);
  }

  /** Counted on from where it was last asked for. */
  #lineAt(offset: number): number {
    if (offset < this.#counted.offset) this.#counted = { offset: 0, line: 1 };
    let { line } = this.#counted;
    let found = this.#text.indexOf("\n", this.#counted.offset);
    for (; found >= 0 && found < offset; found = this.#text.indexOf("\n", found + 1)) line += 1;
    this.#counted = { offset, line };
    return line;
  }
}

function noMap(): YamlError {
  return new YamlError("yaml: map merge requires map or sequence of maps as the value");
}

function startOf(event: Event | undefined): number {
  if (event === undefined) return 0;
  if ("valueStart" in event) return event.valueStart;
  if ("start" in event) return event.start;
  return "anchorStart" in event ? event.anchorStart : 0;
}

/** Small documents may be made of aliases almost wholly, large ones for a tenth. */
function aliasShareMax(nodes: number): number {
  const [few, many] = [400_000, 4_000_000];
  if (nodes <= few) return 0.99;
  if (nodes >= many) return 0.1;
  return 0.99 - 0.89 * ((nodes - few) / (many - few));
}

/** A key that is nothing, in the words of what makes JSON of YAML. */
function noKey(value: MutableJson): YamlError {
  const shown = typeof value === "object" ? "" : `, value: ${JSON.stringify(value, bigintText)}`;
  return new YamlError(`unsupported map key of type: %!s(<nil>), key: <nil>${shown}`);
}

function bigintText(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

/** A key that YAML 1.1 reads as something else is the text of that: `yes` is `true`. */
function keyText(key: NonNullable<MutableJson>): string {
  if (typeof key === "string") return key;
  if (typeof key === "boolean" || typeof key === "number" || typeof key === "bigint") {
    return String(key);
  }
  if (key instanceof JsonNumber) return key.text;
  throw new YamlError("yaml: invalid map key");
}
