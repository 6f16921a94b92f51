// The history checker of the store, through HTTP: kill -9 of the real process (FAULT-1), a PostgreSQL that restarts (FAULT-2),
// commits that stall (WATCH-2). KEELSON_TEST_SEED chooses when, KEELSON_TEST_ROUNDS how often, KEELSON_TEST_SECONDS for how long at most,
// KEELSON_TEST_LANES how many servers of a backend are killed side by side.

import { suite, test } from "node:test";

import { TaskScope } from "@keelson/base";

import { drivers } from "./ours.ts";
import { assertClean } from "./history/judged.ts";
import { disturbOverHttp, killOverHttp, killsIn, stallOverHttp } from "./history/rounds.ts";
import { concurrency, measure } from "./scenarios/length.ts";

const asked = process.env["KEELSON_TEST_ROUNDS"];
const seed = process.env["KEELSON_TEST_SEED"] ?? "history";
const kills = Number(asked ?? measure({ gate: 3, full: 1_000 }));
const restarts = Number(asked ?? measure({ gate: 2, full: 60 }));
const secondsMax = Number(process.env["KEELSON_TEST_SECONDS"] ?? Infinity);
const lanes = Number(process.env["KEELSON_TEST_LANES"] ?? 1);
const stallSeconds = measure({ gate: 5, full: 60 });
/** Longer histories are several: each is judged when it is over, and then forgotten. */
const roundsOfHistory = 25;

suite(`histories over HTTP, seed ${seed}`, { concurrency }, () => {
  for (const driver of drivers) {
    test(`FAULT-1 ${kills} kills under load, ${driver}: nothing acknowledged is lost, no change missed or told twice`, async (t) => {
      const deadline = performance.now() + secondsMax * 1_000;
      const isOver = (): boolean => performance.now() >= deadline;
      let [begun, done] = [0, 0];
      await using scope = new TaskScope(t.signal);
      const lane = async (signal: AbortSignal): Promise<void> => {
        while (begun < kills && !isOver()) {
          const own = `${seed}.${driver}.${begun}`;
          const rounds = Math.min(roundsOfHistory, kills - begun);
          begun += rounds;
          const history = await killOverHttp({ seed: own, rounds, driver, isOver }, signal);
          assertClean(t, history, own);
          done += killsIn(history);
        }
      };
      for (let index = 0; index < lanes; index += 1) scope.spawn(`lane ${index}`, lane);
      await scope.join();
      t.diagnostic(`${done} kills`);
    });

    test(`WATCH-2 twelve writers, 2 % of commits stalled for 400 ms, ${stallSeconds} s, ${driver}: every stream is whole`, async (t) => {
      const seconds = stallSeconds;
      assertClean(t, await stallOverHttp({ seed, seconds, driver }, t.signal), seed);
    });
  }

  test(`FAULT-2 two replicas on a PostgreSQL that restarts, with commits that stall, ${restarts} rounds`, async (t) => {
    for (let done = 0; done < restarts; done += roundsOfHistory) {
      const rounds = Math.min(roundsOfHistory, restarts - done);
      const own = `${seed}.${done}`;
      assertClean(t, await disturbOverHttp({ seed: own, rounds }, t.signal), own);
    }
  });
});
