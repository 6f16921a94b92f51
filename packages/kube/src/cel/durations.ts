// Durations as Go reads and writes them.

const unitNanos: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

const whole = /^([+-]?)((?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const part = /([0-9]*)\.?([0-9]*)(ns|us|µs|μs|ms|s|m|h)/g;

/** Nanoseconds of a text like `1h30m` or `1.5s`, or nothing if it is none or too long for 64 bits. */
export function parseDuration(text: string): bigint | undefined {
  if (text === "0" || text === "+0" || text === "-0") return 0n;
  const match = whole.exec(text);
  if (match === null || text.length > 200) return undefined;
  let nanos = 0n;
  for (const [, integer = "", fraction = "", unit = ""] of (match[2] ?? "").matchAll(part)) {
    const scale = unitNanos[unit] ?? 0n;
    nanos += BigInt(integer === "" ? "0" : integer) * scale;
    if (fraction !== "") nanos += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
  }
  const signed = match[1] === "-" ? -nanos : nanos;
  return signed === BigInt.asIntN(64, signed) ? signed : undefined;
}

const looseUnits: readonly (readonly [exact: readonly string[], prefix: string, nanos: bigint])[] =
  [
    [["ns"], "nano", 1n],
    [["us", "µs"], "micro", 1_000n],
    [["ms"], "milli", 1_000_000n],
    [["s"], "sec", 1_000_000_000n],
    [["m"], "min", 60_000_000_000n],
    [["h", "hr"], "hour", 3_600_000_000_000n],
    [["d"], "day", 86_400_000_000_000n],
    [["w", "wk"], "week", 604_800_000_000_000n],
  ];

/** Nanoseconds of a text in the format `duration`, which knows `3 days` as well. */
export function parseFormatDuration(text: string): bigint | undefined {
  const strict = parseDuration(text);
  if (strict !== undefined) return strict;
  let nanos = 0n;
  let isFound = false;
  for (const [, factor = "", name = ""] of text.matchAll(/([0-9]+)[\t\n\f\r ]*([A-Za-zµ]+)/g)) {
    const unit = name.toLowerCase();
    for (const [exact, prefix, scale] of looseUnits) {
      if (!exact.includes(unit) && !unit.startsWith(prefix)) continue;
      isFound = true;
      nanos += BigInt(factor.slice(0, 19)) * scale;
    }
  }
  return isFound ? BigInt.asIntN(64, nanos) : undefined;
}
