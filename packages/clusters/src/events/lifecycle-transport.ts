// Where events of cluster lifecycle go beside the log. `local` is here; each other way has a file of its own.

import type { Transport } from "@keelson/database";

/** How it goes, for whoever looks after it. */
export interface TransportHealth {
  readonly transport: "local" | "pubsub";
  readonly status: "ok" | "failing";
  readonly error?: string;
}

export interface LifecycleTransport extends Transport {
  readonly health: TransportHealth;
  /** `log`: to be in the log is to be published. `relay` unless told. */
  readonly publishedBy?: "relay" | "log";
  /** Makes what is missing where events go, trying until it succeeds or `signal` aborts. Publishing does not wait for it. */
  prepare?(signal: AbortSignal): Promise<void>;
}

/** Events stay here: whoever follows the log has them, in this process or by a stream. */
export const localTransport: LifecycleTransport = {
  health: { transport: "local", status: "ok" },
  publishedBy: "log",
  publish: async () => undefined, // What another transport has left: there is nowhere else for it to go.
};
