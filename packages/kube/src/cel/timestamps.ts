// Points in time, to the nanosecond.

const pattern =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?([Zz]|[+-][0-9]{2}:[0-9]{2})$/;

/** Nanoseconds since 1970 of an RFC 3339 text, or nothing. */
export function parseTimestamp(text: string): bigint | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const isInRange =
    month >= 1 && month <= 12 && day >= 1 && hour <= 23 && minute <= 59 && second <= 59;
  if (!isInRange) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCDate() !== day) return undefined;
  date.setUTCHours(hour, minute, second);
  const offset = offsetMinutes(match[8] ?? "Z");
  if (offset === undefined) return undefined;
  const fraction = (match[7] ?? "").slice(0, 9).padEnd(9, "0");
  return (BigInt(date.getTime()) - BigInt(offset) * 60_000n) * 1_000_000n + BigInt(fraction);
}

/** Minutes east of Greenwich of `Z` or `+02:00`. */
function offsetMinutes(text: string): number | undefined {
  if (text === "Z" || text === "z") return 0;
  const match = /^([+-]?)([0-9]{2}):([0-9]{2})$/.exec(text);
  if (match === null) return undefined;
  const minutes = Number(match[2]) * 60 + Number(match[3]);
  return match[1] === "-" ? -minutes : minutes;
}

/** An instant in UTC as RFC 3339, with as many decimals as it needs. */
export function formatTimestamp(nanos: bigint): string {
  const seconds = floorDiv(nanos, 1_000_000_000n);
  const rest = nanos - seconds * 1_000_000_000n;
  const text = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  const fraction = rest === 0n ? "" : `.${String(rest).padStart(9, "0").replace(/0+$/, "")}`;
  return `${text}${fraction}Z`;
}

/** Division towards the past, also of what was before 1970. */
export function floorDiv(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b < 0n ? quotient - 1n : quotient;
}

/** The parts of an instant on the clock of a zone: `UTC`, `+02:00` or a name like `Europe/Berlin`. */
export function clockOf(nanos: bigint, zone: string): Date | undefined {
  const millis = Number(floorDiv(nanos, 1_000_000n));
  if (zone === "" || zone === "UTC") return new Date(millis);
  const offset = offsetMinutes(zone);
  if (offset !== undefined) return new Date(millis + offset * 60_000);
  try {
    const format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    const parts = new Map(
      format.formatToParts(millis).map(({ type, value }) => [type, Number(value)]),
    );
    const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
    const clock = new Date(0);
    clock.setUTCFullYear(part("year"), part("month") - 1, part("day"));
    clock.setUTCHours(
      part("hour"),
      part("minute"),
      part("second"),
      ((millis % 1000) + 1000) % 1000,
    );
    return clock;
  } catch {
    return undefined; // No zone of that name.
  }
}
