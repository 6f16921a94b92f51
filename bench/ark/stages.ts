// How long the stages of a write take, by what the replicas tell of themselves.

import { samplesAt } from "../../test/apiserver/scenarios/metrics.ts";

/** Sums and counts of a replica's histograms. */
export type Stages = ReadonlyMap<string, number>;

export async function stagesOf(metricsUrl: string, signal: AbortSignal): Promise<Stages> {
  const sums = new Map<string, number>();
  for (const { name, value } of await samplesAt(metricsUrl, signal)) {
    if (/_(?:sum|count)$/.test(name)) sums.set(name, (sums.get(name) ?? 0) + value);
  }
  return sums;
}

/** The mean of what a histogram has counted between two readings. */
export function meanOf(name: string, { before, after }: { before: Stages; after: Stages }): number {
  const grown = (part: string): number =>
    (after.get(`${name}_${part}`) ?? 0) - (before.get(`${name}_${part}`) ?? 0);
  const count = grown("count");
  return count === 0 ? 0 : grown("sum") / count;
}
