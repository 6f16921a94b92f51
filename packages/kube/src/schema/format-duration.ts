// The format `duration`: what Go takes for one, and `3 days` as well.

import { durationOf } from "../time/duration.ts";

/** Nanoseconds of a text in the format, or nothing. Sums that 64 bits do not hold wrap, as they do in the real server. */
export function parseFormatDuration(text: string): bigint | undefined {
  return durationOf(text) ?? parseLoosely(text);
}

/** Never from the middle of a number: a long one without a unit would be read again from each of its digits. */
const term = /(?<![0-9])([0-9]+)[\t\n\f\r ]*([A-Za-zµ]+)/g;

const units: readonly (readonly [exact: readonly string[], prefix: string, nanos: bigint])[] = [
  [["ns"], "nano", 1n],
  [["us", "µs"], "micro", 1_000n],
  [["ms"], "milli", 1_000_000n],
  [["s"], "sec", 1_000_000_000n],
  [["m"], "min", 60_000_000_000n],
  [["h", "hr"], "hour", 3_600_000_000_000n],
  [["d"], "day", 86_400_000_000_000n],
  [["w", "wk"], "week", 604_800_000_000_000n],
];

function parseLoosely(text: string): bigint | undefined {
  let nanos = 0n;
  let isFound = false;
  for (const [, digits = "", name = ""] of text.matchAll(term)) {
    const factor = BigInt(digits.slice(0, 24));
    if (factor !== BigInt.asIntN(64, factor)) return undefined;
    const unit = name.toLowerCase();
    for (const [exact, prefix, size] of units) {
      if (!exact.includes(unit) && !unit.startsWith(prefix)) continue;
      isFound = true;
      nanos += factor * size;
    }
  }
  return isFound ? BigInt.asIntN(64, nanos) : undefined;
}
