// Writes of global resources that are only tried: made and undone with their copies, and each copy tried by its cluster.

import type { Identity, Json, JsonObject } from "@keelson/base";
import type { Transaction } from "@keelson/database";
import type { DryRunsOptions } from "../resources/dry-runs.ts";
import { policies, type Policies, type Resource } from "../resources/resource.ts";
import { tryAll } from "../resources/try-all.ts";
import type { Trial } from "../resources/try-on-target.ts";
import { undone } from "../resources/undone.ts";
import { listCopies, listPlacements } from "../sql/globals.ts";
import { toResource } from "../sql/resources.ts";
import { placementWarnings } from "./global-resource.ts";
import {
  GlobalWriter,
  readGlobal,
  readGlobalChange,
  requireEverywhere,
  type GlobalAt,
} from "./write-globals.ts";

/** What would become of a copy. */
type Outcome = "created" | "updated" | "unchanged" | "deleted" | "forgotten";

interface Planned {
  readonly copies: readonly (Trial & { readonly outcome: Outcome })[];
  readonly warnings: readonly JsonObject[];
}

/**
 * The same calls as those of `Globals`, with the same refusals, and nothing is stored. The answer has a result for each
 * cluster; what a cluster refuses, or that it cannot be reached, says so there.
 */
export class GlobalDryRuns {
  readonly #options: DryRunsOptions;

  constructor(options: DryRunsOptions) {
    this.#options = options;
  }

  async create(
    identity: Identity,
    body: Json | undefined,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    requireEverywhere(identity);
    const wanted = readGlobal(this.#options.kinds, body);
    return this.#tried(
      identity,
      async (writer, sql) => {
        const { id } = await writer.create(wanted);
        return { copies: plan([], await copiesOf(sql, id)), warnings: await warningsOf(sql, id) };
      },
      signal,
    );
  }

  async replace(
    identity: Identity,
    at: GlobalAt,
    body: Json | undefined,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    requireEverywhere(identity);
    const change = readGlobalChange(body);
    return this.#tried(
      identity,
      async (writer, sql) => {
        const before = await copiesOf(sql, at.id);
        await writer.replace(at, change);
        const copies = plan(before, await copiesOf(sql, at.id));
        return { copies, warnings: await warningsOf(sql, at.id) };
      },
      signal,
    );
  }

  async delete(
    identity: Identity,
    { isOrphaning, ...at }: GlobalAt & { readonly isOrphaning: boolean },
    signal: AbortSignal,
  ): Promise<JsonObject> {
    requireEverywhere(identity);
    return this.#tried(
      identity,
      async (writer, sql) => {
        const before = await copiesOf(sql, at.id);
        await writer.delete(at, { isOrphaning });
        if (!isOrphaning) return { copies: plan(before, await copiesOf(sql, at.id)), warnings: [] };
        const forgotten = before.map((resource) => {
          return { op: "forget", outcome: "forgotten", resource } as const;
        });
        return { copies: forgotten, warnings: [] };
      },
      signal,
    );
  }

  async #tried(
    identity: Identity,
    work: (writer: GlobalWriter, sql: Transaction) => Promise<Planned>,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const { markers } = this.#options;
    const { copies, warnings } = await undone(
      this.#options,
      async (sql) => work(await GlobalWriter.in(sql, { identity, markers }), sql),
      signal,
    );
    const results = await tryAll(this.#options, copies, signal);
    return {
      dry_run: true,
      results: copies.map(({ resource, outcome }, index) => {
        return { cluster_id: resource.clusterId, outcome, ...results[index] };
      }),
      warnings,
    };
  }
}

async function copiesOf(sql: Transaction, id: number): Promise<readonly Resource[]> {
  return (await sql.run(listCopies, id)).map(toResource);
}

async function warningsOf(sql: Transaction, id: number): Promise<readonly JsonObject[]> {
  return placementWarnings(await sql.run(listPlacements, { id, clusters: null }));
}

/** What has become of the copies, in the order of their clusters. Those that were leaving already do nothing new. */
function plan(before: readonly Resource[], after: readonly Resource[]): Planned["copies"] {
  const former = new Map(before.map((copy) => [copy.id, copy]));
  const present = new Map(after.map((copy) => [copy.id, copy]));
  return [...new Map([...former, ...present]).values()]
    .filter(({ id }) => former.get(id)?.isDeleting !== true)
    .toSorted((one, other) => (one.clusterId < other.clusterId ? -1 : 1))
    .map((resource) => {
      // A copy that no worker has begun goes with the write itself.
      const isLeaving = resource.isDeleting || !present.has(resource.id);
      if (isLeaving) return { op: "delete", outcome: "deleted", resource };
      return { op: "apply", outcome: outcomeOf(former.get(resource.id), resource), resource };
    });
}

function outcomeOf(former: Resource | undefined, copy: Resource): Outcome {
  if (former === undefined) return "created";
  const isSame =
    former.generation === copy.generation &&
    former.paused === copy.paused &&
    Object.keys(policies).every(
      (name) => former[name as keyof Policies] === copy[name as keyof Policies],
    );
  return isSame ? "unchanged" : "updated";
}
