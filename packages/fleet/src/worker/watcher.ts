// Watches a target: one reflector a kind in use, each feeding the observer.

import {
  Backoff,
  isCancellation,
  TaskScope,
  type Clock,
  type Log,
  type Random,
} from "@keelson/base";
import {
  collectionOf,
  isLater,
  keyOf,
  refOf,
  runReflector,
  type Client,
  type DynamicObject,
  type Mirror,
} from "@keelson/client";
import type { Database, Wakeups } from "@keelson/database";
import { holdTarget, leaveTarget } from "../sql/observations.ts";
import { workChannel, type WorkBell } from "../work-bell.ts";
import { annotations } from "./desired-object.ts";
import { Observer, type Seen } from "./observer.ts";
import { WatchedRows, type WatchedKind } from "./watched-rows.ts";

export interface WatcherOptions {
  readonly clusterId: string;
  readonly client: Client;
  readonly database: Database;
  readonly wakeups: Wakeups;
  readonly bell: WorkBell;
  readonly owner: string;
  readonly limits: WatcherLimits;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export interface WatcherLimits {
  readonly leaseMs: number;
  readonly pollMs: number;
  readonly deafPollMs: number;
}

/** Watches while it holds the target's lease; one replica does. Runs until `signal`. */
export async function watchTarget(options: WatcherOptions, signal: AbortSignal): Promise<void> {
  const { clusterId, owner, database, clock, log, limits } = options;
  const hold = async (): Promise<string | undefined> => {
    const { leaseMs } = limits;
    const [row] = await database.run(holdTarget, { clusterId, owner, leaseMs }, signal);
    return row?.fence;
  };
  const everyMs = limits.leaseMs / 3;
  while (!signal.aborted) {
    try {
      const fence = await hold();
      if (fence !== undefined) await watchWhileHeld(options, { fence, hold, everyMs }, signal);
      else await clock.sleep(everyMs, signal);
    } catch (error) {
      if (isCancellation(error, signal)) break;
      log.warn({ error, cluster_id: clusterId }, "watching a target failed, beginning again");
      await clock.sleep(1_000, signal).catch(() => undefined);
    }
  }
  await database.run(leaveTarget, { clusterId, owner }, uncancelled).catch(() => undefined);
}

const uncancelled = new AbortController().signal;

/** The lease is gone: another may be watching already. */
class LeaseGone extends Error {
  readonly code = "LEASE_GONE";
  override readonly name = "LeaseGone";
}

async function watchWhileHeld(
  options: WatcherOptions,
  {
    fence,
    hold,
    everyMs,
  }: {
    readonly fence: string;
    readonly hold: () => Promise<string | undefined>;
    readonly everyMs: number;
  },
  signal: AbortSignal,
): Promise<void> {
  const { database, clusterId, bell, clock, log } = options;
  const rows = new WatchedRows();
  const onGone = (id: number): void => rows.forget(id);
  const observer = new Observer({ database, bell, clock, log, onGone });
  await using scope = new TaskScope(signal);
  scope.spawn("lease", async (within) => {
    for (;;) {
      await clock.sleep(everyMs, within);
      if ((await hold()) !== fence) throw new LeaseGone(`${clusterId} is watched by another`);
    }
  });
  scope.spawn("observer", (within) => observer.run(fence, within));
  scope.spawn("kinds", (within) => followKinds(options, { rows, observer, scope }, within));
  await scope.join();
}

/** Begins to watch a kind when a row wants one of it. */
async function followKinds(
  options: WatcherOptions,
  parts: { readonly rows: WatchedRows; readonly observer: Observer; readonly scope: TaskScope },
  signal: AbortSignal,
): Promise<void> {
  const { database, clusterId, wakeups, limits } = options;
  const { rows, observer, scope } = parts;
  const { pollMs, deafPollMs } = limits;
  const mirrors = new Map<string, RowMirror>();
  using subscription = wakeups.subscribe(workChannel, { pollMs, deafPollMs });
  const onStranger = (): void => wakeups.wakeHere(workChannel);
  for (;;) {
    await subscription.wait(signal);
    await rows.refresh(database, clusterId, signal);
    for (const mirror of mirrors.values()) mirror.lookAgain();
    for (const kind of rows.kinds) {
      if (mirrors.has(kind.id)) continue;
      const mirror = new RowMirror({ kind: kind.id, rows, observer, onStranger });
      mirrors.set(kind.id, mirror);
      scope.spawn(`watch of ${kind.id}`, (within) => followKind(options, kind, mirror, within));
    }
  }
}

/** Follows a kind from the moment on at which the cluster serves it. */
async function followKind(
  { client, clock, random, log, clusterId }: WatcherOptions,
  { apiVersion, kind }: WatchedKind,
  mirror: Mirror,
  signal: AbortSignal,
): Promise<void> {
  const backoff = new Backoff({ initialMs: 250, maxMs: 10_000, random });
  while (!signal.aborted) {
    try {
      const resource = await client.kinds.resolve({ apiVersion, kind }, signal);
      const collection = collectionOf({ client, resource });
      await runReflector(
        { collection, mirror, clock, random, log, metrics: client.metrics },
        signal,
      );
    } catch (error) {
      if (isCancellation(error, signal)) return;
      log.debug({ error, cluster_id: clusterId, kind }, "a kind cannot be watched yet");
      await clock.sleep(backoff.next(), signal).catch(() => undefined);
    }
  }
}

interface RowMirrorOptions {
  readonly kind: string;
  readonly rows: WatchedRows;
  readonly observer: Observer;
  /** An object bears our mark, and no row of its name is known: there may be a new one. */
  readonly onStranger: () => void;
}

/** Hands the observer what concerns a row; whatever else is in the cluster costs a look into a map. */
class RowMirror implements Mirror {
  readonly #options: RowMirrorOptions;
  /** Objects with our mark that came before their rows were read, the latest of each. */
  readonly #strangers = new Map<string, DynamicObject>();
  #version = "";

  constructor(options: RowMirrorOptions) {
    this.#options = options;
  }

  known(): string {
    return this.#version;
  }

  replace(objects: readonly DynamicObject[], version: string): void {
    const { rows, observer, kind } = this.#options;
    this.#version = version;
    const present = new Set<string>();
    for (const object of objects) {
      present.add(keyOf(refOf(object)));
      this.#tell(object, { type: "present", object });
    }
    for (const [key, ids] of rows.all(kind)) {
      if (present.has(key)) continue;
      for (const id of ids) observer.see(id, { type: "absent", version });
    }
  }

  change(type: "ADDED" | "MODIFIED" | "DELETED", object: DynamicObject): void {
    const { resourceVersion: version = "" } = object.metadata;
    if (isLater(version, this.#version)) this.#version = version;
    this.#tell(
      object,
      type === "DELETED" ? { type: "absent", version } : { type: "present", object },
    );
  }

  bookmark(version: string): void {
    this.#version = version;
  }

  /** Rows were read: strangers are known now, or are nobody's. */
  lookAgain(): void {
    const strangers = [...this.#strangers.values()];
    this.#strangers.clear();
    for (const object of strangers) {
      for (const id of this.#rowsOf(object)) {
        this.#options.observer.see(id, { type: "present", object });
      }
    }
  }

  #tell(object: DynamicObject, seen: Seen): void {
    const ids = this.#rowsOf(object);
    for (const id of ids) this.#options.observer.see(id, seen);
    if (ids.length > 0) return;
    const key = keyOf(refOf(object));
    if (seen.type === "absent") this.#strangers.delete(key);
    else if (object.metadata.annotations?.[annotations.resourceId] !== undefined) {
      this.#strangers.set(key, object);
      this.#options.onStranger();
    }
  }

  #rowsOf(object: DynamicObject): readonly number[] {
    return this.#options.rows.of(this.#options.kind, keyOf(refOf(object)));
  }
}
