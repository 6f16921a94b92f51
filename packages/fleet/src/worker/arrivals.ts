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
import { askForWaiting, findWaiting, type Arrived } from "../sql/waiting.ts";

export interface ArrivalsOptions {
  readonly clusterId: string;
  readonly client: Client;
  readonly database: Database;
  readonly scope: TaskScope;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly limits: { readonly leaseMs: number };
  /** Something has arrived, perhaps this kind: it is time to announce it. */
  readonly onArrival: (kind?: string) => void;
}

/** A namespace, or a kind, that has arrived, and when it was told by the clocks of the database and of this process. */
interface Arrival {
  readonly what: string | ServedKind;
  told: { readonly at: string; readonly ms: number } | undefined;
}

interface ServedKind {
  readonly group: string;
  readonly kind: string;
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
  readonly #arrived = new Map<string, Arrival>();

  constructor(options: ArrivalsOptions) {
    this.#options = options;
  }

  /**
   * Begins to watch where somebody waits, and makes due whoever has waited for what has arrived: answers whether any.
   * What has arrived is told again for as long as somebody may be trying who began before: their failure is recorded
   * only afterwards.
   */
  async announce(signal: AbortSignal): Promise<boolean> {
    const { database, clusterId, scope, clock, limits } = this.#options;
    const waiting = await database.run(findWaiting, clusterId, signal);
    for (const { error_class: missing } of waiting) {
      if (this.#watched.has(missing)) continue;
      this.#watched.add(missing);
      scope.spawn(`watch for ${missing}`, (within) => this.#follow(announcers[missing], within));
    }
    const nowMs = clock.monotonic();
    for (const [key, { told }] of this.#arrived) {
      if (told !== undefined && nowMs - told.ms > limits.leaseMs) this.#arrived.delete(key);
    }
    const all = [...this.#arrived.values()];
    if (all.length === 0 || (waiting.length === 0 && all.every(({ told }) => told !== undefined))) {
      return false;
    }
    const [row] = await database.run(askForWaiting, arrivedOf(clusterId, all), signal);
    // Only now: had the statement failed, they would have to be told again.
    const told = { at: row?.at ?? "", ms: clock.monotonic() };
    for (const arrival of all) arrival.told ??= told;
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
    const { onArrival, client } = this.#options;
    if (object.kind === "Namespace") {
      const { name = "" } = object.metadata;
      this.#arrived.set(name, { what: name, told: undefined });
      onArrival();
      return;
    }
    const served = servedKind(object);
    if (served === undefined) return;
    client.kinds.invalidate();
    const key = `${served.group}/${served.kind}`;
    this.#arrived.set(key, { what: served, told: undefined });
    onArrival(key);
  }
}

function arrivedOf(clusterId: string, all: readonly Arrival[]): Arrived {
  const namespaces = all.flatMap(({ what, told }) =>
    typeof what === "string" ? { name: what, at: told?.at ?? null } : [],
  );
  const kinds = all.flatMap(({ what, told }) =>
    typeof what === "string" ? [] : { ...what, at: told?.at ?? null },
  );
  return {
    clusterId,
    groups: kinds.map(({ group }) => group),
    kinds: kinds.map(({ kind }) => kind),
    kindsTold: kinds.map(({ at }) => at),
    namespaces: namespaces.map(({ name }) => name),
    namespacesTold: namespaces.map(({ at }) => at),
  };
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
function servedKind(definition: DynamicObject): ServedKind | undefined {
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
