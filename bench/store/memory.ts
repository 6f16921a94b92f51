// Ten million events with compaction: the process and its file must not grow.

import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { median } from "../measure.ts";
import { judged, type Row } from "../report.ts";
import { chosenOf, numberOf, type Run } from "../suite.ts";
import { backendNames, type BackendName, openPlace } from "./fixtures.ts";
import type { LongRunRequest, Sample } from "./programs/long-run.ts";

const program = fileURLToPath(new URL("./programs/long-run.ts", import.meta.url));

export async function bench(run: Run): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const name of chosenOf(run, "backend", backendNames)) {
    const whole = name === "sqlite" ? 10_000_000 : 1_000_000;
    const events = numberOf(run, "events", run.isQuick ? 100_000 : whole);
    await using place = await openPlace(name);
    const database = await place.prepare();
    const samples = await longRun(run, { name, database, events });
    rows.push(...judge(name, events, samples));
  }
  return rows;
}

/** Runs the writers in a process of their own, so that the memory is theirs. */
async function longRun(
  run: Run,
  { name, database, events }: { name: BackendName; database: string; events: number },
): Promise<readonly Sample[]> {
  const request: LongRunRequest = { name, database, events };
  const child = fork(program, [JSON.stringify(request)], { signal: run.signal });
  const samples: Sample[] = [];
  let said = 0;
  child.on("message", (sample: Sample) => {
    samples.push(sample);
    if (sample.events < said + events / 20) return;
    said = sample.events;
    run.say(
      `${name}: ${said.toLocaleString("en-US")} events, ${megabytes(sample.rss).toFixed(0)} MB resident`,
    );
  });
  await new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`the long run ended with ${code}`));
    });
  });
  return samples;
}

/** The first fifth fills caches and heap. Then the last fifth is compared with the second. */
function judge(name: BackendName, events: number, samples: readonly Sample[]): readonly Row[] {
  const between = (from: number, to: number): readonly Sample[] =>
    samples.filter((sample) => sample.events >= events * from && sample.events <= events * to);
  const early = between(0.2, 0.4);
  const late = between(0.8, 1);
  const title = `${name} ${events.toLocaleString("en-US")} events`;
  const last = samples.at(-1);
  return [
    judged(
      {
        name: `${title}, resident memory, last fifth against second`,
        unit: "MB",
        value: megabytes(median(late.map(({ rss }) => rss))),
        baseline: megabytes(median(early.map(({ rss }) => rss))),
      },
      // Caches are still filling during the first hundred thousand.
      events >= 1_000_000 ? { ratioAtMost: 1.1 } : undefined,
    ),
    // No goal: the log holds what was written in the last 5 to 10 seconds, so it follows the rate.
    {
      name: `${title}, largest database`,
      value: megabytes(Math.max(...samples.map(({ bytes }) => bytes))),
      unit: "MB",
    },
    {
      name: `${title}, highest resident memory`,
      value: megabytes(Math.max(...samples.map(({ rss }) => rss))),
      unit: "MB",
    },
    {
      name: `${title}, rate`,
      value: ((last?.events ?? 0) / (last?.elapsedMs ?? 1)) * 1000,
      unit: "/s",
    },
  ];
}

function megabytes(bytes: number): number {
  return bytes / 2 ** 20;
}
