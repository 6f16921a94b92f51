// How long a preview lives.

import { platformGroup } from "../kinds/platform-group.ts";

/** The time from which a preview counts anew, in its annotations: whoever pushes to the pull request sets it. */
export const refreshAnnotation = `${platformGroup}/refresh`;

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 };

export interface Aging {
  readonly creationTimestamp: string;
  /** What the annotation says, if there is one. */
  readonly refresh?: string | undefined;
  /** `72h`. */
  readonly ttl: string;
}

/**
 * When it expires, in milliseconds since the epoch. A refresh counts if it is a time after the creation and not in the
 * future; nothing else moves it.
 */
export function expiresAtMs({ creationTimestamp, refresh, ttl }: Aging, nowMs: number): number {
  const createdMs = Date.parse(creationTimestamp);
  const refreshMs = parseTime(refresh);
  const isLater = refreshMs !== undefined && refreshMs > createdMs && refreshMs <= nowMs;
  return (isLater ? refreshMs : createdMs) + ttlMs(ttl);
}

/** When a refresh will count that is in the future; undefined if there is none. */
export function refreshDueMs(
  { refresh }: Pick<Aging, "refresh">,
  nowMs: number,
): number | undefined {
  const refreshMs = parseTime(refresh);
  return refreshMs !== undefined && refreshMs > nowMs ? refreshMs : undefined;
}

function ttlMs(ttl: string): number {
  const [, count = "", unit] = /^([1-9][0-9]*)([mhd])$/.exec(ttl) ?? [];
  if (unit === undefined) throw new RangeError(`a ttl is like 72h, not ${ttl}`);
  return Number(count) * unitMs[unit as keyof typeof unitMs];
}

/** RFC 3339 only: `Date` would take much more. */
function parseTime(text: string | undefined): number | undefined {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.test(text ?? "");
  const ms = isTime ? Date.parse(text ?? "") : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
