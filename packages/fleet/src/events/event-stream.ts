// Events as a stream of text, to one reader.

import type { Clock } from "@keelson/base";
import { CursorExpired } from "@keelson/database";
import type { EventLog, FleetEvent } from "./event-log.ts";

export interface EventStreamOptions {
  readonly events: EventLog;
  readonly clock: Clock;
  /** After how long without a word the reader is told that we are still there. */
  readonly heartbeatMs: number;
  /** How long a reader may take for what it was sent. */
  readonly slowMs: number;
}

export interface EventReader {
  /** The last event that it has had. */
  readonly after: number;
  readonly wants: (event: FleetEvent) => boolean;
  /** It does not take what it is sent: its connection is to be closed. */
  readonly onSlow: () => void;
}

/**
 * The text of every event that the reader wants, in order, each once, until `signal`. A reader whose place in the log is
 * gone is told to begin again (`reset`), and goes on from now.
 *
 * A beat carries the place that was reached where it is beyond the last event sent: a reader of few events need not read
 * all the others again when it comes back.
 */
export async function* eventStream(
  { events, clock, heartbeatMs, slowMs }: EventStreamOptions,
  { after, wants, onSlow }: EventReader,
  signal: AbortSignal,
): AsyncGenerator<string> {
  let cursor = after;
  let toldCursor = after;
  let toldMs = clock.monotonic();
  /** Whoever does not come for the next piece in time is not reading. */
  const waitingFor = (): Disposable => clock.after(slowMs, onSlow);

  while (!signal.aborted) {
    try {
      for await (const batch of events.follow(cursor, signal)) {
        cursor = batch.at(-1)?.position ?? cursor;
        let text = batch
          .filter(wants)
          .map((event) => event.text)
          .join("");
        if (text !== "") toldCursor = batch.findLast(wants)?.position ?? toldCursor;
        else if (clock.monotonic() - toldMs >= heartbeatMs) {
          text = cursor > toldCursor ? `: still here\nid: ${cursor}\n\n` : ": still here\n\n";
          toldCursor = cursor;
        } else continue;
        using _waiting = waitingFor();
        yield text;
        toldMs = clock.monotonic();
      }
      return;
    } catch (error) {
      if (!(error instanceof CursorExpired)) throw error;
      cursor = await events.now(signal);
      toldCursor = cursor;
      using _waiting = waitingFor();
      yield `id: ${cursor}\nevent: reset\ndata: {"reason":"the log does not go on from event ${error.position}"}\n\n`;
      toldMs = clock.monotonic();
    }
  }
}
