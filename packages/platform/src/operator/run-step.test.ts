import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog, systemRandom } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";

import { StepError } from "../steps/step-error.ts";
import type { Step } from "../steps/step.ts";
import { appWith } from "../testing/index.ts";
import { Lanes } from "./lanes.ts";
import { Memories } from "./memory.ts";
import type { OperatorParts } from "./operator-parts.ts";
import { runStep, type StepWork } from "./run-step.ts";

test("a conflict is judged again when somebody has gone, once, and that is no other attempt", async (t) => {
  let [tries, departures] = [0, 0];
  const step: Step = {
    resourceType: "database",
    condition: "DatabaseReady",
    service: "sql",
    owns: [],
    kinds: [],
    isOn: () => true,
    gatesImage: () => false,
    children: () => [],
    sentence: () => "it is there",
    reconcile: () => {
      tries += 1;
      return Promise.reject(new StepError("Conflict", "it is somebody else's"));
    },
    cleanup: () => Promise.resolve({}),
  };
  const clock = new ManualClock();
  // What a step that fails has to do with.
  const parts = {
    clock,
    random: systemRandom,
    log: silentLog,
    lanes: new Lanes({ workers: 2, call: () => undefined }),
    takeWrites: () => [],
    children: { areUntouched: () => true },
    departures: {
      get count() {
        return departures;
      },
    },
  } as unknown as OperatorParts;
  const work = {
    step,
    key: "Application default/shop",
    app: appWith({ database: { enabled: true } }),
    memory: new Memories().of("default/shop", "1"),
    stamp: "1",
    adopts: false,
    policy: "Delete",
  } as unknown as StepWork & { readonly step: Step };
  const seen: unknown[] = [];
  const look = async (): Promise<void> => {
    const { attempts, isFresh } = await runStep(parts, work, t.signal);
    seen.push([tries, attempts, isFresh]);
  };
  await look();
  await look();
  departures += 1;
  await look();
  await look();
  await clock.advance(30_000);
  await look();
  assert.deepEqual(seen, [
    [1, 1, true],
    [1, 1, false],
    [2, 1, false],
    [2, 1, false],
    [3, 2, true],
  ]);
});
