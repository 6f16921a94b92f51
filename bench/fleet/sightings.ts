// When what a ConfigMap is stamped with was first seen in a cluster, by a watch of our own.

import { onAbort, TaskScope } from "@keelson/base";
import { openWatch, type Client } from "@keelson/client";

interface Awaited {
  readonly see: (atMs: number) => void;
  readonly fail: (reason: unknown) => void;
}

export class Sightings implements AsyncDisposable {
  readonly #scope: TaskScope;
  readonly #awaited = new Map<string, Awaited>();

  private constructor(signal: AbortSignal) {
    this.#scope = new TaskScope(signal);
    onAbort(this.#scope.signal, () => {
      for (const { fail } of this.#awaited.values()) fail(this.#scope.signal.reason);
    });
  }

  /** Looks at one namespace of a cluster. */
  static async in(client: Client, namespace: string, signal: AbortSignal): Promise<Sightings> {
    const sightings = new Sightings(signal);
    const { resource } = await client.resource({ apiVersion: "v1", kind: "ConfigMap" }, signal);
    // A watch without a version begins with all that is there: after one that ended nothing is missed.
    const request = { resource, namespace, openTimeoutMs: 60_000 };
    const opened = Promise.withResolvers<void>();
    sightings.#scope.spawn("watch", async (within) => {
      while (!within.aborted) {
        const events = await openWatch(client, request, within);
        opened.resolve();
        for await (const event of events) {
          if (event.type === "BOOKMARK") continue;
          const { stamp } = (event.object["data"] ?? {}) as { readonly stamp?: string };
          if (stamp !== undefined) sightings.#see(stamp);
        }
      }
    });
    await Promise.race([opened.promise, sightings.#scope.join()]);
    return sightings;
  }

  /** The moment at which the stamp is seen, by `performance.now()`. To be asked before it is sent. */
  async of(stamp: string): Promise<number> {
    const { promise, resolve: see, reject: fail } = Promise.withResolvers<number>();
    this.#scope.signal.throwIfAborted();
    this.#awaited.set(stamp, { see, fail });
    return promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#scope[Symbol.asyncDispose]();
  }

  #see(stamp: string): void {
    this.#awaited.get(stamp)?.see(performance.now());
    this.#awaited.delete(stamp);
  }
}
