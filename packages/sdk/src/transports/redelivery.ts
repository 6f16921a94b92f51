// What a broker does for those who have none: an event that was not acknowledged comes again.

import { isCancellation, onAbort } from "@keelson/base";
import type { RawEvent } from "../event.ts";
import type { TransportContext } from "../transport.ts";

/** How many events are out at once: beyond that the source is not read. */
const inFlightMax = 256;

/** Delivers each event until it is acknowledged, each after its own waits, so many at a time. */
export class Redelivery {
  readonly #context: TransportContext;
  readonly #signal: AbortSignal;
  #inFlight = 0;
  #onChange: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(context: TransportContext, signal: AbortSignal) {
    this.#context = context;
    this.#signal = signal;
  }

  /** Takes an event in, waiting for room. Ends early when we stop. */
  async take(event: RawEvent): Promise<void> {
    await this.#until(() => this.#inFlight < inFlightMax || this.#signal.aborted);
    if (this.#signal.aborted) return;
    this.#inFlight++;
    void this.#deliver(event).finally(() => {
      this.#inFlight--;
      this.#onChange.resolve();
      this.#onChange = Promise.withResolvers();
    });
  }

  /** Ends when nothing is out any more. Once we stop, what was not acknowledged is dropped. */
  async idle(): Promise<void> {
    await this.#until(() => this.#inFlight === 0);
  }

  async #deliver(event: RawEvent): Promise<void> {
    const { deliver, clock } = this.#context;
    for (;;) {
      const disposition = await deliver(event);
      if (disposition.kind === "ack" || this.#signal.aborted) return;
      try {
        await clock.sleep(disposition.afterMs, this.#signal);
      } catch (error) {
        if (isCancellation(error, this.#signal)) return;
        throw error;
      }
    }
  }

  async #until(fact: () => boolean): Promise<void> {
    while (!fact()) {
      const stopping = Promise.withResolvers<void>();
      using _abort = this.#signal.aborted ? undefined : onAbort(this.#signal, stopping.resolve);
      await Promise.race([this.#onChange.promise, stopping.promise]);
    }
  }
}
