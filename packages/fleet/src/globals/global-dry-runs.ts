// Writes of global resources that are only tried: made and undone with their copies, and each copy tried by its cluster.

import type { Identity, Json, JsonObject } from "@keelson/base";
import type { Transaction } from "@keelson/database";
import type { DryRunsOptions } from "../resources/dry-runs.ts";
import type { Resource } from "../resources/resource.ts";
import { tryAll } from "../resources/try-all.ts";
import { undone } from "../resources/undone.ts";
import { listCopies, listPlacements } from "../sql/globals.ts";
import { toResource } from "../sql/resources.ts";
import { placementWarnings } from "./global-resource.ts";
import { forgottenCopies, plannedCopies, type PlannedCopy } from "./planned-copies.ts";
import {
  GlobalWriter,
  readGlobal,
  readGlobalChange,
  requireEverywhere,
  type GlobalAt,
} from "./write-globals.ts";

interface Planned {
  readonly copies: readonly PlannedCopy[];
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
        const copies = plannedCopies([], await copiesOf(sql, id));
        return { copies, warnings: await warningsOf(sql, id) };
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
        const copies = plannedCopies(before, await copiesOf(sql, at.id));
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
        const copies = isOrphaning
          ? forgottenCopies(before)
          : plannedCopies(before, await copiesOf(sql, at.id));
        return { copies, warnings: [] };
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
