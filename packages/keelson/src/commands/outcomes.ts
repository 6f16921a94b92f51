// What is told of each thing that a command changes: a line for people, names, or all of it as one document in the end.

import type { Json } from "@keelson/base";
import { valueText, type Output } from "./output/formats.ts";
import type { Terminal } from "./terminal.ts";

/** Says what has become of a thing, or would. */
export type Tell = (name: string, outcome: string) => void;

/** Whether people read it. */
export function isForPeople(output: Output): boolean {
  return output === "table" || output === "wide";
}

/** Beside an answer of its own: people read both, programs only the answer. */
export function tellBeside(terminal: Terminal, output: Output): Tell {
  return (name, outcome) => {
    if (isForPeople(output)) terminal.write(`${name} ${outcome}\n`);
    else terminal.note(`${name} ${outcome}`);
  };
}

/** The answer itself. `end` writes what a document has to hold. */
export class Outcomes {
  readonly #terminal: Terminal;
  readonly #output: Output;
  readonly #told: { readonly name: string; readonly outcome: string }[] = [];

  constructor(terminal: Terminal, output: Output) {
    this.#terminal = terminal;
    this.#output = output;
  }

  readonly tell: Tell = (name, outcome) => {
    const isNew = this.#told.every((one) => one.name !== name);
    this.#told.push({ name, outcome });
    if (isForPeople(this.#output)) this.#terminal.write(`${name} ${outcome}\n`);
    else if (this.#output === "name" && isNew) this.#terminal.write(`${name}\n`);
  };

  async end(): Promise<void> {
    if (this.#output !== "json" && this.#output !== "yaml") return;
    const results = this.#told as unknown as Json;
    this.#terminal.write(await valueText({ results }, this.#output));
  }
}
