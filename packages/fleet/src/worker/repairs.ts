import type { Clock } from "@keelson/base";

/** Within this time so many repairs of a field are a quarrel. */
const quarrelMs = 60_000;
const peacefulRepairs = 2;
const firstWaitMs = 1_000;
const lastWaitMs = 300_000;

interface Field {
  /** When its last repairs were due. */
  readonly atMs: readonly number[];
  readonly waitMs: number;
  /** What we had applied when the last one was asked for; undefined once it was seen to be made. */
  readonly applied: string | undefined;
  /** What was seen then. */
  readonly seen: string;
}

/**
 * How long to wait before a field is repaired again. The first two repairs within a minute are at once; from the third on
 * somebody is undoing them, and each wait is twice the last: two controllers that fight must not wake everybody all day.
 */
export class Repairs {
  readonly #clock: Clock;
  readonly #rows = new Map<number, Map<string, Field>>();
  #forgotMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * For the fields of a row that differ, in the version that was `seen`, from what we `applied`, by the version that our
   * apply left; all others do not. However often one is asked for before the next apply, it is one repair: unless it was
   * right in between, since an apply may be seen before it is recorded.
   */
  waitMs(
    id: number,
    fields: readonly string[],
    { applied, seen }: { readonly applied: string; readonly seen: string },
  ): number {
    const nowMs = this.#clock.monotonic();
    this.#forgetOld(nowMs);
    const row = this.#rows.get(id) ?? new Map<string, Field>();
    for (const [field, known] of row) {
      if (!fields.includes(field)) row.set(field, { ...known, applied: undefined });
    }
    for (const field of fields) row.set(field, asked(row.get(field), { applied, seen }, nowMs));
    if (row.size > 0) this.#rows.set(id, row);
    return Math.max(0, ...fields.map((field) => row.get(field)?.waitMs ?? 0));
  }

  #forgetOld(nowMs: number): void {
    if (nowMs - this.#forgotMs < quarrelMs) return;
    this.#forgotMs = nowMs;
    for (const [id, row] of this.#rows) {
      for (const [field, { atMs }] of row) {
        if ((atMs.at(-1) ?? 0) + quarrelMs < nowMs) row.delete(field);
      }
      if (row.size === 0) this.#rows.delete(id);
    }
  }
}

/** A field once one more repair of it is asked for. */
function asked(
  known: Field | undefined,
  { applied, seen }: { readonly applied: string; readonly seen: string },
  nowMs: number,
): Field {
  if (known !== undefined && (known.applied === applied || known.seen === seen)) {
    return { ...known, applied, seen };
  }
  const lately = (known?.atMs ?? []).filter((atMs) => nowMs - atMs < quarrelMs);
  // A long wait does not end a quarrel: only a minute of peace after the last repair does.
  const isQuarrel =
    lately.length >= peacefulRepairs || (lately.length > 0 && (known?.waitMs ?? 0) > 0);
  const waitMs = isQuarrel
    ? Math.min(lastWaitMs, Math.max(firstWaitMs, (known?.waitMs ?? 0) * 2))
    : 0;
  // A repair that waits counts when it is made.
  const atMs = [...lately, nowMs + waitMs].slice(-peacefulRepairs);
  return { atMs, waitMs, applied, seen };
}
