// What a differential case is: a function that talks to a server, told which one by nothing.

import type { Lab } from "./lab.ts";

/** Sends requests to whatever server the lab belongs to. Its answers are recorded by the lab and compared later. */
export type Script = (lab: Lab) => Promise<void>;

export interface Case {
  /** `watches: a label that goes is a DELETED`: the file's subject and a sentence. */
  readonly name: string;
  readonly run: Script;
}

/** The cases of one subject. */
export function casesOf(
  subject: string,
  scripts: Readonly<Record<string, Script>>,
): readonly Case[] {
  return Object.entries(scripts).map(([sentence, run]) => ({
    name: `${subject}: ${sentence}`,
    run,
  }));
}

/** The same script for each row: `%` in the sentence is the row's name. */
export function casesFor<Row>(
  rows: Readonly<Record<string, Row>>,
  sentence: string,
  run: (lab: Lab, row: Row) => Promise<void>,
): Readonly<Record<string, Script>> {
  return Object.fromEntries(
    Object.entries(rows).map(([name, row]) => [
      sentence.replace("%", name),
      async (lab: Lab): Promise<void> => await run(lab, row),
    ]),
  );
}
