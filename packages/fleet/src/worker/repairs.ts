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
  /** What we had applied when the last one was asked for. */
  readonly applied: string;
}

/**
 * How long to wait before a field is repaired again. The first two repairs within a minute are at once; from the third on
 * somebody is undoing them, and each wait is twice the last: two controllers that fight must not wake everybody all day.
 */
export class Repairs {
  readonly #clock: Clock;
  readonly #fields = new Map<string, Field>();
  #forgotMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * For fields of a row that differ from what we `applied`, by the version that our apply left. However often one is
   * asked for before the next apply, it is one repair.
   */
  waitMs(id: number, fields: readonly string[], applied: string): number {
    const nowMs = this.#clock.monotonic();
    this.#forgetOld(nowMs);
    return Math.max(0, ...fields.map((field) => this.#waitMs(`${id} ${field}`, applied, nowMs)));
  }

  #waitMs(key: string, applied: string, nowMs: number): number {
    const known = this.#fields.get(key);
    if (known?.applied === applied) return known.waitMs;
    const lately = (known?.atMs ?? []).filter((atMs) => nowMs - atMs < quarrelMs);
    // A long wait does not end a quarrel: only a minute of peace after the last repair does.
    const isQuarrel =
      lately.length >= peacefulRepairs || (lately.length > 0 && (known?.waitMs ?? 0) > 0);
    const waitMs = isQuarrel
      ? Math.min(lastWaitMs, Math.max(firstWaitMs, (known?.waitMs ?? 0) * 2))
      : 0;
    // A repair that waits counts when it is made.
    const atMs = [...lately, nowMs + waitMs].slice(-peacefulRepairs);
    this.#fields.set(key, { atMs, waitMs, applied });
    return waitMs;
  }

  #forgetOld(nowMs: number): void {
    if (nowMs - this.#forgotMs < quarrelMs) return;
    this.#forgotMs = nowMs;
    for (const [key, { atMs }] of this.#fields) {
      if ((atMs.at(-1) ?? 0) + quarrelMs < nowMs) this.#fields.delete(key);
    }
  }
}
