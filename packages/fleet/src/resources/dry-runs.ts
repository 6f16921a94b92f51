// Writes that are only tried: by the rules of a real one, in a transaction that is undone, and then by the cluster itself.

import type { Identity, Json, JsonObject } from "@keelson/base";
import type { Database } from "@keelson/database";
import type { BuiltinKinds } from "@keelson/kube";
import { findStates, toStates } from "../sql/diffs.ts";
import type { ClientPort } from "../targets/target-clients.ts";
import type { WorkBell } from "../work-bell.ts";
import { makeChanges, readBatch } from "./batch.ts";
import { requireRole, visible } from "./permissions.ts";
import { Fields } from "./read-fields.ts";
import { readReplacement } from "./replacement.ts";
import { readNewResource } from "./resource-body.ts";
import type { Resource } from "./resource.ts";
import type { SecretMarkers } from "./secret-markers.ts";
import { knowing, tryAll } from "./try-all.ts";
import { tryOnTarget, type Trial } from "./try-on-target.ts";
import { undone } from "./undone.ts";
import { ResourceWriter } from "./write-resources.ts";

export interface DryRunsOptions {
  readonly database: Database;
  readonly kinds: BuiltinKinds;
  readonly markers: SecretMarkers;
  readonly bell: WorkBell;
  readonly clients: ClientPort;
  /** The longest call to a cluster. */
  readonly callTimeoutMs: number;
}

/**
 * The same calls as those of `Resources`, with the same refusals, and nothing is stored. Besides they throw
 * `TARGET_UNKNOWN`, `TARGET_UNREACHABLE` and `TARGET_REFUSED`.
 */
export class DryRuns {
  readonly #options: DryRunsOptions;

  constructor(options: DryRunsOptions) {
    this.#options = options;
  }

  async create(
    identity: Identity,
    body: Json | undefined,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    requireRole(identity, "editor");
    const wanted = readNewResource(this.#options.kinds, new Fields(body));
    return this.#one(
      identity,
      async (writer) => ({ op: "apply", resource: (await writer.create(wanted)).resource }),
      signal,
    );
  }

  async upsert(
    identity: Identity,
    { ifMatch }: { readonly ifMatch: number | undefined },
    body: Json | undefined,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    requireRole(identity, "editor");
    const wanted = readNewResource(this.#options.kinds, new Fields(body));
    return this.#one(
      identity,
      async (writer) => ({
        op: "apply",
        resource: (await writer.upsert(wanted, ifMatch)).resource,
      }),
      signal,
    );
  }

  async replace(
    identity: Identity,
    { id, ifMatch }: { readonly id: number; readonly ifMatch: number | undefined },
    body: Json | undefined,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    requireRole(identity, "editor");
    const asked = readReplacement(new Fields(body));
    return this.#one(
      identity,
      async (writer) => {
        const { resource } = await writer.replace(id, asked, ifMatch);
        return { op: "apply", resource };
      },
      signal,
    );
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
    requireRole(identity, "editor");
    return this.#one(
      identity,
      async (writer) =>
        isOrphaning
          ? { op: "forget", resource: await writer.forget(id, ifMatch) }
          : { op: "delete", resource: await writer.delete(id, ifMatch) },
      signal,
    );
  }

  /** What the worker would do now. */
  async sync(identity: Identity, id: number, signal: AbortSignal): Promise<JsonObject> {
    requireRole(identity, "editor");
    const [row] = await this.#options.database.run(findStates, [id], signal);
    const states = row === undefined ? undefined : toStates(row);
    const resource = visible(identity, states?.resource);
    return this.#try(asItIs(resource), signal);
  }

  /** What the worker would do then. */
  async setPaused(
    identity: Identity,
    id: number,
    paused: boolean,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    requireRole(identity, "editor");
    return this.#one(
      identity,
      async (writer) => asItIs(await writer.setPaused(id, paused)),
      signal,
    );
  }

  /** One result a change, in their order, with what would become of it; what a cluster refuses of one says so there. */
  async batch(
    identity: Identity,
    body: Json | undefined,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    requireRole(identity, "editor");
    const changes = readBatch(this.#options.kinds, body);
    const made = await this.#undone(identity, (writer) => makeChanges(writer, changes), signal);
    const trials = made.map(({ resource, outcome }): Trial => {
      return { op: outcome === "deleted" ? "delete" : "apply", resource };
    });
    const tried = await tryAll(this.#options, trials, signal);
    const results = tried.map((result, index) =>
      Object.hasOwn(result, "error")
        ? result
        : { ...result, outcome: made[index]?.outcome ?? "unchanged" },
    );
    return { dry_run: true, results };
  }

  async #one(
    identity: Identity,
    work: (writer: ResourceWriter) => Promise<Trial>,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    return this.#try(await this.#undone(identity, work, signal), signal);
  }

  async #try(trial: Trial, signal: AbortSignal): Promise<JsonObject> {
    const known = await knowing(this.#options.database, [trial], signal);
    return tryOnTarget(this.#options, known(trial), signal);
  }

  async #undone<T>(
    identity: Identity,
    work: (writer: ResourceWriter) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const { markers } = this.#options;
    return undone(
      this.#options,
      (sql) => work(new ResourceWriter({ sql, identity, markers })),
      signal,
    );
  }
}

function asItIs(resource: Resource): Trial {
  return { op: resource.isDeleting ? "delete" : "apply", resource };
}
