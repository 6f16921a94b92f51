// The log of events as a stream of text, to one reader.

import { onAbort, writeJson, type Clock } from "@keelson/base";
import type { NumberedEvent, Tail } from "@keelson/database";

export interface EventStreamOptions {
  readonly tail: Tail<NumberedEvent>;
  readonly clock: Clock;
  /** After how long without a word the reader is told that we are still there. */
  readonly heartbeatMs: number;
}

export interface EventReader {
  /** The last position that it has had. */
  readonly after: number;
  readonly wants: (event: NumberedEvent) => boolean;
}

/**
 * First that it is ready: whatever commits from then on will come. Then every event that the reader wants, in order,
 * each once, until `signal`; throws `CursorExpired` when retention overtakes a reader that is too slow.
 *
 * Beats carry the place that was reached: a reader of few events need not read all the others again when it comes back.
 */
export async function* eventStream(
  { tail, clock, heartbeatMs }: EventStreamOptions,
  { after, wants }: EventReader,
  signal: AbortSignal,
): AsyncGenerator<string> {
  if (signal.aborted) return;
  const ending = new AbortController();
  using _stop = onAbort(signal, () => ending.abort(signal.reason));
  const batches = tail.follow(after, ending.signal);
  let cursor = after;
  let toldMs = clock.monotonic();
  yield `id: ${cursor}\nevent: ready\ndata: {}\n\n`;
  try {
    let next = batches.next();
    for (;;) {
      // From the last word to this reader: events for others do not count.
      const leftMs = Math.max(0, toldMs + heartbeatMs - clock.monotonic());
      const batch = await within(next, { clock, ms: leftMs });
      if (batch === "late") {
        toldMs = clock.monotonic();
        yield `: still here\nid: ${cursor}\n\n`;
        continue;
      }
      if (batch.done === true) return;
      next = batches.next();
      next.catch(() => undefined); // Awaited in the next round, unless the reader leaves before.
      const wanted = batch.value.filter(wants);
      cursor = batch.value.at(-1)?.position ?? cursor;
      if (wanted.length === 0) continue;
      toldMs = clock.monotonic();
      yield wanted.map(frameOf).join("");
    }
  } finally {
    ending.abort();
    await batches.return(undefined);
  }
}

function frameOf({ position, data }: NumberedEvent): string {
  const { type } = data as { readonly type: string };
  return `id: ${position}\nevent: ${type}\ndata: ${writeJson(data)}\n\n`;
}

async function within<T>(
  promise: Promise<T>,
  { clock, ms }: { readonly clock: Clock; readonly ms: number },
): Promise<T | "late"> {
  const late = Promise.withResolvers<"late">();
  using _timer = clock.after(ms, () => late.resolve("late"));
  return await Promise.race([promise, late.promise]);
}
