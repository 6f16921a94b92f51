// Records what was seen: the latest of each row, again and again until it is recorded.

import { isCancellation, onAbort, readJson, type Clock, type Log } from "@keelson/base";
import type { DynamicObject } from "@keelson/client";
import { isTransient, type Database } from "@keelson/database";
import { askForRepair, readApplied, recordAbsent, recordObserved } from "../sql/observations.ts";
import type { WorkBell } from "../work-bell.ts";
import type { WorkerMetrics } from "./metrics.ts";
import { observe, type AppliedRecord } from "./observation.ts";
import type { OwnedField } from "./owned-fields.ts";
import { Repairs } from "./repairs.ts";

export interface ObserverOptions {
  readonly database: Database;
  readonly bell: WorkBell;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: WorkerMetrics;
  /** The row is gone: nothing of it need be watched any more. */
  readonly onGone: (id: number) => void;
}

/** How many rows are looked up at once. */
const batchMax = 200;
/** After how long a row is looked at again whose apply is not recorded yet, or that could not be written. */
const againMs = 25;
const againMsMax = 1_000;

/** An object; or that there was none, as of a version of its collection. */
export type Seen =
  | { readonly type: "present"; readonly object: DynamicObject }
  | { readonly type: "absent"; readonly version: string };

export class Observer {
  readonly #options: ObserverOptions;
  readonly #seen = new Map<number, Seen>();
  readonly #repairs: Repairs;
  #wake = Promise.withResolvers<void>();

  constructor(options: ObserverOptions) {
    this.#options = options;
    this.#repairs = new Repairs(options.clock);
  }

  /** What was seen of a row before, and is not recorded yet, no longer matters. */
  see(id: number, seen: Seen): void {
    this.#seen.set(id, seen);
    this.#wake.resolve();
  }

  /** Records until `signal`, under the fence of who watches. */
  async run(fence: string, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    let waitMs = againMs;
    while (!signal.aborted) {
      try {
        const left = await this.#record(fence, signal);
        if (left > 0) await clock.sleep(waitMs, signal);
        waitMs = left > 0 ? Math.min(waitMs * 2, againMsMax) : againMs;
        if (left === 0) await this.#nextSight(signal);
      } catch (error) {
        if (isCancellation(error, signal)) return;
        if (!isTransient(error)) throw error;
        log.warn({ error }, "what was seen is not recorded yet");
        await clock.sleep(againMsMax, signal).catch(() => undefined);
      }
    }
  }

  async #nextSight(signal: AbortSignal): Promise<void> {
    if (this.#seen.size > 0 || signal.aborted) return;
    this.#wake = Promise.withResolvers<void>();
    const { promise, resolve } = this.#wake;
    using _stop = onAbort(signal, resolve);
    await promise;
  }

  /** Goes through everything that was seen once. Answers how many must be looked at again. */
  async #record(fence: string, signal: AbortSignal): Promise<number> {
    const ids = [...this.#seen.keys()];
    for (let start = 0; start < ids.length; start += batchMax) {
      const batch = ids.slice(start, start + batchMax);
      const rows = await this.#options.database.run(readApplied, batch, signal);
      const applied = new Map(rows.map((row) => [row.id, appliedOf(row)]));
      for (const id of batch) {
        const seen = this.#seen.get(id);
        if (seen === undefined) continue;
        if (!applied.has(id)) {
          this.#options.onGone(id);
          this.#seen.delete(id);
          continue;
        }
        const isDone = await this.#recordOne({ id, fence }, seen, applied.get(id), signal);
        // What came meanwhile is looked at in its turn.
        if (isDone && this.#seen.get(id) === seen) this.#seen.delete(id);
      }
      this.#options.bell.told();
    }
    return this.#seen.size;
  }

  async #recordOne(
    row: { readonly id: number; readonly fence: string },
    seen: Seen,
    applied: AppliedRecord | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { database } = this.#options;
    if (seen.type === "absent") {
      const { version } = seen;
      const [outcome] = await database.run(recordAbsent, { ...row, version }, signal);
      if (outcome !== undefined) this.#options.metrics.drifts.add();
      if (outcome?.heals === true) await this.#repair(row.id, ["absent"], signal);
      return true;
    }
    const observed = observe(seen.object, row.id, applied);
    if (observed === "early") return false;
    if (observed === "old") return true;
    const { numbers, ...state } = observed;
    const { generation = null, revision = null } = numbers ?? {};
    const [outcome] = await database.run(
      recordObserved,
      { ...row, ...state, generation, revision },
      signal,
    );
    if (outcome?.is_drifted === true && outcome.was_drifted !== true) {
      this.#options.metrics.drifts.add();
    }
    if (outcome?.heals === true) {
      const fields = observed.drift.map(({ path }) => path);
      await this.#repair(row.id, fields, signal);
    }
    return true;
  }

  /** At once, unless somebody keeps undoing it. */
  async #repair(id: number, fields: readonly string[], signal: AbortSignal): Promise<void> {
    const { database, bell } = this.#options;
    const waitMs = this.#repairs.waitMs(id, fields);
    await database.run(askForRepair, { id, waitMs }, signal);
    bell.ring();
  }
}

function appliedOf(row: {
  readonly generation: number | null;
  readonly uid: string | null;
  readonly k8s_resource_version: string | null;
  readonly owned: string | null;
}): AppliedRecord | undefined {
  const { generation, uid, k8s_resource_version: resourceVersion, owned } = row;
  if (generation === null) return undefined;
  return {
    generation,
    uid: uid ?? "",
    resourceVersion: resourceVersion ?? "",
    // Written by us from this very shape.
    owned: owned === null ? [] : (readJson(owned) as unknown as OwnedField[]),
  };
}
