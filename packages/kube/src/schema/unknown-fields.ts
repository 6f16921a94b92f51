// What an object has that its schema does not know.

import { toldErrorsMax, toldTextMax } from "../status/field-error.ts";

/** Paths of unknown fields, as many as are told of errors: each is as long as all names above it together. */
export class UnknownFields {
  readonly paths: string[] = [];
  #length = 0;

  /** Notes a path if there is room for it; for the first there always is. */
  add(path: string): void {
    if (this.paths.length >= toldErrorsMax) return;
    this.#length += path.length;
    if (this.paths.length === 0 || this.#length <= toldTextMax) this.paths.push(path);
  }
}
