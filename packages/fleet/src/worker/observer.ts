// Records what was seen: the latest of each row, again and again until it is recorded.

import { isCancellation, onAbort, type Clock, type Log } from "@keelson/base";
import type { DynamicObject } from "@keelson/client";
import { ForeignKeyViolation, isTransient, type Database } from "@keelson/database";
import {
  readApplied,
  recordAbsent,
  recordObserved,
  recordUndrifted,
  type Repair,
  type UndriftedState,
} from "../sql/observations.ts";
import { readStored } from "../sql/stored.ts";
import type { WorkBell } from "../work-bell.ts";
import type { WorkerMetrics } from "./metrics.ts";
import { observe, type AppliedRecord, type Judged } from "./observation.ts";
import type { Drifted } from "./drift.ts";
import type { OwnedField } from "./owned-fields.ts";
import { Repairs } from "./repairs.ts";

export interface ObserverOptions {
  readonly database: Database;
  readonly bell: WorkBell;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: WorkerMetrics;
  /** The row is gone, and this was seen last: nothing of it need be watched any more. */
  readonly onGone: (id: number, seen: Seen) => void;
}

/** How many rows are looked up at once. */
const batchMax = 200;
/** How many of them one statement records: it holds their rows to its end. */
const togetherMax = 50;
/** After how long a row is looked at again whose apply is not recorded yet, or that could not be written. */
const againMs = 25;
const againMsMax = 1_000;

/** An object; or that there was none, as of a version of its collection, which was asked for then if it was read as a whole. */
export type Seen =
  | { readonly type: "present"; readonly object: DynamicObject }
  | { readonly type: "absent"; readonly version: string; readonly askedMs?: number | undefined };

/** An object as we want it, and what is to be recorded of it. */
interface SeenUndrifted {
  readonly seen: Seen;
  readonly state: UndriftedState;
  readonly isAhead: boolean;
}

export class Observer {
  readonly #options: ObserverOptions;
  readonly #seen = new Map<number, Seen>();
  /** Of these nobody has looked at what was seen last; the others of `#seen` are looked at again after a while. */
  readonly #fresh = new Set<number>();
  readonly #repairs: Repairs;
  /** Objects of rows that are being deleted: one that comes back at the very end must not be overlooked. */
  readonly #lingering = new Map<number, Seen>();
  #wake = Promise.withResolvers<void>();

  constructor(options: ObserverOptions) {
    this.#options = options;
    this.#repairs = new Repairs(options.clock);
  }

  /** What was seen of a row before, and is not recorded yet, no longer matters. */
  see(id: number, seen: Seen): void {
    this.#seen.set(id, seen);
    this.#fresh.add(id);
    this.#wake.resolve();
  }

  /** Looks again at what is being deleted: its row may be gone by now. Answers whether there was any. */
  lookAgain(): boolean {
    const lingering = [...this.#lingering];
    this.#lingering.clear();
    for (const [id, seen] of lingering) {
      if (!this.#seen.has(id)) this.see(id, seen);
    }
    return lingering.length > 0;
  }

  /** Records until `signal`, under the fence of who watches. What is new never waits for what is looked at again. */
  async run(fence: string, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    let waitMs = againMs;
    let againAtMs = clock.monotonic();
    while (!signal.aborted) {
      try {
        const isTimeForAll = clock.monotonic() >= againAtMs;
        const fresh = [...this.#fresh];
        await this.#record(isTimeForAll ? [...this.#seen.keys()] : fresh, fence, signal);
        // As a rule an apply is recorded soon after it was seen: what is new is looked at again soon.
        const isNewLeft = fresh.some((id) => this.#seen.has(id));
        if (isNewLeft || this.#seen.size === 0) waitMs = againMs;
        const nextMs = clock.monotonic() + waitMs;
        againAtMs = isTimeForAll ? nextMs : Math.min(againAtMs, nextMs);
        if (isTimeForAll) waitMs = Math.min(waitMs * 2, againMsMax);
        await this.#nextSight(againAtMs, signal);
      } catch (error) {
        if (isCancellation(error, signal)) return;
        if (!isTransient(error)) throw error;
        log.warn({ error }, "what was seen is not recorded yet");
        await clock.sleep(againMsMax, signal).catch(() => undefined);
      }
    }
  }

  /** Until something is new; or, if something is left, until it is time to look at it again. */
  async #nextSight(againAtMs: number, signal: AbortSignal): Promise<void> {
    if (this.#fresh.size > 0 || signal.aborted) return;
    const { clock } = this.#options;
    this.#wake = Promise.withResolvers<void>();
    const { promise, resolve } = this.#wake;
    const isLeft = this.#seen.size > 0;
    using _again = isLeft ? clock.after(againAtMs - clock.monotonic(), resolve) : undefined;
    using _stop = onAbort(signal, resolve);
    await promise;
  }

  /** Goes through these rows once. Those that must be looked at again stay in `#seen`. */
  async #record(ids: readonly number[], fence: string, signal: AbortSignal): Promise<void> {
    for (let start = 0; start < ids.length; start += batchMax) {
      const batch = ids.slice(start, start + batchMax);
      const seenBefore = new Map(batch.map((id) => [id, this.#seen.get(id)]));
      const rows = await this.#options.database.run(readApplied, batch, signal);
      const nowMs = this.#options.clock.monotonic();
      const rowsById = new Map(rows.map((row) => [row.id, row]));
      const judgedOf = (row: AppliedRow, seen: Seen): Judged => ({
        id: row.id,
        applied: appliedOf(row, nowMs),
        // What came meanwhile may be of an apply that was begun since we asked.
        isAwaited: row.is_awaited || seenBefore.get(row.id) !== seen,
      });
      const together: SeenUndrifted[] = [];
      const alone: number[] = [];
      for (const id of batch) {
        const seen = this.#seen.get(id);
        const row = rowsById.get(id);
        const isOrdinary = seen?.type === "present" && row?.is_deleting === false;
        const undrifted = isOrdinary ? this.#undrifted(seen, judgedOf(row, seen)) : undefined;
        if (undrifted === undefined) alone.push(id);
        else together.push(undrifted);
      }
      for (let next = 0; next < together.length; next += togetherMax) {
        await this.#recordTogether(fence, together.slice(next, next + togetherMax), signal);
      }
      for (const id of alone) {
        const seen = this.#seen.get(id);
        if (seen === undefined) continue;
        const row = rowsById.get(id);
        this.#lingering.delete(id);
        if (row === undefined) {
          this.#forget(id, seen);
          this.#options.onGone(id, seen);
          continue;
        }
        if (row.is_deleting && seen.type === "present") this.#lingering.set(id, seen);
        const judged = judgedOf(row, seen);
        this.#looked(id, seen, await this.#recordUnlessGone(fence, seen, judged, signal));
      }
      this.#options.bell.told();
    }
  }

  /** What is to be recorded of an object that has not drifted; undefined if it has, or if it is not its time. */
  #undrifted(
    seen: Extract<Seen, { readonly type: "present" }>,
    judged: Judged,
  ): SeenUndrifted | undefined {
    const observed = observe(seen.object, judged);
    if (observed === "early" || observed === "old" || observed.drift.length > 0) return undefined;
    const { id, applied } = judged;
    const { numbers, drift, isAhead, ...state } = observed;
    const { generation = null, revision = null } = numbers ?? {};
    // There is nothing to repair, which is to be known: what was repaired is right now.
    this.#repairOf({ id, seen: state.resourceVersion }, drift, applied);
    const { uid: appliedUid = "", resourceVersion: appliedVersion = "" } = applied ?? {};
    const numbered = { id, ...state, generation, revision, appliedUid, appliedVersion };
    return { seen, state: numbered, isAhead };
  }

  /** Most of what is seen is as it should be, and goes together. */
  async #recordTogether(
    fence: string,
    all: readonly SeenUndrifted[],
    signal: AbortSignal,
  ): Promise<void> {
    const { database, metrics } = this.#options;
    const states = all.map(({ state }) => state);
    const settled = new Set<number>();
    try {
      for (const row of await database.run(recordUndrifted, { fence, states }, signal)) {
        if (row.is_settled) settled.add(row.id);
        const { since_applied_seconds: sinceApplied } = row;
        if (sinceApplied !== null) metrics.convergence.observe({ hop: "observed" }, sinceApplied);
      }
    } catch (error) {
      // A row was purged between our look and our record; the next look sees that.
      if (!(error instanceof ForeignKeyViolation)) throw error;
    }
    for (const { seen, state, isAhead } of all) {
      this.#looked(state.id, seen, settled.has(state.id) && !isAhead);
    }
  }

  #looked(id: number, seen: Seen, isDone: boolean): void {
    if (isDone) this.#forget(id, seen);
    else if (this.#seen.get(id) === seen) this.#fresh.delete(id);
  }

  /** What came meanwhile is looked at in its turn. */
  #forget(id: number, seen: Seen): void {
    if (this.#seen.get(id) !== seen) return;
    this.#seen.delete(id);
    this.#fresh.delete(id);
  }

  /** Its row may be purged between our look and our record; the next look sees that. */
  async #recordUnlessGone(
    fence: string,
    seen: Seen,
    judged: Judged,
    signal: AbortSignal,
  ): Promise<boolean> {
    try {
      return await this.#recordOne(fence, seen, judged, signal);
    } catch (error) {
      if (error instanceof ForeignKeyViolation) return false;
      throw error;
    }
  }

  async #recordOne(
    fence: string,
    seen: Seen,
    judged: Judged,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { database, bell } = this.#options;
    const { id, applied } = judged;
    const row = { id, fence };
    if (seen.type === "absent") {
      const { version } = seen;
      const repair = this.#repairOf({ id, seen: version }, absence, applied);
      const known = knownBefore(seen, applied);
      const [outcome] = await database.run(
        recordAbsent,
        { ...row, version, known, repair },
        signal,
      );
      if (outcome === undefined) return false; // Gone, as below.
      if (outcome.heals !== null) this.#options.metrics.drifts.add();
      if (outcome.heals === true) bell.ring();
      return outcome.is_settled;
    }
    const observed = observe(seen.object, judged);
    if (observed === "early") return false;
    if (observed === "old") return true;
    const { numbers, isAhead, ...state } = observed;
    const { generation = null, revision = null } = numbers ?? {};
    const repair = this.#repairOf({ id, seen: state.resourceVersion }, state.drift, applied);
    const { uid: appliedUid = "", resourceVersion: appliedVersion = "" } = applied ?? {};
    const [outcome] = await database.run(
      recordObserved,
      { ...row, ...state, generation, revision, repair, appliedUid, appliedVersion },
      signal,
    );
    // The row was purged since our look, and must be missed by the next: an object that outlives it is to be told of.
    if (outcome === undefined) return false;
    if (outcome.is_drifted === true && outcome.was_drifted !== true) {
      this.#options.metrics.drifts.add();
    }
    const sinceApplied = outcome.since_applied_seconds ?? undefined;
    if (sinceApplied !== undefined) {
      this.#options.metrics.convergence.observe({ hop: "observed" }, sinceApplied);
    }
    if (outcome.heals === true) bell.ring();
    // It was compared with what we applied before. If an apply is under way, or has been recorded since, this may be what
    // another wrote after it: nobody would tell of it again.
    return outcome.is_settled && !isAhead;
  }

  /** At once, unless somebody keeps undoing it. */
  #repairOf(
    { id, seen }: { readonly id: number; readonly seen: string },
    drift: readonly Pick<Drifted, "path" | "manager">[],
    applied: AppliedRecord | undefined,
  ): Repair {
    const fields = drift.map(({ path }) => path);
    const { uid = "", resourceVersion = "" } = applied ?? {};
    const versions = { applied: `${uid} ${resourceVersion}`, seen };
    const waitMs = this.#repairs.waitMs(id, fields, versions);
    if (waitMs === 0) return { waitMs, contested: null };
    const others = [...new Set(drift.map(({ manager }) => manager ?? "somebody"))].join(", ");
    const what = drift === absence ? "the object is removed" : `${fields.join(", ")} is changed`;
    const contested = `${what} again and again by ${others}: the next repair waits ${waitMs / 1_000} s`;
    return { waitMs, contested };
  }
}

/** What was applied, if that was recorded before the collection was asked for: it would be in the answer. */
function knownBefore(
  { askedMs }: Extract<Seen, { readonly type: "absent" }>,
  applied: AppliedRecord | undefined,
): { readonly uid: string; readonly version: string } | undefined {
  if (applied?.recordedMs === undefined || askedMs === undefined) return undefined;
  const { uid, resourceVersion: version, recordedMs } = applied;
  return recordedMs < askedMs ? { uid, version } : undefined;
}

/** What is repaired where there is no object. */
const absence = [{ path: "", manager: null }];

/** What `readApplied` tells of a row. */
interface AppliedRow {
  readonly id: number;
  readonly generation: number | null;
  readonly uid: string | null;
  readonly k8s_resource_version: string | null;
  readonly owned: string | null;
  readonly recorded_ms_ago: number | null;
  readonly is_awaited: boolean;
}

function appliedOf(row: AppliedRow, nowMs: number): AppliedRecord | undefined {
  const { generation, uid, k8s_resource_version: resourceVersion, owned } = row;
  const { recorded_ms_ago: agoMs } = row;
  if (generation === null) return undefined;
  return {
    generation,
    uid: uid ?? "",
    resourceVersion: resourceVersion ?? "",
    // Written by us from this very shape.
    owned: owned === null ? [] : (readStored(owned) as unknown as OwnedField[]),
    recordedMs: agoMs === null ? undefined : nowMs - agoMs,
  };
}
