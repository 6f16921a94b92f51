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
import { FieldErrorList } from "../../status/field-error-list.ts";

/**
 * A place in an object. All places of one object share one list of errors, in the order in which they are found. The path is
 * put together only when something is wrong there, which is rare. The list keeps what can be told and one error more, so
 * that no rule fills memory: add to it through a place.
 */
export class Place {
  readonly #found: FieldErrorList;
  readonly #parent: Place | undefined;
  readonly #step: string | number;

  private constructor(found: FieldErrorList, parent: Place | undefined, step: string | number) {
    this.#found = found;
    this.#parent = parent;
    this.#step = step;
  }

  /** A member of the object itself; with its own list of errors. */
  static root(name: string, errors: FieldError[] = []): Place {
    return new Place(new FieldErrorList(errors), undefined, name);
  }

  child(name: string): Place {
    return new Place(this.#found, this, name);
  }

  item(index: number): Place {
    return new Place(this.#found, this, index);
  }

  /** The entry of a map. */
  key(key: string): Place {
    return new Place(this.#found, this, `[${key}]`);
  }

  /** The same place, with a list of its own: for what is only tried. */
  aside(): Place {
    return new Place(new FieldErrorList([]), this.#parent, this.#step);
  }

  get errors(): FieldError[] {
    return this.#found.errors;
  }

  /** Whether nothing more can be told, so that a rule with much to say may stop. */
  get isFull(): boolean {
    return this.#found.isFull;
  }

  /** Errors that were found elsewhere. */
  add(errors: Iterable<FieldError>): void {
    for (const error of errors) this.#found.add(() => error);
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
    this.#found.add(() => requiredField(this.path, detail));
  }

  invalid(value: Json, detail: string): void {
    this.#found.add(() => invalidField(this.path, value, detail));
  }

  /** One error for each problem. */
  invalidEach(value: Json, problems: Problems): void {
    for (const problem of problems) this.invalid(value, problem);
  }

  /** A value that the message shows in other words than its JSON. */
  invalidShown(shown: string, detail: string): void {
    this.#found.add(() => invalidShownField(this.path, shown, detail));
  }

  /** A value that the message does not show. */
  invalidUnshown(detail: string): void {
    this.#found.add(() => ({ type: "FieldValueInvalid", field: this.path, detail }));
  }

  forbidden(detail: string): void {
    this.#found.add(() => forbiddenField(this.path, detail));
  }

  duplicate(value: Json): void {
    this.#found.add(() => duplicateField(this.path, value));
  }

  duplicateWord(word: string): void {
    this.duplicateShown(goJsonString(word));
  }

  duplicateShown(shown: string, detail = ""): void {
    this.#found.add(() => ({ type: "FieldValueDuplicate", field: this.path, shown, detail }));
  }

  notFound(value: Json, detail = ""): void {
    this.#found.add(() => ({ ...notFoundField(this.path, value), detail }));
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
    this.#found.add(() => notSupportedField(this.path, text, supported));
  }

  notSupportedShown(shown: string, supported: readonly string[]): void {
    this.#found.add(() => {
      const { value: _value, ...error } = notSupportedField(this.path, "", supported);
      return { ...error, shown };
    });
  }

  tooLong(bytesMax: number): void {
    this.#found.add(() => tooLongField(this.path, bytesMax));
  }

  tooMany(count: number, countMax: number): void {
    this.#found.add(() => tooManyField(this.path, count, countMax));
  }

  internal(detail: string): void {
    this.#found.add(() => internalField(this.path, detail));
  }
}
