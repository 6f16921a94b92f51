// What a broker does for those who have none: an event that was not acknowledged comes again.

import { isCancellation, onAbort } from "@keelson/base";
import type { RawEvent } from "../event.ts";
import type { TransportContext } from "../transport.ts";

/** How many events are being looked at, and how many wait to be looked at again: beyond either the source is not read. */
const inFlightMax = 256;
const waitingMax = 10_000;

/**
 * Delivers each event until it is acknowledged, each after its own waits, so many at a time. What waits is in nobody's
 * way: resources that fail for days do not keep the others from being heard of.
 */
export class Redelivery {
  readonly #context: TransportContext;
  readonly #signal: AbortSignal;
  #inFlight = 0;
  #waiting = 0;
  #onChange: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(context: TransportContext, signal: AbortSignal) {
    this.#context = context;
    this.#signal = signal;
  }

  /** Takes an event in, waiting for room. Ends early when we stop. */
  async take(event: RawEvent): Promise<void> {
    const hasRoom = () => this.#inFlight < inFlightMax && this.#waiting < waitingMax;
    await this.#until(() => hasRoom() || this.#signal.aborted);
    if (this.#signal.aborted) return;
    void this.#deliver(event);
  }

  /** Ends when nothing is out any more. Once we stop, what was not acknowledged is dropped. */
  async idle(): Promise<void> {
    await this.#until(() => this.#inFlight + this.#waiting === 0);
  }

  async #deliver(event: RawEvent): Promise<void> {
    for (;;) {
      this.#inFlight++;
      const disposition = await this.#context.deliver(event).finally(() => this.#inFlight--);
      if (disposition.kind === "ack" || this.#signal.aborted) break;
      this.#waiting++;
      this.#changed();
      await this.#sleep(disposition.afterMs).finally(() => this.#waiting--);
      if (this.#signal.aborted) break;
    }
    this.#changed();
  }

  async #sleep(waitMs: number): Promise<void> {
    try {
      await this.#context.clock.sleep(waitMs, this.#signal);
    } catch (error) {
      if (!isCancellation(error, this.#signal)) throw error;
    }
  }

  #changed(): void {
    this.#onChange.resolve();
    this.#onChange = Promise.withResolvers();
  }

  async #until(fact: () => boolean): Promise<void> {
    while (!fact()) {
      const stopping = Promise.withResolvers<void>();
      using _abort = this.#signal.aborted ? undefined : onAbort(this.#signal, stopping.resolve);
      await Promise.race([this.#onChange.promise, stopping.promise]);
    }
  }
}
