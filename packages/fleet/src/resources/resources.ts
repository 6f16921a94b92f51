// What the API does with resources, each call a transaction or a statement.

import type { Identity, Json, JsonObject, Log, Random } from "@keelson/base";
import type { Database, Transaction } from "@keelson/database";
import type { BuiltinKinds } from "@keelson/kube";
import {
  countResources,
  findDetails,
  findStatuses,
  listResources,
  listRevisions,
  type DetailsRow,
} from "../sql/resource-details.ts";
import { findStates, toStates } from "../sql/diffs.ts";
import { askForWork, hasTarget } from "../sql/resources.ts";
import { fieldsOf, logResource, type Sender } from "../sender.ts";
import type { WorkBell } from "../work-bell.ts";
import { detailsAnswer, listedAnswer, revisionAnswer } from "./answers.ts";
import { makeChanges, readBatch, type BatchResult } from "./batch.ts";
import { diffOf } from "./diff.ts";
import type { PageAsked } from "./list-query.ts";
import { requireRole, visible } from "./permissions.ts";
import { Fields } from "./read-fields.ts";
import { readReplacement, type Replacement } from "./replacement.ts";
import { readNewResource, type NewResource } from "./resource-body.ts";
import type { SecretMarkers } from "./secret-markers.ts";
import { compared } from "./shown-states.ts";
import { transact } from "./transact.ts";
import { ResourceWriter, type Written } from "./write-resources.ts";

export interface ResourcesOptions {
  readonly database: Database;
  readonly kinds: BuiltinKinds;
  readonly markers: SecretMarkers;
  readonly bell: WorkBell;
  readonly random: Random;
  readonly log: Log;
}

/** How many resources of a batch its line in the log names; events and histories have its change set with all of them. */
const idsLoggedMax = 100;

/** An answer, and the generation for its ETag. */
export interface Shown {
  readonly body: JsonObject;
  readonly generation: number;
}

/** Every method takes the caller, and throws a `RestError` for whatever the caller is refused. */
export class Resources {
  readonly #options: ResourcesOptions;

  constructor(options: ResourcesOptions) {
    this.#options = options;
  }

  async create(sender: Sender, body: Json | undefined, signal: AbortSignal): Promise<JsonObject> {
    requireRole(sender, "editor");
    const wanted = readNewResource(this.#options.kinds, new Fields(body));
    const written = await this.#write(sender, (writer) => writer.create(wanted), signal);
    return this.#createdAnswer(written, signal);
  }

  /** Creates or replaces by key; `isNew` says which. */
  async upsert(
    sender: Sender,
    { ifMatch }: { readonly ifMatch: number | undefined },
    body: Json | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly body: JsonObject; readonly isNew: boolean }> {
    requireRole(sender, "editor");
    const wanted: NewResource = readNewResource(this.#options.kinds, new Fields(body));
    const written = await this.#write(sender, (writer) => writer.upsert(wanted, ifMatch), signal);
    if (written.outcome === "created") {
      return { body: await this.#createdAnswer(written, signal), isNew: true };
    }
    return { body: await this.#writtenAnswer(written, signal), isNew: false };
  }

  async replace(
    sender: Sender,
    { id, ifMatch }: { readonly id: number; readonly ifMatch: number | undefined },
    body: Json | undefined,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    requireRole(sender, "editor");
    const asked: Replacement = readReplacement(new Fields(body));
    const written = await this.#write(
      sender,
      (writer) => writer.replace(id, asked, ifMatch),
      signal,
    );
    return this.#writtenAnswer(written, signal);
  }

  async delete(
    sender: Sender,
    {
      id,
      ifMatch,
      isOrphaning,
    }: { readonly id: number; readonly ifMatch: number | undefined; readonly isOrphaning: boolean },
    signal: AbortSignal,
  ): Promise<JsonObject> {
    requireRole(sender, "editor");
    if (isOrphaning) {
      await this.#write(sender, (writer) => writer.forget(id, ifMatch), signal);
      return { id, status: "deleted", message: "Resource forgotten, its object stays" };
    }
    await this.#write(sender, (writer) => writer.delete(id, ifMatch), signal);
    return { id, status: "deleting", message: "Resource marked for deletion" };
  }

  async batch(sender: Sender, body: Json | undefined, signal: AbortSignal): Promise<JsonObject> {
    requireRole(sender, "editor");
    const { kinds, random } = this.#options;
    const changes = readBatch(kinds, body);
    const changeSet = random.uuid();
    const results = await this.#write(
      sender,
      (writer) => makeChanges(writer, changes),
      signal,
      changeSet,
    );
    this.#logBatch(sender, changeSet, results);
    const unchanged = results.filter(({ status }) => status === undefined);
    const statuses = await this.#statusesOf(
      unchanged.map(({ resource }) => resource.id),
      signal,
    );
    return {
      change_set: changeSet,
      results: results.map(({ resource: { id, generation, revision }, status, outcome }) => ({
        id,
        generation,
        revision,
        status: status ?? statuses.get(id) ?? "pending",
        outcome,
      })),
    };
  }

  async get(identity: Identity, id: number, signal: AbortSignal): Promise<Shown> {
    const row = await this.#details(identity, id, signal);
    return { body: detailsAnswer(row, this.#options.markers), generation: row.generation };
  }

  async list(identity: Identity, asked: PageAsked, signal: AbortSignal): Promise<JsonObject> {
    requireRole(identity, "reader");
    const clusters = identity.clusters === "all" ? null : [...identity.clusters];
    const filter = { ...asked.filter, clusters };
    const { after, limit } = asked;
    const { database } = this.#options;
    const [rows, [count]] = await Promise.all([
      database.run(listResources, { ...filter, after, limit: limit + 1 }, signal),
      database.run(countResources, filter, signal),
    ]);
    const page = rows.slice(0, limit);
    return {
      resources: page.map(listedAnswer),
      total: count?.total ?? 0,
      next: rows.length > limit ? asked.cursorAfter(page.at(-1)?.id ?? after) : null,
    };
  }

  async revisions(
    identity: Identity,
    { id, before, limit }: { readonly id: number; readonly before: number; readonly limit: number },
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const resource = await this.#details(identity, id, signal);
    const { database, markers } = this.#options;
    const rows = await database.run(listRevisions, { id, before, limit: limit + 1 }, signal);
    const page = rows.slice(0, limit);
    return {
      revisions: page.map((row) => revisionAnswer(row, resource, markers)),
      next: rows.length > limit ? (page.at(-1)?.generation ?? null) : null,
    };
  }

  /** Where desired, applied and current differ. */
  async diff(identity: Identity, id: number, signal: AbortSignal): Promise<JsonObject> {
    requireRole(identity, "reader");
    const { database, markers } = this.#options;
    const [row] = await database.run(findStates, [id], signal);
    const found = row === undefined ? undefined : { row, clusterId: row.cluster_id };
    return { fields: diffOf(compared(toStates(visible(identity, found).row), markers)) };
  }

  /** Asks for an apply now, whatever failed before. */
  async sync(sender: Sender, id: number, signal: AbortSignal): Promise<JsonObject> {
    requireRole(sender, "editor");
    const row = await this.#details(sender, id, signal);
    const { status, cluster_id, generation } = row;
    const { database, bell, log } = this.#options;
    await database.run(askForWork, id, signal);
    bell.ring();
    log.info({ ...fieldsOf(sender), resource_id: id, cluster_id, generation }, "sync asked for");
    return { id, status, message: syncText(row) };
  }

  async setPaused(
    sender: Sender,
    id: number,
    paused: boolean,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    requireRole(sender, "editor");
    await this.#write(sender, (writer) => writer.setPaused(id, paused), signal);
    return { id, paused };
  }

  async #details(identity: Identity, id: number, signal: AbortSignal): Promise<DetailsRow> {
    requireRole(identity, "reader");
    const [row] = await this.#options.database.run(findDetails, id, signal);
    const found = row === undefined ? undefined : { row, clusterId: row.cluster_id };
    return visible(identity, found).row;
  }

  /** Each write leaves a line in the log; those of a change set leave one together. */
  async #write<T>(
    sender: Sender,
    work: (writer: ResourceWriter) => Promise<T>,
    signal: AbortSignal,
    changeSet?: string,
  ): Promise<T> {
    const { markers, log } = this.#options;
    const writerIn = (sql: Transaction): ResourceWriter =>
      new ResourceWriter({
        sql,
        identity: sender,
        markers,
        ...(changeSet === undefined
          ? { onWritten: (resource, deed) => logResource({ log, sender, sql }, resource, deed) }
          : { changeSet }),
      });
    return transact(this.#options, (sql) => work(writerIn(sql)), signal);
  }

  #logBatch(sender: Sender, change_set: string, results: readonly BatchResult[]): void {
    const written = results.filter(({ outcome }) => outcome !== "unchanged");
    const resource_ids = written.slice(0, idsLoggedMax).map(({ resource }) => resource.id);
    const fields = { ...fieldsOf(sender), change_set, changes: written.length, resource_ids };
    this.#options.log.info(fields, "batch written");
  }

  async #createdAnswer({ resource }: Written, signal: AbortSignal): Promise<JsonObject> {
    const { id, clusterId, namespace, kind, name, generation, revision } = resource;
    const [target] = await this.#options.database.run(hasTarget, clusterId, signal);
    const message = `no target is registered as ${clusterId}: it is delivered once one is`;
    const warnings = target?.found === true ? [] : [{ code: "unknown_target", message }];
    const key = { cluster_id: clusterId, namespace, kind, name };
    return { id, ...key, generation, revision, status: "pending", warnings };
  }

  async #writtenAnswer({ resource, outcome }: Written, signal: AbortSignal): Promise<JsonObject> {
    const { id, generation, revision } = resource;
    if (outcome !== "unchanged") return { id, generation, revision, status: "pending" };
    const statuses = await this.#statusesOf([id], signal);
    return { id, generation, revision, status: statuses.get(id) ?? "pending" };
  }

  async #statusesOf(
    ids: readonly number[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<number, string>> {
    if (ids.length === 0) return new Map();
    const rows = await this.#options.database.run(findStatuses, ids, signal);
    return new Map(rows.map(({ resource_id, status }) => [resource_id, status]));
  }
}

/** What comes of it that an apply was asked for. */
function syncText({ is_deleting, paused, target_paused, cluster_id }: DetailsRow): string {
  const done = is_deleting ? "deleted" : "applied";
  if (paused) return `Resource is paused, nothing is ${done} until it is resumed`;
  if (target_paused) {
    return `Resource is in ${cluster_id}, nothing is ${done} until that target is resumed`;
  }
  return `Resource will be ${done}`;
}
