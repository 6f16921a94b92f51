// Where a decoder is, and what it has found out so far.

import { TypedDecodeError } from "./decode-error.ts";

/** How many unknown fields are named. */
export const problemsMax = 100;

/** A field as messages call it. */
export interface FieldName {
  /** Its JSON name. */
  readonly name: string;
  /** The Go names of the embedded structs between it and its struct, then its JSON name: `VolumeSource.nfs`. */
  readonly goPath: string;
  /** The Go name of the struct whose JSON it stands in. */
  readonly structName: string;
}

/** A step from the root: into a field, an item of a list, or a value of a map. */
type Step = FieldName | number | string;

/** One decoding: it goes on after a wrong type, as Go does, because a later problem may matter more. */
export class DecodeState {
  readonly unknown: string[] = [];
  /** The steps to here. Whoever adds one takes it away. */
  readonly steps: Step[] = [];
  #first: TypedDecodeError | undefined;

  /** Notes a field that no struct has. */
  noteUnknown(key: string): void {
    if (this.unknown.length >= problemsMax) return;
    const path = this.#path();
    this.unknown.push(path === "" ? key : `${path}.${key}`);
  }

  /** Notes a value of the wrong type; the first of them counts, unless something worse follows. */
  noteMismatch(value: string, type: string): void {
    this.#first ??= this.mismatch({ value, type, field: "" });
  }

  /** Notes a text that is wrong in itself. */
  noteProblem(message: string): void {
    this.#first ??= new TypedDecodeError(message);
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

  #path(): string {
    let path = "";
    for (const step of this.steps) {
      if (typeof step === "number") {
        path += `[${step}]`;
        continue;
      }
      const name = typeof step === "string" ? step : step.name;
      path += path === "" ? name : `.${name}`;
    }
    return path;
  }
}
