// The statuses of resources as a caller may see them: from the cache where it is true, else calculated and cached.

import type { Clock, Random } from "@keelson/base";
import type { Database, Outbox, Runner } from "@keelson/database";
import type { KindName } from "../kinds.ts";
import type { ClustersMetrics } from "../metrics.ts";
import type { Resource } from "../resources/resource.ts";
import {
  cacheStatuses,
  readFacts,
  readSomeStaleFacts,
  toFacts,
  type DatedFacts,
  type NewStatus,
} from "../sql/statuses.ts";
import { findResource, toResource } from "../sql/resources.ts";
import { aggregate, settle, type StatusRules } from "./aggregate.ts";
import type { Status } from "./status.ts";

export interface StatusesOptions {
  readonly database: Database;
  readonly outbox: Outbox;
  /** Follows the time of the database. */
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
  readonly rules: StatusRules;
  readonly metrics: ClustersMetrics;
}

export interface StatusPage {
  readonly resources: readonly Resource[];
  /** Of those that live and are stale. */
  readonly facts: readonly DatedFacts[];
  /** When it was read. */
  readonly nowMs: number;
}

/** How often a status is calculated again because its resource moved meanwhile. */
const triesMax = 2;

export class Statuses {
  readonly #options: StatusesOptions;

  constructor(options: StatusesOptions) {
    this.#options = options;
  }

  get rules(): StatusRules {
    return this.#options.rules;
  }

  nowMs(): number {
    return Math.floor(this.#options.clock.now());
  }

  /** The status of one resource, which was read just now. Never fails because a cache could not be written. */
  async of(resource: Resource, signal: AbortSignal): Promise<Status | undefined> {
    const { metrics, database } = this.#options;
    if (resource.deletedAt !== null) return lastStatus(resource, resource.deletedAt);
    metrics.cacheReads.add({ result: resource.isStale ? "stale" : "hit" });
    if (!resource.isStale) return resource.cached;
    const { kind, id } = resource;
    let shown = resource.cached;
    for (let tries = 1; tries <= triesMax; tries++) {
      const rows = await database.run(readFacts, { kind, ids: [id] }, signal);
      const [calculated] = this.#calculate(rows.map(toFacts));
      if (calculated === undefined) return shown;
      shown = calculated.status;
      const cached = await this.#cache(kind, [calculated], signal);
      if (cached.has(id)) return shown;
      // Somebody was faster, or is writing: what they cached is what everybody shall see.
      const [row] = await database.run(findResource, { kind, id, nowMs: this.nowMs() }, signal);
      if (row === undefined) return shown;
      const found = toResource(kind, row);
      if (!found.isStale) return found.cached;
    }
    return shown;
  }

  /**
   * The statuses of a page, as of the moment at which it was read: what is stale is calculated from the facts that were
   * read with it, and cached by one statement.
   */
  async ofPage(
    kind: KindName,
    { resources, facts, nowMs }: StatusPage,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Status>> {
    const { metrics } = this.#options;
    const shown = new Map<string, Status>();
    for (const resource of resources) {
      const { id, deletedAt, cached } = resource;
      if (deletedAt !== null) shown.set(id, lastStatus(resource, deletedAt));
      else if (cached !== undefined) shown.set(id, cached);
    }
    const live = resources.filter(({ deletedAt }) => deletedAt === null).length;
    metrics.cacheReads.add({ result: "hit" }, live - facts.length);
    metrics.cacheReads.add({ result: "stale" }, facts.length);
    if (facts.length === 0) return shown;
    const calculated = this.#calculate(facts, nowMs);
    await this.#cache(kind, calculated, signal);
    for (const { id, status } of calculated) shown.set(id, status);
    return shown;
  }

  /** Calculates up to `limit` stale ones; gives how many were found, and how many it could cache. */
  async refreshSome(
    kind: KindName,
    limit: number,
    signal: AbortSignal,
  ): Promise<{ readonly found: number; readonly cached: number }> {
    const asked = { kind, limit, nowMs: this.nowMs() };
    const rows = await this.#options.database.run(readSomeStaleFacts, asked, signal);
    const calculated = this.#calculate(rows.map(toFacts));
    if (calculated.length === 0) return { found: 0, cached: 0 };
    const cached = await this.#cacheOrThrow(kind, calculated, signal);
    return { found: calculated.length, cached: cached.size };
  }

  /** The status within a transaction that has locked the resource; nothing is cached. */
  async within(sql: Runner, { kind, id }: Pick<Resource, "kind" | "id">): Promise<Status> {
    const rows = await sql.run(readFacts, { kind, ids: [id] });
    const [calculated] = this.#calculate(rows.map(toFacts));
    if (calculated === undefined) throw new TypeError(`${kind} ${id} is not there`);
    return calculated.status;
  }

  /** Calculates and caches the status within a transaction that has locked the resource. */
  async settleWithin(sql: Runner, resource: Pick<Resource, "kind" | "id">): Promise<Status> {
    const { kind, id } = resource;
    const rows = await sql.run(readFacts, { kind, ids: [id] });
    const statuses = this.#calculate(rows.map(toFacts));
    const [calculated] = statuses;
    if (calculated === undefined) throw new TypeError(`${kind} ${id} is not there`);
    await sql.run(cacheStatuses, { kind, statuses, nowMs: this.nowMs() });
    return calculated.status;
  }

  /** What `facts` add up to. */
  settle(
    { facts, previous }: Pick<DatedFacts, "facts" | "previous">,
    nowMs = this.nowMs(),
  ): { readonly status: Status; readonly expiresAtMs: number | undefined } {
    const verdict = aggregate(facts, this.#options.rules, nowMs);
    const { generation } = facts;
    return {
      status: settle(verdict, { generation, previous, nowMs }),
      expiresAtMs: verdict.expiresAtMs,
    };
  }

  #calculate(all: readonly DatedFacts[], nowMs = this.nowMs()): readonly NewStatus[] {
    const { random } = this.#options;
    return all.map(({ id, revision, ...dated }) => ({
      id,
      revision,
      ...this.settle(dated, nowMs),
      eventId: random.uuid(),
    }));
  }

  /** A cache that cannot be written costs the next reader a calculation, and this one nothing. */
  async #cache(
    kind: KindName,
    statuses: readonly NewStatus[],
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>> {
    try {
      return await this.#cacheOrThrow(kind, statuses, signal);
    } catch {
      return new Set();
    }
  }

  async #cacheOrThrow(
    kind: KindName,
    statuses: readonly NewStatus[],
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>> {
    const { database, outbox } = this.#options;
    const rows = await database.run(cacheStatuses, { kind, statuses, nowMs: this.nowMs() }, signal);
    if (rows.some(({ told }) => told)) outbox.wakeups.wakeHere(outbox.writtenChannel);
    return new Set(rows.map(({ id }) => id));
  }
}

/** What a tombstone says: how it ended. */
function lastStatus({ generation, cached }: Resource, deletedAt: Date): Status {
  const facts = {
    generation,
    generationChangedAtMs: 0,
    isDeleting: true,
    reports: [],
    registered: [],
    retired: [],
  };
  const nowMs = deletedAt.getTime();
  const verdict = aggregate(facts, { graceMs: 0, recentMs: 0, fatalFails: true }, nowMs);
  return settle(verdict, { generation, previous: cached, nowMs });
}
