// Writes that are only tried: by the rules of a real one, in a transaction that is undone, and then by the cluster itself.

import { RestError, type Identity, type Json, type JsonObject } from "@keelson/base";
import type { Database } from "@keelson/database";
import type { BuiltinKinds } from "@keelson/kube";
import { findStates, toStates } from "../sql/diffs.ts";
import type { ClientPort } from "../targets/target-clients.ts";
import type { WorkBell } from "../work-bell.ts";
import { makeChanges, readBatch, type BatchResult } from "./batch.ts";
import { requireRole } from "./permissions.ts";
import { Fields } from "./read-fields.ts";
import { readReplacement } from "./replacement.ts";
import { readNewResource } from "./resource-body.ts";
import type { SecretMarkers } from "./secret-markers.ts";
import { transact } from "./transact.ts";
import { tryOnTarget, type Trial } from "./try-on-target.ts";
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

type BatchTrial = Trial & Pick<BatchResult, "outcome">;

/** How many changes of a batch are tried at once. */
const inFlightMax = 16;

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
    body: Json | undefined,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    requireRole(identity, "editor");
    const wanted = readNewResource(this.#options.kinds, new Fields(body));
    return this.#one(
      identity,
      async (writer) => ({ op: "apply", resource: (await writer.upsert(wanted)).resource }),
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

  /** One result a change, in their order, with what would become of it; what a cluster refuses of one says so there. */
  async batch(
    identity: Identity,
    body: Json | undefined,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    requireRole(identity, "editor");
    const changes = readBatch(this.#options.kinds, body);
    const trials = await this.#undone(
      identity,
      async (writer) =>
        (await makeChanges(writer, changes)).map(({ resource, outcome }): BatchTrial => {
          return { op: outcome === "deleted" ? "delete" : "apply", resource, outcome };
        }),
      signal,
    );
    return { dry_run: true, results: await this.#tryAll(trials, signal) };
  }

  async #one(
    identity: Identity,
    work: (writer: ResourceWriter) => Promise<Trial>,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const trial = await this.#undone(identity, work, signal);
    const known = await this.#known([trial], signal);
    return tryOnTarget(this.#options, { ...trial, states: known.get(trial.resource.id) }, signal);
  }

  async #tryAll(
    trials: readonly BatchTrial[],
    signal: AbortSignal,
  ): Promise<readonly JsonObject[]> {
    const known = await this.#known(trials, signal);
    const results: JsonObject[] = [];
    const rest = trials.entries();
    const work = async (): Promise<void> => {
      for (const [index, trial] of rest) {
        const states = known.get(trial.resource.id);
        results[index] = await tryOnTarget(this.#options, { ...trial, states }, signal).then(
          (tried) => ({ ...tried, outcome: trial.outcome }),
          toldRefusal,
        );
      }
    };
    await Promise.all(Array.from({ length: inFlightMax }, work));
    return results;
  }

  async #known(trials: readonly Trial[], signal: AbortSignal) {
    const ids = trials.map(({ resource }) => resource.id);
    const rows = await this.#options.database.run(findStates, ids, signal);
    return new Map(rows.map((row) => [row.id, toStates(row)]));
  }

  /** What the work answers; what it wrote is as if it had never been. */
  async #undone<T>(
    identity: Identity,
    work: (writer: ResourceWriter) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const { markers } = this.#options;
    const undone = new Undone();
    let made: { readonly value: T } | undefined;
    try {
      return await transact(
        this.#options,
        async (sql) => {
          made = { value: await work(new ResourceWriter({ sql, identity, markers })) };
          throw undone;
        },
        signal,
      );
    } catch (error) {
      if (error !== undone || made === undefined) throw error;
      return made.value;
    }
  }
}

/** Thrown to roll a transaction back that did all that it should. */
class Undone extends Error {
  readonly code = "UNDONE";
  override readonly name = "Undone";
}

function toldRefusal(error: unknown): JsonObject {
  if (!(error instanceof RestError)) throw error;
  return { dry_run: true, error: error.message, code: error.code, details: error.details };
}
