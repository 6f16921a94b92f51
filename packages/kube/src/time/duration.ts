// Durations as Go writes them: `1h30m0s`, `500ms`.

import { quoteBytes } from "../go-text/quote.ts";

/** A text that is no duration. The message is Go's. */
export class BadDuration extends Error {
  readonly code = "BAD_DURATION";

  constructor(message: string) {
    super(message);
    this.name = "BadDuration";
  }
}

const units: ReadonlyMap<string, bigint> = new Map([
  ["ns", 1n],
  ["us", 1_000n],
  ["\u00b5s", 1_000n],
  ["\u03bcs", 1_000n],
  ["ms", 1_000_000n],
  ["s", 1_000_000_000n],
  ["m", 60_000_000_000n],
  ["h", 3_600_000_000_000n],
]);
const nanosecondsMax = 2n ** 63n - 1n;

/** The nanoseconds of a duration; fractions of one are dropped. Throws a `BadDuration`. */
export function parseDuration(text: string): bigint {
  const invalid = (): BadDuration => new BadDuration(`time: invalid duration ${quoteBytes(text)}`);
  const [, sign = "", rest = ""] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (rest === "0") return 0n;
  if (rest === "") throw invalid();
  const term = /(\d*)(\.?)(\d*)([^\d.]*)/y;
  let total = 0n;
  while (term.lastIndex < rest.length) {
    const [, whole = "", , fraction = "", unit = ""] = term.exec(rest) ?? [];
    const integer = whole.replace(/^0+/, "");
    if ((whole === "" && fraction === "") || integer.length > 19) throw invalid();
    if (unit === "") {
      throw new BadDuration(`time: missing unit in duration ${quoteBytes(text)}`);
    }
    const size = units.get(unit);
    if (size === undefined) {
      throw new BadDuration(
        `time: unknown unit ${quoteBytes(unit)} in duration ${quoteBytes(text)}`,
      );
    }
    const digits = fraction.slice(0, 18);
    total += BigInt(integer === "" ? 0 : integer) * size;
    total += (BigInt(digits === "" ? 0 : digits) * size) / 10n ** BigInt(digits.length);
    if (total > nanosecondsMax + (sign === "-" ? 1n : 0n)) throw invalid();
  }
  return sign === "-" ? -total : total;
}

/** The nanoseconds of a duration, or nothing for a text that is none. */
export function durationOf(text: string): bigint | undefined {
  try {
    return parseDuration(text);
  } catch (error) {
    if (error instanceof BadDuration) return undefined;
    throw error;
  }
}

/** The shortest text of a duration, as Go prints it. */
export function printDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return "0s";
  const sign = nanoseconds < 0n ? "-" : "";
  const magnitude = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  for (const [unit, size] of [
    ["ns", 1n],
    ["\u00b5s", 1_000n],
    ["ms", 1_000_000n],
  ] as const) {
    if (magnitude < 1_000n * size && magnitude < 1_000_000_000n) {
      return `${sign}${decimal(magnitude, size)}${unit}`;
    }
  }
  const minute = 60_000_000_000n;
  const hours = magnitude / (60n * minute);
  const minutes = (magnitude / minute) % 60n;
  const seconds = `${decimal(magnitude % minute, 1_000_000_000n)}s`;
  if (hours > 0n) return `${sign}${hours}h${minutes}m${seconds}`;
  return minutes > 0n ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`;
}

function decimal(value: bigint, size: bigint): string {
  const fraction = (value % size)
    .toString()
    .padStart(size.toString().length - 1, "0")
    .replace(/0+$/, "");
  return `${value / size}${fraction === "" || size === 1n ? "" : `.${fraction}`}`;
}
