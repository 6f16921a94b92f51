// Every case of some tables, one after the other, as a test.

import { loadBuiltinKinds, type BuiltinKind } from "@keelson/kube";

import { oracleTest, runTrials, type Laboratory, type Trial } from "../differential.ts";
import type { KindCases } from "./cases.ts";
import { Runner, stepsOf } from "./run.ts";

export interface CasesByHand {
  readonly tables: readonly KindCases[];
  readonly open: () => Promise<Laboratory>;
  /** What of a trial is compared; all of it if nothing is said. */
  readonly compared?: (trial: Trial) => Trial;
}

/** A test over every case of the tables; `ORACLE_KIND` names the kinds to which it is narrowed. */
export function testCasesByHand({ tables, open, compared = (trial) => trial }: CasesByHand): void {
  oracleTest("cases by hand are judged as the real server does", async (t) => {
    const laboratory = await open();
    const kinds = await loadBuiltinKinds();
    const find = (name: string): BuiltinKind => {
      const [group = "", version = "", kind = ""] = name.split("/");
      const found = kinds.find({ group, version, kind });
      if (found === undefined) throw new Error(`no kind ${name}`);
      return found;
    };
    const only = process.env["ORACLE_KIND"]?.split(",");
    const steps = stepsOf(tables, find).filter(({ kind }) => only?.includes(kind.kind) ?? true);
    const runner = new Runner(laboratory, kinds);
    const report = await runTrials(
      { title: "cases", seed: 0, count: steps.length, concurrency: 8 },
      async (_random, index, signal) => {
        const step = steps[index];
        if (step === undefined) throw new RangeError(`no step ${index}`);
        return compared(await runner.run(step, signal));
      },
      t.signal,
    );
    t.diagnostic(`\n${report.toString()}`);
    report.assertExplained();
  });
}
