// That the checker can fail: every planted bug is found, by the name of the promise that it breaks.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { checkHistory, type Verdict } from "../checker.ts";
import { invariants } from "../checks/verdict.ts";
import { disturbPostgres } from "../processes/postgres-rounds.ts";
import { simulate, type SimulationOptions } from "../simulate.ts";
import { plant } from "./plant.ts";
import type { Mutant } from "./mutant.ts";
import { mutants } from "./table.ts";

/** How long the checker may look for a bug. */
const roundsMax = 60;
/** The same among processes, whose moments are the machine's: some rounds show nothing. */
const processRoundsMax = 10;

suite("planted bugs", () => {
  /** The rounds in which bugs were found: without them the same rounds must be clean. */
  const rounds: SimulationOptions[] = [];

  test("there is at least one for every invariant", () => {
    const covered = new Set(mutants.map(({ invariant }) => invariant));
    assert.deepEqual(
      invariants.filter((invariant) => !covered.has(invariant)),
      [],
    );
  });

  for (const mutant of mutants.filter(({ stage }) => stage === "simulation")) {
    test(`${mutant.invariant}: ${mutant.name}`, async () => {
      using planted = await plant(mutant.edits);
      const others = new Set<string>();
      for (let round = 1; round <= roundsMax; round++) {
        const options = { seed: `mutant-${round}`, ...mutant.circumstances };
        const { verdicts } = await simulate({ ...options, module: planted.module });
        for (const { invariant } of verdicts) others.add(invariant);
        if (!names(verdicts, mutant)) continue;
        rounds.push(options);
        return;
      }
      assert.fail(
        `${roundsMax} rounds did not show it; they showed ${[...others].join(", ") || "nothing"}`,
      );
    });
  }

  test("the store without them passes the same rounds", async () => {
    using planted = await plant([]);
    const { module } = planted;
    const unlike = new Map(rounds.map((options) => [JSON.stringify(options), options]));
    assert.ok(unlike.size > 0);
    for (const [text, options] of unlike)
      assert.deepEqual((await simulate({ ...options, module })).verdicts, [], text);
  });

  const onPostgres = mutants.filter(({ stage }) => stage === "postgresql");
  for (const mutant of onPostgres) {
    test(`${mutant.invariant}: ${mutant.name}, on PostgreSQL`, async () => {
      using planted = await plant(mutant.edits);
      let verdicts: readonly Verdict[] = [];
      for (let round = 1; round <= processRoundsMax && !names(verdicts, mutant); round++) {
        const options = { ...disturbance(mutant), seed: `mutant-${round}`, module: planted.url };
        verdicts = checkHistory(await disturbPostgres(options));
      }
      assert.ok(names(verdicts, mutant), JSON.stringify(verdicts.slice(0, 5)));
    });
  }

  test("the store without them passes the same rounds on PostgreSQL", async () => {
    using planted = await plant([]);
    for (const mutant of onPostgres) {
      const options = { ...disturbance(mutant), seed: "mutant-1", module: planted.url };
      const verdicts = checkHistory(await disturbPostgres(options));
      assert.deepEqual(verdicts, [], mutant.name);
    }
  });

  test("an edit that no longer fits is refused", async () => {
    const edit = { file: "store.ts", find: "no such text stands there", replace: "" };
    await assert.rejects(plant([edit]), /0 times/);
    await assert.rejects(plant([{ ...edit, find: "await" }]), /\d\d times/);
  });
});

/** What befalls a store on PostgreSQL in which a bug is planted. */
function disturbance({ misfortunes = [] }: Mutant) {
  return {
    flavour: "embedded",
    fsync: false,
    replicas: 2,
    misfortunes,
    rounds: 2 * misfortunes.length,
    stalls: misfortunes.length > 0 ? 0 : 0.3,
    peace: 40,
  } as const;
}

function names(verdicts: readonly Verdict[], { invariant }: Mutant): boolean {
  return verdicts.some((verdict) => verdict.invariant === invariant);
}
