// How things are measured: closed loops, percentiles, and contenders side by side.

/** Rates of one contender and what it is measured by, round by round. */
export interface Duel {
  /** The middle of ours, per second. */
  readonly value: number;
  /** The middle of the other's. */
  readonly baseline: number;
  /** The middle of the rounds' own ratios: noise that lasts longer than a round falls out. */
  readonly ratio: number;
  /** Lowest and highest of the rounds' ratios. */
  readonly spread: readonly [number, number];
}

/** Something that runs for a while and answers how much it did per second. */
export type Contender = (ms: number) => Promise<number>;

/**
 * Runs two contenders in turns, first one then the other, the order changing each round, so that what else the
 * machine does hits both. The first turn of each is for warming up.
 */
export async function duel(
  { ours, other }: { readonly ours: Contender; readonly other: Contender },
  { rounds, ms }: { readonly rounds: number; readonly ms: number },
): Promise<Duel> {
  await ours(ms / 2);
  await other(ms / 2);
  const values: number[] = [];
  const baselines: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 0) values.push(await ours(ms));
    baselines.push(await other(ms));
    if (round % 2 === 1) values.push(await ours(ms));
  }
  const ratios = values.map((value, index) => value / (baselines[index] ?? Number.NaN));
  return {
    value: median(values),
    baseline: median(baselines),
    ratio: median(ratios),
    spread: [Math.min(...ratios), Math.max(...ratios)],
  };
}

const rounds = 15;
/** The system counts the processor's time in steps of some milliseconds. */
const roundMs = 40;

/**
 * What calls that wait for nothing take of the processor, in microseconds, round by round, each call in each round.
 * Not the clock's time, since a busy machine must not blame them.
 */
export function processorRounds(calls: readonly (() => unknown)[]): readonly number[][] {
  const counts = calls.map(callsPerRound);
  return Array.from({ length: rounds }, () =>
    calls.map((call, index) => {
      const count = counts[index] ?? 1;
      return (processorMs(call, count) * 1000) / count;
    }),
  );
}

function processorMs(call: () => unknown, count: number): number {
  const before = process.threadCpuUsage();
  for (let made = 0; made < count; made++) call();
  const after = process.threadCpuUsage();
  return (after.user + after.system - before.user - before.system) / 1000;
}

/** The middle of the rounds of one call. */
export function processorUs(call: () => unknown): number {
  return median(processorRounds([call]).map(([us = Number.NaN]) => us));
}

/** How many calls make a round. Finding out warms up. */
function callsPerRound(call: () => unknown): number {
  let count = 1;
  while (processorMs(call, count) < roundMs) count *= 2;
  return count;
}

/** `workers` loops, each awaiting its own calls, for `ms`; calls per second. Times go to `latencies` if given. */
export async function closedLoop(
  workers: number,
  call: (worker: number) => Promise<unknown>,
  { ms, latencies }: { readonly ms: number; readonly latencies?: Latencies },
): Promise<number> {
  const start = performance.now();
  const end = start + ms;
  let calls = 0;
  const loop = async (worker: number): Promise<void> => {
    for (let before = performance.now(); before < end;) {
      await call(worker);
      calls += 1;
      const after = performance.now();
      latencies?.add(after - before);
      before = after;
    }
  };
  await Promise.all(Array.from({ length: workers }, (_, worker) => loop(worker)));
  return (calls / (performance.now() - start)) * 1000;
}

/** Durations, kept in full up to a bound; beyond it the oldest are overwritten. */
export class Latencies {
  readonly #values: Float64Array;
  #count = 0;
  #sorted: Float64Array | undefined;

  constructor(max = 1_000_000) {
    this.#values = new Float64Array(max);
  }

  get count(): number {
    return this.#count;
  }

  add(ms: number): void {
    this.#values[this.#count % this.#values.length] = ms;
    this.#count += 1;
    this.#sorted = undefined;
  }

  /** The value that `share` of all do not exceed: 0.5 is the middle. */
  percentile(share: number): number {
    const kept = (this.#sorted ??= this.#values.slice(0, this.#count).sort());
    return kept[Math.max(0, Math.ceil(kept.length * share) - 1)] ?? Number.NaN;
  }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
