// How long a user waits after `keelson up`: the first time, and every other time.

import { KeelsonProcess, temporaryFolder } from "../test/e2e/keelson-process.ts";
import { median } from "./measure.ts";
import { judged, type Row } from "./report.ts";
import { numberOf, type Run } from "./suite.ts";

const coldGoalS = 5;
const warmGoalS = 2;

/** Rows: seconds from starting the process to `/readyz` answering, cold and warm; and to an end after SIGTERM. */
export async function bench(run: Run): Promise<readonly Row[]> {
  const rounds = numberOf(run, "rounds", run.isQuick ? 1 : 5);
  const cold: number[] = [];
  const warm: number[] = [];
  const stop: number[] = [];
  for (let round = 0; round < rounds; round++) {
    run.signal.throwIfAborted();
    run.say(`round ${round + 1} of ${rounds}`);
    await using folder = await temporaryFolder();
    for (const measured of [cold, warm]) {
      const { startedS, stoppedS } = await startAndStop(folder.path, run.signal);
      measured.push(startedS);
      stop.push(stoppedS);
    }
  }
  return [
    judged(
      { name: "start, cold, to ready", value: median(cold), unit: "s" },
      { atMost: coldGoalS },
    ),
    judged(
      { name: "start, warm, to ready", value: median(warm), unit: "s" },
      { atMost: warmGoalS },
    ),
    judged({ name: "stop, idle", value: median(stop), unit: "s" }),
  ];
}

async function startAndStop(
  dataDir: string,
  signal: AbortSignal,
): Promise<{ startedS: number; stoppedS: number }> {
  const begun = performance.now();
  await using keelson = new KeelsonProcess(dataDir);
  const { rest = "" } = await keelson.ready(signal);
  const { status } = await fetch(`${rest}/readyz`, { signal });
  if (status !== 200) throw new Error(`/readyz answered ${status}`);
  const ready = performance.now();
  await keelson.stop();
  return { startedS: (ready - begun) / 1_000, stoppedS: (performance.now() - ready) / 1_000 };
}
