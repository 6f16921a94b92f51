// What the API does with global resources. Each write is a transaction that carries its copies along.

import type { Identity, Json, JsonObject, Log } from "@keelson/base";
import type { Database, Transaction } from "@keelson/database";
import type { BuiltinKinds } from "@keelson/kube";
import { revisionAnswer } from "../resources/answers.ts";
import type { PageAsked } from "../resources/list-query.ts";
import { requireRole } from "../resources/permissions.ts";
import type { SecretMarkers } from "../resources/secret-markers.ts";
import { transact } from "../resources/transact.ts";
import {
  countGlobals,
  findGlobal,
  listGlobalRevisions,
  listGlobals,
  listPlacements,
  toGlobal,
  type GlobalRow,
  type PlacementRow,
} from "../sql/globals.ts";
import { logGlobal, type Sender } from "../sender.ts";
import type { WorkBell } from "../work-bell.ts";
import { globalAnswer, listedGlobalAnswer, placementWarnings } from "./global-resource.ts";
import {
  GlobalWriter,
  noSuchGlobal,
  readGlobal,
  readGlobalChange,
  requireEverywhere,
  type GlobalAt,
} from "./write-globals.ts";

export interface GlobalsOptions {
  readonly database: Database;
  readonly kinds: BuiltinKinds;
  readonly markers: SecretMarkers;
  readonly bell: WorkBell;
  readonly log: Log;
}

/** Only for admins. Every method takes the caller, and throws a `RestError` for whatever the caller is refused. */
export class Globals {
  readonly #options: GlobalsOptions;

  constructor(options: GlobalsOptions) {
    this.#options = options;
  }

  async create(sender: Sender, body: Json | undefined, signal: AbortSignal): Promise<JsonObject> {
    requireEverywhere(sender);
    const wanted = readGlobal(this.#options.kinds, body);
    const made = await this.#write(sender, (writer) => writer.create(wanted), signal);
    const placements = await this.#placements(sender, made.id, signal);
    const { id, namespace, kind, name, generation, revision } = made;
    return {
      id,
      namespace,
      kind,
      name,
      generation,
      revision,
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
    sender: Sender,
    at: GlobalAt,
    body: Json | undefined,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    requireEverywhere(sender);
    const change = readGlobalChange(body);
    const written = await this.#write(sender, (writer) => writer.replace(at, change), signal);
    const { id, generation, revision } = written.global;
    if (written.isWritten) return { id, generation, revision, status: "pending" };
    const { body: shown } = await this.get(sender, id, signal);
    return { id, generation, revision, status: shown["status"] ?? "pending" };
  }

  async delete(
    sender: Sender,
    { isOrphaning, ...at }: GlobalAt & { readonly isOrphaning: boolean },
    signal: AbortSignal,
  ): Promise<JsonObject> {
    requireEverywhere(sender);
    await this.#write(sender, (writer) => writer.delete(at, { isOrphaning }), signal);
    const { id } = at;
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

  async #write<T>(
    sender: Sender,
    work: (writer: GlobalWriter) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const { markers, log } = this.#options;
    const writerIn = (sql: Transaction): Promise<GlobalWriter> =>
      GlobalWriter.in(sql, {
        identity: sender,
        markers,
        onWritten: (global, deed) => logGlobal({ log, sender, sql }, global, deed),
      });
    return transact(this.#options, async (sql) => work(await writerIn(sql)), signal);
  }
}

function clustersOf({ clusters }: Identity): readonly string[] | null {
  return clusters === "all" ? null : [...clusters];
}
