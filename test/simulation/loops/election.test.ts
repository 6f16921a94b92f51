// Elections, over seeds: never two fenced writers, never two leaders unless one was stopped, always one in the end.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { simulateElection, simulateHandOver } from "./simulate-election.ts";

const rounds = Number(process.env["LOOPS_ROUNDS"] ?? 20);
/** Every round of every seed is another world; the gate has always the same ones. */
const seed = process.env["LOOPS_SEED"] ?? "gate";

suite("simulated election", () => {
  test(`${rounds} rounds keep writers apart, and meet everything they are meant to meet`, async () => {
    const met = new Set<string>();
    for (let round = 1; round <= rounds; round++) {
      const run = await simulateElection(`${seed}-${round}`);
      assert.deepEqual(run.problems, [], `seed ${run.seed}`);
      for (const sign of run.met) met.add(sign);
    }
    assert.deepEqual(
      wanted.filter((sign) => !met.has(sign)),
      [],
    );
  });

  test("after a clean stop another leads within two seconds", async () => {
    const pauses: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      pauses.push(await simulateHandOver(`${seed}-stop-${round}`));
    }
    assert.ok(Math.max(...pauses) < 2_000, `${pauses.join(", ")} ms`);
  });

  test("a planted bug is found: writes without a look at the token", async () => {
    for (let round = 1; round <= 200; round++) {
      const { problems } = await simulateElection(`plant-${round}`, { isUnfenced: true });
      if (problems.length > 0) return;
    }
    assert.fail("nobody noticed");
  });
});

/** A simulation in which these never happen would prove nothing of them. */
const wanted = [
  "led",
  "wrote",
  "fenced",
  "stopped",
  "cut",
  "wall",
  "killed",
  "asked to stop",
  "lease deleted",
];
