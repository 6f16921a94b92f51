// Functions of points in time and of durations.

import { CelError } from "./cel-error.ts";
import { method, type Overload } from "./overload.ts";
import { clockOf } from "./timestamps.ts";
import { duration, int, string, timestamp } from "./cel-type.ts";
import type { Duration, Timestamp } from "./values.ts";

const dayMs = 86_400_000;

const clockParts: Readonly<Record<string, (clock: Date) => number>> = {
  getFullYear: (clock) => clock.getUTCFullYear(),
  getMonth: (clock) => clock.getUTCMonth(),
  getDayOfYear: (clock) =>
    Math.floor(
      (Date.UTC(clock.getUTCFullYear(), clock.getUTCMonth(), clock.getUTCDate()) -
        Date.UTC(clock.getUTCFullYear(), 0, 1)) /
        dayMs,
    ),
  getDayOfMonth: (clock) => clock.getUTCDate() - 1,
  getDate: (clock) => clock.getUTCDate(),
  getDayOfWeek: (clock) => clock.getUTCDay(),
  getHours: (clock) => clock.getUTCHours(),
  getMinutes: (clock) => clock.getUTCMinutes(),
  getSeconds: (clock) => clock.getUTCSeconds(),
  getMilliseconds: (clock) => clock.getUTCMilliseconds(),
};

const durationParts: Readonly<Record<string, bigint>> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
  getMilliseconds: 1_000_000n,
};

export const timeFunctions: readonly Overload[] = [
  ...Object.entries(clockParts).flatMap(([name, part]) => [
    method(name, [timestamp], int, ([instant]) => BigInt(part(read(instant as Timestamp, "UTC")))),
    method(name, [timestamp, string], int, ([instant, zone]) =>
      BigInt(part(read(instant as Timestamp, zone as string))),
    ),
  ]),
  ...Object.entries(durationParts).map(([name, unit]) =>
    method(name, [duration], int, ([value]) => (value as Duration).nanos / unit),
  ),
];

function read({ nanos }: Timestamp, zone: string): Date {
  const clock = clockOf(nanos, zone);
  if (clock === undefined) throw new CelError(`unknown time zone ${zone}`);
  return clock;
}
