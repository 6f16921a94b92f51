// Tells every worker that there may be work: this process's at once, the others' by one notification at a time.

import { isCancellation, type Log } from "@keelson/base";
import type { Wakeups } from "@keelson/database";

/** The channel on which workers wait; the triggers of the tables ring it too. */
export const workChannel = "fleet_work";

/** The channel on which whoever watches targets waits for rows that wait: for a kind, or a namespace. */
export const waitingChannel = "fleet_waiting";

/** The channel on which the numbering of events waits, in this process. Whatever is not told there is found by a poll. */
export const eventsWrittenChannel = "fleet_events_written";

/** Between two notifications. */
const restMs = 10;

/**
 * Rings after a commit. However often it is rung while a notification is on its way, and a moment longer, one more
 * follows: NOTIFY takes a lock of the whole database at commit. Losing one costs a poll interval.
 */
export class WorkBell {
  readonly #wakeups: Wakeups;
  readonly #log: Log;
  readonly #signal: AbortSignal;
  readonly #rung = new Set<string>();
  #isSending = false;

  constructor(options: {
    readonly wakeups: Wakeups;
    readonly log: Log;
    readonly signal: AbortSignal;
  }) {
    this.#wakeups = options.wakeups;
    this.#log = options.log;
    this.#signal = options.signal;
  }

  ring(): void {
    this.told();
    this.#ring(workChannel);
  }

  /** A row waits for something that whoever watches its target can see. */
  ringForWaiting(): void {
    this.#ring(waitingChannel);
  }

  /** An event was committed, and nothing else: whoever numbers them looks. */
  told(): void {
    this.#wakeups.wakeHere(eventsWrittenChannel);
  }

  #ring(channel: string): void {
    this.#wakeups.wakeHere(channel);
    this.#rung.add(channel);
    if (!this.#isSending) void this.#send();
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    try {
      // What is rung again while it is sent comes behind the others, once.
      for (const channel of this.#rung) {
        this.#rung.delete(channel);
        await this.#wakeups.wakeAll(channel, this.#signal);
        await this.#wakeups.clock.sleep(restMs, this.#signal);
      }
    } catch (error) {
      if (!isCancellation(error, this.#signal)) {
        this.#log.warn({ error }, "other replicas were not woken, they will look by themselves");
      }
    } finally {
      this.#isSending = false;
    }
  }
}
