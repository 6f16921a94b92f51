// WATCH-2 and FAULT-1 through a host: the history checker judges what clients and watchers at the host's address saw of one server.
// KEELSON_TEST_SEED chooses when, KEELSON_TEST_LENGTH how much of it.

import { suite } from "node:test";

import { drivers } from "../../apiserver/ours.ts";
import { assertClean } from "../../apiserver/history/judged.ts";
import { killOverHttp, stallOverHttp } from "../../apiserver/history/rounds.ts";
import { measure } from "../../apiserver/scenarios/length.ts";
import { oracleTest } from "../../oracle/oracle-test.ts";
import { startBehind } from "./place-behind.ts";

const seed = process.env["KEELSON_TEST_SEED"] ?? "behind";
const kills = measure({ gate: 3, full: 1_000 });
const seconds = measure({ gate: 5, full: 60 });
/** Longer histories are several: each is judged when it is over, and then forgotten. */
const roundsOfHistory = 25;

suite(`histories through a host, seed ${seed}`, { concurrency: 1 }, () => {
  for (const driver of drivers) {
    oracleTest(`FAULT-1 ${kills} kills under load, ${driver}`, async (t) => {
      for (let done = 0; done < kills; done += roundsOfHistory) {
        const rounds = Math.min(roundsOfHistory, kills - done);
        const own = `${seed}.${driver}.${done}`;
        const options = { seed: own, rounds, driver, start: startBehind };
        assertClean(t, await killOverHttp(options, t.signal), own);
      }
    });

    oracleTest(`WATCH-2 2 % of commits stalled for 400 ms, ${seconds} s, ${driver}`, async (t) => {
      const options = { seed, seconds, driver, start: startBehind };
      assertClean(t, await stallOverHttp(options, t.signal), seed);
    });
  }
});
