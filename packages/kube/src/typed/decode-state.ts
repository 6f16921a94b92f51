// Where a decoder is, and what it has found out so far.

import { quote } from "../go-text/quote.ts";
import { TypedDecodeError } from "./decode-error.ts";

/** Keys that the text of a body says twice, as `readJsonReport` tells them. */
export interface DuplicateKeys {
  readonly duplicates: readonly string[];
  readonly membersBefore: readonly number[];
}

/** How many unknown and duplicate fields are named. */
const problemsMax = 100;

/** A field as messages call it. */
export interface FieldName {
  /** Its JSON name. */
  readonly name: string;
  /** The Go names of the embedded structs between it and its struct, then its JSON name: `VolumeSource.nfs`. */
  readonly goPath: string;
  /** The Go name of the struct whose JSON it stands in. */
  readonly structName: string;
}

/** A key said twice, and how many other keys stood before the second time. */
interface Duplicate {
  readonly key: string;
  readonly path: string;
  readonly membersBefore: number;
}

const none: DuplicateKeys = { duplicates: [], membersBefore: [] };

/** As `readJsonReport` shows a long key. */
function shortened(key: string): string {
  return key.length <= 200 ? key : `${key.slice(0, 200)}…`;
}

/** A step from the root: into a field, an item of a list, or a value of a map. */
type Step = FieldName | number | string;

/** One decoding: it goes on after a wrong type, as Go does, because a later problem may matter more. */
export class DecodeState {
  readonly unknown: string[] = [];
  /** What a strict decoder says, in its order. */
  readonly problems: string[] = [];
  readonly #duplicates: ReadonlyMap<string, number> | undefined;
  /** The steps to here. Whoever adds one takes it away. */
  readonly steps: Step[] = [];
  late: TypedDecodeError | undefined;
  #first: TypedDecodeError | undefined;

  constructor({ duplicates, membersBefore }: DuplicateKeys = none) {
    if (duplicates.length === 0) return;
    this.#duplicates = new Map(duplicates.map((path, at) => [path, membersBefore[at] ?? 0]));
  }

  /** Notes a field that no struct has. */
  noteUnknown(key: string): void {
    if (this.problems.length >= problemsMax) return;
    const path = this.#path();
    const unknown = (path === "" ? key : `${path}.${key}`).toWellFormed();
    this.unknown.push(unknown);
    this.problems.push(`unknown field ${quote(unknown)}`);
  }

  /** Of the keys of the object here, those said twice; undefined almost always. */
  duplicatesAmong(keys: readonly string[]): readonly Duplicate[] | undefined {
    if (this.#duplicates === undefined) return undefined;
    const path = this.#path(shortened);
    const found: Duplicate[] = [];
    for (const key of keys) {
      const whole = path === "" ? shortened(key) : `${path}.${shortened(key)}`;
      const membersBefore = this.#duplicates.get(whole);
      if (membersBefore !== undefined) found.push({ key, path: whole, membersBefore });
    }
    if (found.length === 0) return undefined;
    // In the order of the text, for those that follow the same member.
    const order = [...this.#duplicates.keys()];
    return found.sort((a, b) => order.indexOf(a.path) - order.indexOf(b.path));
  }

  /** Notes those that were said again between the member before `index` and the one there. */
  noteDuplicates(duplicates: readonly Duplicate[], index: number): void {
    for (const { path, membersBefore } of duplicates) {
      if (membersBefore !== index || this.problems.length >= problemsMax) continue;
      this.problems.push(`duplicate field ${quote(path)}`);
    }
  }

  /** Notes a value of the wrong type; the first of them counts, unless something worse follows. */
  noteMismatch(value: string, type: string): void {
    this.#first ??= this.mismatch({ value, type, field: "" });
  }

  /** Notes a text that is wrong in itself. */
  noteProblem(message: string): void {
    this.#first ??= new TypedDecodeError(message);
  }

  /** Notes what Go finds out only after it has decoded everything. */
  noteLate(error: TypedDecodeError): void {
    this.late ??= error;
  }

  /** The error for a wrong type here. `field` is the path inside a value that was decoded on its own. */
  mismatch({
    value,
    type,
    field,
  }: {
    readonly value: string;
    readonly type: string;
    readonly field: string;
  }): TypedDecodeError {
    let struct = "";
    const fields: string[] = [];
    for (const step of this.steps) {
      if (typeof step !== "object") continue;
      struct = step.structName;
      fields.push(step.goPath);
    }
    if (field !== "") fields.push(field);
    return new TypedDecodeError({ value, type, struct, field: fields.join(".") });
  }

  throwFirst(): void {
    if (this.#first !== undefined) throw this.#first;
  }

  #path(shown: (key: string) => string = (key) => key): string {
    let path = "";
    for (const step of this.steps) {
      if (typeof step === "number") {
        path += `[${step}]`;
        continue;
      }
      const name = shown(typeof step === "string" ? step : step.name);
      path += path === "" ? name : `.${name}`;
    }
    return path;
  }
}
