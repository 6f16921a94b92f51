// Reads the members of a body one by one and collects everything that is wrong, so that it is told at once.

import {
  isJsonObject,
  refuseProblems,
  validationFailed,
  type FieldProblem,
  type Json,
  type JsonObject,
} from "@keelson/base";
import { integerMax } from "./resource.ts";

/** A body, or one change of a batch. */
export class Fields {
  readonly problems: FieldProblem[] = [];
  readonly #members: JsonObject;
  readonly #known = new Set<string>();

  /** Throws a `RestError` for what is no object. */
  constructor(body: Json | undefined, what = "body") {
    if (!isJsonObject(body)) throw validationFailed({ field: what, message: "must be an object" });
    this.#members = body;
  }

  /** Whether the member is there at all. */
  has(name: string): boolean {
    return Object.hasOwn(this.#members, name);
  }

  /** The member as it was sent. */
  any(name: string): Json | undefined {
    this.#known.add(name);
    return Object.hasOwn(this.#members, name) ? this.#members[name] : undefined;
  }

  /** A text that `check` finds nothing wrong with; empty, and a problem, otherwise. */
  text(name: string, check: (text: string) => readonly string[]): string {
    const value = this.any(name);
    if (value === undefined) return this.#wrong(name, "is required");
    if (typeof value !== "string") return this.#wrong(name, "must be a text");
    if (value === "") return this.#wrong(name, "must not be empty");
    const [problem] = check(value);
    return problem === undefined ? value : this.#wrong(name, problem);
  }

  /** A text that may be missing. */
  optionalText(name: string, check: (text: string) => readonly string[]): string | undefined {
    return this.any(name) === undefined ? undefined : this.text(name, check);
  }

  /** A whole number from 1 on that the tables can hold. */
  optionalNumber(name: string): number | undefined {
    const value = this.any(name);
    if (value === undefined) return undefined;
    if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= integerMax) {
      return value;
    }
    this.#wrong(name, `must be a whole number from 1 to ${integerMax}`);
    return undefined;
  }

  optionalBoolean(name: string): boolean | undefined {
    const value = this.any(name);
    if (value === undefined || typeof value === "boolean") return value;
    this.#wrong(name, "must be true or false");
    return undefined;
  }

  optionalWord<const Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    const value = this.any(name);
    if (value === undefined) return undefined;
    const word = words.find((one) => one === value);
    if (word === undefined) this.#wrong(name, `must be one of ${words.join(", ")}`);
    return word;
  }

  /** Every member that nobody asked for is a problem: a misspelt policy must not be taken for none. */
  refuseOthers(): void {
    for (const name of Object.keys(this.#members)) {
      if (!this.#known.has(name)) this.#wrong(name, "is not a known field");
    }
  }

  /** Throws `VALIDATION_FAILED` if anything was wrong. */
  throwIfWrong(): void {
    refuseProblems(this.problems);
  }

  #wrong(field: string, message: string): "" {
    this.problems.push({ field, message });
    return "";
  }
}
