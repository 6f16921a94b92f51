// The errors of one object, as they are found.

import { toldErrorsMax, toldTextMax, type FieldError } from "./field-error.ts";

/** A list of as many errors as can be told and one more, by which is seen that there are too many. */
export class FieldErrorList {
  readonly errors: FieldError[];
  #length: number;

  /** Goes on with the errors of another list. */
  constructor(errors: FieldError[]) {
    this.errors = errors;
    this.#length = 0;
    for (const error of errors.slice(0, toldErrorsMax + 1)) this.#length += lengthOf(error);
  }

  get isFull(): boolean {
    const { length } = this.errors;
    return length > toldErrorsMax || (length > 1 && this.#length > toldTextMax);
  }

  /** Adds the error, which is made only if there is room for it. */
  add(make: () => FieldError): void {
    if (this.isFull) return;
    const error = make();
    this.errors.push(error);
    this.#length += lengthOf(error);
  }
}

/** The texts that an error keeps alive. Its value is a part of the object, which is there anyway. */
function lengthOf({ field, shown = "", detail }: FieldError): number {
  return field.length + shown.length + detail.length;
}
