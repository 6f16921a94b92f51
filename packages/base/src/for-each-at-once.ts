export interface ForEachOptions<T> {
  /** How many are under way at once. */
  readonly atOnce: number;
  /** Its signal aborts also when another has failed. */
  readonly run: (item: T, signal: AbortSignal) => Promise<void>;
}

/**
 * Runs for each item, so many at once, in their order. After a failure no other begins, and the call rejects with it once all that
 * were under way have ended: nothing goes on behind the back of whoever was told.
 */
export async function forEachAtOnce<T>(
  items: Iterable<T>,
  { atOnce, run }: ForEachOptions<T>,
  signal: AbortSignal,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  const failures: unknown[] = [];
  const failing = new AbortController();
  const within = AbortSignal.any([signal, failing.signal]);
  const work = async (): Promise<void> => {
    while (!within.aborted) {
      const next = rest.next();
      if (next.done === true) return;
      try {
        await run(next.value, within);
      } catch (error) {
        failures.push(error);
        failing.abort(error);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  if (failures.length > 0) throw failures[0];
  signal.throwIfAborted();
}
