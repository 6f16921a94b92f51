// Events within the process, for tests.

import type { RawEvent } from "../event.ts";
import type { Transport } from "../transport.ts";
import { Redelivery } from "./redelivery.ts";

/** A transport to which a test publishes. */
export interface MemoryTransport extends Transport {
  /** Publishes to whoever is subscribed now; an object is written as JSON. */
  publish(event: object | string, attributes?: Readonly<Record<string, string>>): Promise<void>;
  /** Ends when every event that was published has been acknowledged. */
  idle(): Promise<void>;
}

/** Events that are published by calling a function. Any number of controllers may share one. */
export function memory(): MemoryTransport {
  const subscribers = new Set<Redelivery>();
  return {
    async publish(event, attributes) {
      const data = typeof event === "string" ? event : JSON.stringify(event);
      const raw: RawEvent = { data, ...(attributes === undefined ? {} : { attributes }) };
      await Promise.all([...subscribers].map((subscriber) => subscriber.take(raw)));
    },
    async idle() {
      await Promise.all([...subscribers].map((subscriber) => subscriber.idle()));
    },
    async subscribe(context, signal) {
      const subscriber = new Redelivery(context, signal);
      subscribers.add(subscriber);
      return {
        close: async () => {
          subscribers.delete(subscriber);
          await subscriber.idle();
        },
      };
    },
  };
}
