// The port through which events arrive.

import type { Clock, Log, Random } from "@keelson/base";
import type { RawEvent } from "./event.ts";
import type { Kind } from "./resource.ts";

/** What becomes of an event: it is done with, or it must come again, no sooner than told. */
export type Disposition =
  | { readonly kind: "ack" }
  | { readonly kind: "nack"; readonly afterMs: number };

export const ack: Disposition = { kind: "ack" };

/** What a transport is told by the controller that uses it. */
export interface TransportContext {
  readonly controllerName: string;
  readonly kinds: readonly Kind[];
  /** Events of other platforms need not be delivered; none means all are wanted. */
  readonly platforms: readonly string[];
  readonly api: { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Takes an event in and says what becomes of it. Never rejects. */
  readonly deliver: (event: RawEvent) => Promise<Disposition>;
  /** Events may have been missed: everything must be listed again. */
  readonly onGap: () => void;
}

/** A way for events to arrive: at least once, those of a resource in order. */
export interface Transport {
  /** How long an event may be worked on before it comes again; no limit unless told. */
  readonly ackDeadlineMs?: number;
  /**
   * Subscribes. Once it has resolved, whatever is published is delivered, until `signal` aborts. Rejects where
   * that cannot be had.
   */
  subscribe(context: TransportContext, signal: AbortSignal): Promise<Subscription>;
}

export interface Subscription {
  /** Takes nothing new and waits for what is being delivered; what was not acknowledged is given back. */
  close(): Promise<void>;
}
