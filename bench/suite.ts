// What a benchmark is, and how it is found by name.

import { globSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import type { Row } from "./report.ts";

/** What a benchmark is told. */
export interface Run {
  /** A look, not a measurement: everything smaller and shorter. */
  readonly isQuick: boolean;
  /** `--name value` pairs that the runner does not know: parameters of the benchmark. */
  readonly parameters: Given;
  /** Says what is going on, to whoever waits at the terminal. */
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Parameters, and which of them nobody wanted to know: a slip of the pen must not pass for a measurement. */
export class Given {
  readonly #values: ReadonlyMap<string, string>;
  readonly #unasked: Set<string>;

  constructor(values: ReadonlyMap<string, string>) {
    this.#values = values;
    this.#unasked = new Set(values.keys());
  }

  get unasked(): readonly string[] {
    return [...this.#unasked];
  }

  get(name: string): string | undefined {
    this.#unasked.delete(name);
    return this.#values.get(name);
  }
}

/** A benchmark's module exports one function of this shape, named `bench`. */
export type Bench = (run: Run) => Promise<readonly Row[]>;

export interface Suite {
  /** `store/writes`. */
  readonly name: string;
  readonly bench: Bench;
}

/**
 * The benchmarks of a name, in order: `start` is `start.ts`; `store` is every module directly in `store/` that
 * exports `bench`; `store/writes` is one of them. Modules that export no `bench` are theirs to share.
 */
export async function findSuites(folder: string, name: string): Promise<readonly Suite[]> {
  if (!/^[\w-]+(\/[\w-]+)?$/.test(name)) return [];
  const path = join(folder, name);
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const files = globSync(isFolder ? `${path}/*.ts` : `${path}.ts`).toSorted();
  const suites: Suite[] = [];
  for (const file of files.filter((file) => !file.endsWith(".test.ts"))) {
    const { bench } = (await import(pathToFileURL(file).href)) as { readonly bench?: Bench };
    if (typeof bench !== "function") continue;
    suites.push({ name: relative(folder, file).replace(/\.ts$/, ""), bench });
  }
  return suites;
}

/** The names that `findSuites` knows. */
export async function suiteNames(folder: string): Promise<readonly string[]> {
  const names = new Set<string>();
  for (const file of globSync("{*.ts,*/*.ts}", { cwd: folder }).toSorted()) {
    const [first = ""] = file.replace(/\.ts$/, "").split("/");
    if (names.has(first) || file.endsWith(".test.ts")) continue;
    // The runner's own modules, above all the one that runs now, are no benchmarks.
    if (["run.ts", "report.ts", "suite.ts", "measure.ts"].includes(file)) continue;
    if ((await findSuites(folder, first)).length > 0) names.add(first);
  }
  return [...names];
}

/** A parameter that is a number; `otherwise` unless it is given. */
export function numberOf(run: Run, name: string, otherwise: number): number {
  const text = run.parameters.get(name);
  if (text === undefined) return otherwise;
  const value = Number(text.replaceAll("_", ""));
  if (!Number.isFinite(value)) throw new TypeError(`--${name} takes a number, not ${text}`);
  return value;
}

/** What a parameter chooses of several; all of them unless it is given. */
export function chosenOf<Choice extends string>(
  run: Pick<Run, "parameters">,
  name: string,
  choices: readonly Choice[],
): readonly Choice[] {
  const text = run.parameters.get(name);
  if (text === undefined) return choices;
  const chosen = choices.filter((choice) => choice === text);
  if (chosen.length === 0)
    throw new TypeError(`--${name} is one of ${choices.join(", ")}, not ${text}`);
  return chosen;
}
