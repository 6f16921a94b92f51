import type { Clock } from "@keelson/base";

/** Within this time so many repairs of a field are a quarrel. */
const quarrelMs = 60_000;
const peacefulRepairs = 2;
const firstWaitMs = 1_000;
const lastWaitMs = 300_000;

/**
 * How long to wait before a field is repaired again. The first two repairs within a minute are at once; from the third on
 * somebody is undoing them, and each wait is twice the last: two controllers that fight must not wake everybody all day.
 */
export class Repairs {
  readonly #clock: Clock;
  readonly #fields = new Map<
    string,
    { readonly atMs: readonly number[]; readonly waitMs: number }
  >();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  waitMs(id: number, fields: readonly string[]): number {
    const nowMs = this.#clock.monotonic();
    this.#forgetOld(nowMs);
    return Math.max(0, ...fields.map((field) => this.#waitMs(`${id} ${field}`, nowMs)));
  }

  #waitMs(key: string, nowMs: number): number {
    const known = this.#fields.get(key);
    const lately = (known?.atMs ?? []).filter((atMs) => nowMs - atMs < quarrelMs);
    const isQuarrel = lately.length >= peacefulRepairs;
    const waitMs = isQuarrel
      ? Math.min(lastWaitMs, Math.max(firstWaitMs, (known?.waitMs ?? 0) * 2))
      : 0;
    // A repair that waits counts when it is made: a long wait does not end the quarrel.
    this.#fields.set(key, {
      atMs: [...lately, nowMs + waitMs].slice(-peacefulRepairs - 1),
      waitMs,
    });
    return waitMs;
  }

  #forgetOld(nowMs: number): void {
    for (const [key, { atMs }] of this.#fields) {
      if ((atMs.at(-1) ?? 0) + 2 * quarrelMs < nowMs) this.#fields.delete(key);
    }
  }
}
