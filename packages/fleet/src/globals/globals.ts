// What the API does with global resources. Each write is a transaction that carries its copies along.

import {
  jsonEqual,
  RestError,
  validationFailed,
  type Identity,
  type Json,
  type JsonObject,
} from "@keelson/base";
import type { Database, Transaction } from "@keelson/database";
import type { BuiltinKinds } from "@keelson/kube";
import { revisionAnswer } from "../resources/answers.ts";
import type { PageAsked } from "../resources/list-query.ts";
import { requireRole } from "../resources/permissions.ts";
import { Fields } from "../resources/read-fields.ts";
import {
  checkMatch,
  checkWritable,
  readReplacement,
  replaced,
  restoredBy,
  type EarlierState,
  type Replacement,
} from "../resources/replacement.ts";
import { readNewGlobal } from "../resources/resource-body.ts";
import { usualPolicies } from "../resources/resource.ts";
import type { SecretMarkers } from "../resources/secret-markers.ts";
import { transact } from "../resources/transact.ts";
import {
  countGlobals,
  findGlobal,
  findGlobalRevision,
  forgetGlobal,
  holdGlobals,
  insertGlobal,
  listGlobalRevisions,
  listGlobals,
  listPlacements,
  markGlobalDeleted,
  toGlobal,
  updateGlobal,
  type GlobalRow,
  type PlacementRow,
} from "../sql/globals.ts";
import { specOf, writeAs } from "../sql/resources.ts";
import type { WorkBell } from "../work-bell.ts";
import {
  globalAnswer,
  listedGlobalAnswer,
  placementWarnings,
  type GlobalResource,
} from "./global-resource.ts";
import { readSelector } from "./selector.ts";

export interface GlobalsOptions {
  readonly database: Database;
  readonly kinds: BuiltinKinds;
  readonly markers: SecretMarkers;
  readonly bell: WorkBell;
}

/** Only for admins. Every method takes the caller, and throws a `RestError` for whatever the caller is refused. */
export class Globals {
  readonly #options: GlobalsOptions;

  constructor(options: GlobalsOptions) {
    this.#options = options;
  }

  async create(
    identity: Identity,
    body: Json | undefined,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    requireEverywhere(identity);
    const { kinds, markers } = this.#options;
    const fields = new Fields(body);
    const selector = readSelector(fields) ?? null;
    const {
      key,
      desiredSpec,
      revision = 1,
      policies,
      paused = false,
    } = readNewGlobal(kinds, fields);
    const restored = markers.restore(desiredSpec, undefined, key);
    const [first, ...others] = restored.problems;
    if (first !== undefined) throw validationFailed(first, ...others);
    const state = { ...usualPolicies, ...policies, ...key, revision, paused, selector };
    const row = await this.#write(async (sql) => {
      await this.#as(sql, identity, { keepsRevision: false });
      const [made] = await sql.run(insertGlobal, { ...state, desiredSpec: restored.spec });
      if (made !== undefined) return made;
      const where = key.namespace === "" ? "" : ` in ${key.namespace}`;
      const message = `there is a global ${key.kind} ${key.name}${where} already`;
      throw new RestError("RESOURCE_EXISTS", message);
    }, signal);
    const placements = await this.#placements(identity, row.id, signal);
    const { id, namespace, kind, name, generation } = row;
    return {
      id,
      namespace,
      kind,
      name,
      generation,
      revision: row.revision,
      status: "pending",
      total_clusters: placements.length,
      warnings: placementWarnings(placements),
    };
  }

  async get(
    identity: Identity,
    id: number,
    signal: AbortSignal,
  ): Promise<{ readonly body: JsonObject; readonly generation: number }> {
    const row = await this.#find(identity, id, signal);
    const global = { ...toGlobal(row), createdAt: row.created_at };
    const placements = await this.#placements(identity, id, signal);
    return {
      body: globalAnswer(global, placements, this.#options.markers),
      generation: row.generation,
    };
  }

  async list(identity: Identity, asked: PageAsked, signal: AbortSignal): Promise<JsonObject> {
    requireRole(identity, "admin");
    const { database } = this.#options;
    const { after, limit } = asked;
    const { namespace, kind, name } = asked.filter;
    const filter = { namespace, kind, name };
    const shown = { ...filter, clusters: clustersOf(identity) };
    const [rows, [count]] = await Promise.all([
      database.run(listGlobals, { ...shown, after, limit: limit + 1 }, signal),
      database.run(countGlobals, filter, signal),
    ]);
    const page = rows.slice(0, limit);
    return {
      global_resources: page.map(listedGlobalAnswer),
      total: count?.total ?? 0,
      next: rows.length > limit ? asked.cursorAfter(page.at(-1)?.id ?? after) : null,
    };
  }

  /** Replaces what the body says, in every copy too. Writes nothing where nothing would change. */
  async replace(
    identity: Identity,
    { id, ifMatch }: { readonly id: number; readonly ifMatch: number | undefined },
    body: Json | undefined,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    requireEverywhere(identity);
    const fields = new Fields(body);
    const selector = readSelector(fields);
    const asked = readReplacement(fields, { saysMore: selector !== undefined });
    const written = await this.#write(async (sql) => {
      const global = await this.#locked(sql, id);
      checkWritable(global, ifMatch);
      const earlier = await this.#earlier(sql, id, asked);
      const next = replaced(global, asked, earlier, this.#options.markers);
      const chosen = selector === undefined ? global.selector : selector;
      const isSame = !next.isChanged && jsonEqual(chosen, global.selector);
      if (isSame) return { global, isWritten: false };
      await this.#as(sql, identity, { keepsRevision: next.keepsRevision });
      const [row] = await sql.run(updateGlobal, { ...next.resource, selector: chosen });
      if (row === undefined) throw noSuchGlobal();
      return { global: toGlobal(row), isWritten: true };
    }, signal);
    const { generation, revision } = written.global;
    if (written.isWritten) return { id, generation, revision, status: "pending" };
    const { body: shown } = await this.get(identity, id, signal);
    return { id, generation, revision, status: shown["status"] ?? "pending" };
  }

  async delete(
    identity: Identity,
    {
      id,
      ifMatch,
      isOrphaning,
    }: { readonly id: number; readonly ifMatch: number | undefined; readonly isOrphaning: boolean },
    signal: AbortSignal,
  ): Promise<JsonObject> {
    requireEverywhere(identity);
    await this.#write(async (sql) => {
      const global = await this.#locked(sql, id);
      if (global.isDeleting && !isOrphaning) return;
      checkMatch(global, ifMatch);
      await this.#as(sql, identity, { keepsRevision: false });
      await sql.run(isOrphaning ? forgetGlobal : markGlobalDeleted, id);
    }, signal);
    if (isOrphaning) {
      return { id, status: "deleted", message: "Global resource forgotten, its objects stay" };
    }
    return { id, status: "deleting", message: "Global resource marked for deletion" };
  }

  async revisions(
    identity: Identity,
    { id, before, limit }: { readonly id: number; readonly before: number; readonly limit: number },
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const global = await this.#find(identity, id, signal);
    const { database, markers } = this.#options;
    const rows = await database.run(listGlobalRevisions, { id, before, limit: limit + 1 }, signal);
    const page = rows.slice(0, limit);
    return {
      revisions: page.map((row) => {
        const { resource_id: global_id = id, ...told } = revisionAnswer(row, global, markers);
        return { global_id, ...told };
      }),
      next: rows.length > limit ? (page.at(-1)?.generation ?? null) : null,
    };
  }

  async #find(identity: Identity, id: number, signal: AbortSignal): Promise<GlobalRow> {
    requireRole(identity, "admin");
    const [row] = await this.#options.database.run(findGlobal, id, signal);
    if (row === undefined) throw noSuchGlobal();
    return row;
  }

  async #placements(
    identity: Identity,
    id: number,
    signal: AbortSignal,
  ): Promise<readonly PlacementRow[]> {
    const clusters = clustersOf(identity);
    return this.#options.database.run(listPlacements, { id, clusters }, signal);
  }

  /** Nobody else writes any global resource now: no lock of the row is needed. */
  async #locked(sql: Transaction, id: number): Promise<GlobalResource> {
    const [row] = await sql.run(findGlobal, id);
    if (row === undefined) throw noSuchGlobal();
    return toGlobal(row);
  }

  async #earlier(
    sql: Transaction,
    id: number,
    asked: Replacement,
  ): Promise<EarlierState | undefined> {
    const which = restoredBy(asked);
    if (which === undefined) return undefined;
    const [row] = await sql.run(findGlobalRevision, { id, ...which });
    if (row === undefined) {
      const what =
        which.revision === null ? `generation ${which.generation}` : `revision ${which.revision}`;
      throw new RestError("RESOURCE_NOT_FOUND", `${what} is not in the history`);
    }
    const { revision, api_version: apiVersion } = row;
    return { revision, apiVersion, desiredSpec: specOf(row.desired_spec) };
  }

  async #as(
    sql: Transaction,
    { user: actor }: Identity,
    { keepsRevision }: { readonly keepsRevision: boolean },
  ): Promise<void> {
    await sql.run(writeAs, { actor, changeSet: undefined, keepsRevision });
  }

  async #write<T>(work: (sql: Transaction) => Promise<T>, signal: AbortSignal): Promise<T> {
    return transact(
      this.#options,
      async (sql) => {
        await sql.run(holdGlobals, undefined);
        return await work(sql);
      },
      signal,
    );
  }
}

/** A global resource may reach any cluster, also those to come: whoever writes one needs all of them. */
function requireEverywhere(identity: Identity): void {
  requireRole(identity, "admin");
  if (identity.clusters === "all") return;
  throw new RestError("FORBIDDEN", "global resources are written by whoever has every cluster");
}

function clustersOf({ clusters }: Identity): readonly string[] | null {
  return clusters === "all" ? null : [...clusters];
}

function noSuchGlobal(): RestError {
  return new RestError("RESOURCE_NOT_FOUND", "no such global resource");
}
