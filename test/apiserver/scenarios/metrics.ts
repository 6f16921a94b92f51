// What a server says of itself.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { Ours } from "../ours.ts";

/** The sum of a metric over all its labels; undefined if the server does not have it. */
export async function metricOf(
  { dataDir }: Ours,
  name: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { metrics } = JSON.parse(readFileSync(join(dataDir, "run.json"), "utf8")) as {
    metrics: string;
  };
  const text = await (await fetch(new URL("/metrics", metrics), { signal })).text();
  const values = text
    .split("\n")
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .map((line) => Number(line.slice(line.lastIndexOf(" ") + 1)));
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
}
