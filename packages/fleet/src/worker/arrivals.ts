// What rows have been waiting for and the cluster has now: namespaces, and kinds by their definitions.

import {
  Backoff,
  isCancellation,
  isJsonArray,
  isJsonObject,
  type Clock,
  type Json,
  type JsonObject,
  type Log,
  type Random,
  type TaskScope,
} from "@keelson/base";
import {
  collectionOf,
  isLater,
  runReflector,
  type Client,
  type DynamicObject,
  type Mirror,
  type ObjectKind,
} from "@keelson/client";
import type { Database } from "@keelson/database";
import { askForWaiting, findWaiting } from "../sql/waiting.ts";

export interface ArrivalsOptions {
  readonly clusterId: string;
  readonly client: Client;
  readonly database: Database;
  readonly scope: TaskScope;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Something has arrived: it is time to announce it. */
  readonly onArrival: () => void;
}

/** By whom it is said that something has arrived. */
const announcers = {
  "no-namespace": { apiVersion: "v1", kind: "Namespace" },
  "no-kind": { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" },
} as const;

/** Watches for what rows wait for, from the first that waits on, and tells them. */
export class Arrivals {
  readonly #options: ArrivalsOptions;
  readonly #watched = new Set<string>();
  readonly #namespaces = new Set<string>();
  readonly #kinds = new Map<string, { readonly group: string; readonly kind: string }>();

  constructor(options: ArrivalsOptions) {
    this.#options = options;
  }

  /** Begins to watch where somebody waits, and makes due whoever has waited for what has arrived: answers whether any. */
  async announce(signal: AbortSignal): Promise<boolean> {
    const { database, clusterId, scope } = this.#options;
    for (const { error_class: missing } of await database.run(findWaiting, clusterId, signal)) {
      if (this.#watched.has(missing)) continue;
      this.#watched.add(missing);
      scope.spawn(`watch for ${missing}`, (within) => this.#follow(announcers[missing], within));
    }
    if (this.#namespaces.size === 0 && this.#kinds.size === 0) return false;
    const namespaces = [...this.#namespaces];
    const kinds = [...this.#kinds.values()];
    const arrived = {
      clusterId,
      namespaces,
      groups: kinds.map(({ group }) => group),
      kinds: kinds.map(({ kind }) => kind),
    };
    const [row] = await database.run(askForWaiting, arrived, signal);
    // Only now: had the statement failed, they would have to be told again.
    for (const name of namespaces) this.#namespaces.delete(name);
    for (const { group, kind } of kinds) this.#kinds.delete(`${group}/${kind}`);
    return (row?.asked ?? 0) > 0;
  }

  async #follow(kind: ObjectKind, signal: AbortSignal): Promise<void> {
    const { client, clock, random, log, clusterId } = this.#options;
    const backoff = new Backoff({ initialMs: 250, maxMs: 30_000, random });
    while (!signal.aborted) {
      try {
        const resource = await client.kinds.resolve(kind, signal);
        const collection = collectionOf({ client, resource });
        const mirror = new ArrivalMirror((object) => this.#take(object));
        await runReflector(
          { collection, mirror, clock, random, log, metrics: client.metrics },
          signal,
        );
      } catch (error) {
        if (isCancellation(error, signal)) return;
        log.debug({ error, cluster_id: clusterId }, "what rows wait for cannot be watched yet");
        await clock.sleep(backoff.next(), signal).catch(() => undefined);
      }
    }
  }

  #take(object: DynamicObject): void {
    if (object.metadata.deletionTimestamp !== undefined) return;
    if (object.kind === "Namespace") this.#namespaces.add(object.metadata.name ?? "");
    else {
      const served = servedKind(object);
      if (served === undefined) return;
      this.#options.client.kinds.invalidate();
      this.#kinds.set(`${served.group}/${served.kind}`, served);
    }
    this.#options.onArrival();
  }
}

/** Hands over whatever comes or changes; that something goes makes nobody due. */
class ArrivalMirror implements Mirror {
  readonly #take: (object: DynamicObject) => void;
  #version = "";

  constructor(take: (object: DynamicObject) => void) {
    this.#take = take;
  }

  known(): string {
    return this.#version;
  }

  replace(objects: readonly DynamicObject[], version: string): void {
    this.#version = version;
    for (const object of objects) this.#take(object);
  }

  change(type: "ADDED" | "MODIFIED" | "DELETED", object: DynamicObject): void {
    const { resourceVersion: version = "" } = object.metadata;
    if (isLater(version, this.#version)) this.#version = version;
    if (type !== "DELETED") this.#take(object);
  }

  bookmark(version: string): void {
    this.#version = version;
  }
}

/** The kind of a definition that the cluster has established. */
function servedKind(
  definition: DynamicObject,
): { readonly group: string; readonly kind: string } | undefined {
  const { spec, status } = definition as JsonObject;
  const conditions = memberOf(status, "conditions");
  const isEstablished =
    isJsonArray(conditions) &&
    conditions.some(
      (one) => memberOf(one, "type") === "Established" && memberOf(one, "status") === "True",
    );
  const group = memberOf(spec, "group");
  const kind = memberOf(memberOf(spec, "names"), "kind");
  return isEstablished && typeof group === "string" && typeof kind === "string"
    ? { group, kind }
    : undefined;
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}
