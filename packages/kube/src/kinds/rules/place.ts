// Where a rule looks, and where it says what it finds.

import type { Json } from "@keelson/base";

import { goJson, goJsonString } from "../../go-text/go-json.ts";
import type { Problems } from "../../object/names.ts";
import {
  duplicateField,
  forbiddenField,
  internalField,
  invalidField,
  invalidShownField,
  notFoundField,
  notSupportedField,
  requiredField,
  tooLongField,
  tooManyField,
  type FieldError,
} from "../../status/field-error.ts";

/**
 * A place in an object. All places of one object share one list of errors, in the order in which they are found. The path is
 * put together only when something is wrong there, which is rare.
 */
export class Place {
  readonly errors: FieldError[];
  readonly #parent: Place | undefined;
  readonly #step: string | number;

  private constructor(errors: FieldError[], parent: Place | undefined, step: string | number) {
    this.errors = errors;
    this.#parent = parent;
    this.#step = step;
  }

  /** A member of the object itself; with its own list of errors. */
  static root(name: string, errors: FieldError[] = []): Place {
    return new Place(errors, undefined, name);
  }

  child(name: string): Place {
    return new Place(this.errors, this, name);
  }

  item(index: number): Place {
    return new Place(this.errors, this, index);
  }

  /** The entry of a map. */
  key(key: string): Place {
    return new Place(this.errors, this, `[${key}]`);
  }

  /** The same place, with a list of its own: for what is only tried. */
  aside(): Place {
    return new Place([], this.#parent, this.#step);
  }

  /** `spec.containers[0].name`. */
  get path(): string {
    const step = this.#step;
    if (this.#parent === undefined) return String(step);
    const above = this.#parent.path;
    if (typeof step === "number") return `${above}[${step}]`;
    if (step.startsWith("[")) return above + step;
    return above === "" ? step : `${above}.${step}`;
  }

  required(detail = ""): void {
    this.errors.push(requiredField(this.path, detail));
  }

  invalid(value: Json, detail: string): void {
    this.errors.push(invalidField(this.path, value, detail));
  }

  /** One error for each problem. */
  invalidEach(value: Json, problems: Problems): void {
    for (const problem of problems) this.invalid(value, problem);
  }

  /** A value that the message shows in other words than its JSON. */
  invalidShown(shown: string, detail: string): void {
    this.errors.push(invalidShownField(this.path, shown, detail));
  }

  /** A value that the message does not show. */
  invalidUnshown(detail: string): void {
    this.errors.push({ type: "FieldValueInvalid", field: this.path, detail });
  }

  forbidden(detail: string): void {
    this.errors.push(forbiddenField(this.path, detail));
  }

  duplicate(value: Json): void {
    this.errors.push(duplicateField(this.path, value));
  }

  duplicateWord(word: string): void {
    this.duplicateShown(goJsonString(word));
  }

  duplicateShown(shown: string, detail = ""): void {
    this.errors.push({ type: "FieldValueDuplicate", field: this.path, shown, detail });
  }

  notFound(value: Json, detail = ""): void {
    this.errors.push({ ...notFoundField(this.path, value), detail });
  }

  /** A word of a type of its own in Go, or one that may be absent: messages show such words as JSON. */
  invalidWord(word: string, detail: string): void {
    this.invalidShown(goJsonString(word), detail);
  }

  /** One error for each problem. */
  invalidWordEach(word: string, problems: Problems): void {
    for (const problem of problems) this.invalidWord(word, problem);
  }

  /** A value, mostly a word, that is not of a closed set. */
  notSupported(value: Json, supported: readonly string[]): void {
    this.notSupportedShown(goJson(value), supported);
  }

  /** The same where the field is a plain text to Go. */
  notSupportedText(text: string, supported: readonly string[]): void {
    this.errors.push(notSupportedField(this.path, text, supported));
  }

  notSupportedShown(shown: string, supported: readonly string[]): void {
    const { detail } = notSupportedField(this.path, "", supported);
    this.errors.push({ type: "FieldValueNotSupported", field: this.path, shown, detail });
  }

  tooLong(bytesMax: number): void {
    this.errors.push(tooLongField(this.path, bytesMax));
  }

  tooMany(count: number, countMax: number): void {
    this.errors.push(tooManyField(this.path, count, countMax));
  }

  internal(detail: string): void {
    this.errors.push(internalField(this.path, detail));
  }
}
