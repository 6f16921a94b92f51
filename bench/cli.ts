// How long a person waits for the command line itself: the version and the help, beside a Node that does nothing.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { entry } from "../test/e2e/run-keelson.ts";
import { median } from "./measure.ts";
import { judged, type Row } from "./report.ts";
import { numberOf, type Run } from "./suite.ts";

const measured = [
  { name: "keelson version", words: ["version"], goalMs: 60 },
  { name: "keelson --help", words: ["--help"], goalMs: 100 },
  { name: "keelson up --help", words: ["up", "--help"], goalMs: undefined },
  { name: "keelson get --help", words: ["get", "--help"], goalMs: undefined },
] as const;

/** Rows: milliseconds from starting the process to its end; the baseline is `node -e 0` in the same rounds. */
export async function bench(run: Run): Promise<readonly Row[]> {
  const rounds = numberOf(run, "rounds", run.isQuick ? 3 : 40);
  const bare: number[] = [];
  const times = measured.map((): number[] => []);
  // The first of each compiles: what is measured is every other time.
  for (const { words } of measured) await timeOf([entry, ...words]);
  for (let round = 0; round < rounds; round += 1) {
    run.signal.throwIfAborted();
    bare.push(await timeOf(["-e", "0"]));
    for (const [index, { words }] of measured.entries()) {
      times[index]?.push(await timeOf([entry, ...words]));
    }
  }
  return measured.map(({ name, goalMs }, index) =>
    judged(
      { name, value: median(times[index] ?? []), unit: "ms", baseline: median(bare) },
      goalMs === undefined ? undefined : { atMost: goalMs },
    ),
  );
}

async function timeOf(words: readonly string[]): Promise<number> {
  const begun = performance.now();
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  child.stdout.resume();
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}`);
  return performance.now() - begun;
}
