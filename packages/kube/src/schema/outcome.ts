// What one step of validation found.

import { childPath, toldErrorsMax, toldTextMax, type FieldError } from "../status/field-error.ts";

/** Something wrong, before it is known where the validated value stands. */
export interface Problem {
  /** The sentence of the validator, by which problems are told apart. */
  readonly message: string;
  /** Where below the validated value; empty for the value itself. */
  readonly name: string;
  readonly at: (path: string) => FieldError;
  /** It names no field: it is reported at the validated value, whatever it is about. */
  readonly isGeneral?: true;
}

/**
 * Problems, each once, and how many checks were made: the alternative with most is what the user meant. Of very many
 * problems it keeps more than are told.
 */
export class Outcome {
  readonly problems: Problem[] = [];
  matches = 0;
  /** The messages, once there are more than a few. */
  #messages: Set<string> | undefined;
  #length = 0;

  /** Whether it has more problems than are told: nothing more need be looked at. */
  get isFull(): boolean {
    const { length } = this.problems;
    return length > toldErrorsMax || (length > 1 && this.#length > textMax);
  }

  add(problem: Problem): void {
    if (this.isFull) return;
    if (this.#has(problem.message)) return;
    this.#messages?.add(problem.message);
    this.problems.push(problem);
    this.#length += problem.message.length;
  }

  addAll(problems: readonly Problem[]): void {
    for (const problem of problems) this.add(problem);
  }

  merge(other: Outcome): void {
    if (other.problems.length > 0) this.addAll(other.problems);
    this.matches += other.matches;
  }

  /** Drops the problems; the checks were made all the same. */
  forgive(): void {
    this.problems.length = 0;
    this.#messages = undefined;
    this.#length = 0;
  }

  /** A set reads the whole of each message: too much for the many outcomes that have one or two. */
  #has(message: string): boolean {
    if (this.problems.length < fewProblems) {
      return this.problems.some((problem) => problem.message === message);
    }
    this.#messages ??= new Set(this.problems.map((problem) => problem.message));
    return this.#messages.has(message);
  }

  /** The problems as errors of fields below `base`. */
  toFieldErrors(base: string): FieldError[] {
    return this.problems.map((problem) => {
      const { name } = problem;
      if (problem.isGeneral === true || name === "" || name === ".") return problem.at(base);
      return problem.at(childPath(base, name.startsWith(".") ? name.slice(1) : name));
    });
  }
}

/** Errors say it in other words than their problems, but not in so much fewer that all of them could be told. */
const textMax = 4 * toldTextMax;

const fewProblems = 8;
