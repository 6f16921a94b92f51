// Two servers under the same load, in turns.

import { median } from "../measure.ts";
import type { Contender, LoadOptions, LoadResult } from "./contenders.ts";

export interface Turns {
  readonly ours: readonly LoadResult[];
  readonly theirs: readonly LoadResult[];
}

/** Of each measure, before it is timed: what a server has not done before it does slowly, until its code is compiled and its caches are filled. */
const warmUpSeconds = 1;

/**
 * Makes a server one that has run for a while: a single client would take minutes to have Node compile what it asks for, and
 * what is compiled ahead has no such time.
 */
export async function warmUp(
  contender: Contender,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const load = { clients: 64, objects: 1_000, path, prefix: "warm" } as const;
  await contender.load({ ...load, verb: "fill" }, signal);
  for (const verb of ["create", "update", "get"] as const) {
    const prefix = verb === "create" ? "warm-new" : load.prefix;
    await contender.load({ ...load, verb, prefix, seconds: 3 }, signal);
  }
}

/** First one, then the other, the order changing each round, so that what else the machine does hits both. */
export async function takeTurns(
  { ours, theirs }: { readonly ours: Contender; readonly theirs: Contender },
  {
    options,
    rounds,
    prefix,
  }: { readonly options: LoadOptions; readonly rounds: number; readonly prefix?: string },
  signal: AbortSignal,
): Promise<Turns> {
  const isNew = options.verb === "create"; // Created names are taken for ever.
  const results = { ours: [] as LoadResult[], theirs: [] as LoadResult[] };
  // The generator warms watches up by itself.
  if (options.verb !== "watch") {
    const warming = { ...options, seconds: warmUpSeconds };
    const named = prefix === undefined ? {} : { prefix: isNew ? `${prefix}-warm` : prefix };
    for (const contender of [ours, theirs]) await contender.load({ ...warming, ...named }, signal);
  }
  for (let round = 0; round < rounds; round += 1) {
    const named = prefix === undefined ? {} : { prefix: isNew ? `${prefix}-${round}` : prefix };
    const turn = async (who: "ours" | "theirs"): Promise<void> => {
      const contender = who === "ours" ? ours : theirs;
      results[who].push(await contender.load({ ...options, ...named }, signal));
    };
    for (const who of round % 2 === 0
      ? (["ours", "theirs"] as const)
      : (["theirs", "ours"] as const))
      await turn(who);
  }
  return results;
}

export function rateOf({ ours, theirs }: Turns): {
  readonly value: number;
  readonly baseline: number;
  readonly ratio: number;
} {
  const ratios = ours.map(({ rate }, round) => rate / (theirs[round]?.rate ?? Number.NaN));
  return {
    value: median(ours.map(({ rate }) => rate)),
    baseline: median(theirs.map(({ rate }) => rate)),
    ratio: median(ratios),
  };
}
