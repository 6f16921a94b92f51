// When the last child of an app with a database was first seen in a cluster, by watches of our own.

import { noMetrics, silentLog, systemClock, systemRandom } from "@keelson/base";
import type { Client } from "@keelson/client";
import { Caches, controllerMetrics } from "@keelson/controller";

/** What such an app is made of: kinds, and what stands behind the app's name. */
const parts: readonly (readonly [apiVersion: string, kind: string, suffix: string])[] = [
  ["v1", "Secret", "-db"],
  ["v1", "ServiceAccount", ""],
  ["apps/v1", "Deployment", ""],
  ["v1", "Service", ""],
  ["autoscaling/v2", "HorizontalPodAutoscaler", ""],
  ["networking.k8s.io/v1", "Ingress", ""],
  ["networking.k8s.io/v1", "Ingress", "-api"],
];

export class ChildSightings implements AsyncDisposable {
  readonly #caches: Caches;
  readonly #waiting = new Map<string, () => void>();

  private constructor(client: Client, signal: AbortSignal) {
    const metrics = controllerMetrics(noMetrics);
    const shared = { clock: systemClock, random: systemRandom, log: silentLog, metrics };
    this.#caches = new Caches({ client, ...shared }, signal);
    for (const [apiVersion, kind] of parts) {
      this.#caches.of({ apiVersion, kind }).subscribe(({ type, object }) => {
        if (type === "added") this.#see(`${kind} ${object.metadata.name}`);
      });
    }
  }

  static async open(client: Client, signal: AbortSignal): Promise<ChildSightings> {
    const sightings = new ChildSightings(client, signal);
    await sightings.#caches.untilSynced(signal);
    return sightings;
  }

  /** The moment at which the last of them is seen, by `performance.now()`. To be asked before the app is applied. */
  async of(app: string): Promise<number> {
    await Promise.all(
      parts.map(
        ([, kind, suffix]) =>
          new Promise<void>((resolve) => {
            this.#waiting.set(`${kind} ${app}${suffix}`, resolve);
          }),
      ),
    );
    return performance.now();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#caches[Symbol.asyncDispose]();
  }

  #see(name: string): void {
    this.#waiting.get(name)?.();
    this.#waiting.delete(name);
  }
}
