// Writes of global resources, in a transaction that the caller owns. Their copies follow in the same one.

import {
  jsonEqual,
  refuseProblems,
  RestError,
  type Identity,
  type Json,
  type JsonObject,
} from "@keelson/base";
import type { Transaction } from "@keelson/database";
import type { BuiltinKinds } from "@keelson/kube";
import { earlierState } from "../resources/earlier-state.ts";
import { requireRole } from "../resources/permissions.ts";
import { Fields } from "../resources/read-fields.ts";
import {
  checkMatch,
  checkWritable,
  onlyPauses,
  readReplacement,
  replaced,
  type Replacement,
} from "../resources/replacement.ts";
import { readNewGlobal, type NewResource } from "../resources/resource-body.ts";
import { usualPolicies } from "../resources/resource.ts";
import type { SecretMarkers } from "../resources/secret-markers.ts";
import {
  findGlobal,
  findGlobalRevision,
  forgetGlobal,
  holdGlobals,
  insertGlobal,
  markGlobalDeleted,
  toGlobal,
  updateGlobal,
} from "../sql/globals.ts";
import { writeAs } from "../sql/resources.ts";
import type { GlobalResource } from "./global-resource.ts";
import type { Deed } from "../sender.ts";
import { readSelector } from "./selector.ts";

/** A new one, read and not yet made. */
export type NewGlobal = NewResource & { readonly selector: JsonObject | null };

/** Throws `VALIDATION_FAILED` with all that is wrong. */
export function readGlobal(kinds: BuiltinKinds, body: Json | undefined): NewGlobal {
  const fields = new Fields(body);
  const selector = readSelector(fields) ?? null;
  return { ...readNewGlobal(kinds, fields), selector };
}

/** A PUT, read and not yet made. Undefined: its selector stays. */
export interface GlobalChange {
  readonly asked: Replacement;
  readonly selector: JsonObject | null | undefined;
}

/** Throws `VALIDATION_FAILED` with all that is wrong. */
export function readGlobalChange(body: Json | undefined): GlobalChange {
  const fields = new Fields(body);
  const selector = readSelector(fields);
  return { asked: readReplacement(fields, { saysMore: selector !== undefined }), selector };
}

/** Which one, and at which generation its writer believes it to be. */
export interface GlobalAt {
  readonly id: number;
  readonly ifMatch: number | undefined;
}

/** A global resource may reach any cluster, also those to come: whoever writes one needs all of them. */
export function requireEverywhere(identity: Identity): void {
  requireRole(identity, "admin");
  if (identity.clusters === "all") return;
  throw new RestError("FORBIDDEN", "global resources are written by whoever has every cluster");
}

export function noSuchGlobal(): RestError {
  return new RestError("RESOURCE_NOT_FOUND", "no such global resource");
}

export interface GlobalWriterOptions {
  readonly identity: Identity;
  readonly markers: SecretMarkers;
  /** Told of each write, and of nothing that changes nothing. It is not committed yet. */
  readonly onWritten?: (global: GlobalResource, deed: Deed) => void;
}

/** What one caller writes in one transaction. Throws a `RestError` for whatever is refused. */
export class GlobalWriter {
  readonly #sql: Transaction;
  readonly #identity: Identity;
  readonly #markers: SecretMarkers;
  readonly #onWritten: (global: GlobalResource, deed: Deed) => void;

  private constructor(sql: Transaction, options: GlobalWriterOptions) {
    this.#sql = sql;
    this.#identity = options.identity;
    this.#markers = options.markers;
    this.#onWritten = options.onWritten ?? (() => {});
  }

  /** Nobody else writes any global resource until the transaction ends: no lock of a row is needed. */
  static async in(sql: Transaction, options: GlobalWriterOptions): Promise<GlobalWriter> {
    await sql.run(holdGlobals, undefined);
    return new GlobalWriter(sql, options);
  }

  /** `RESOURCE_EXISTS` if the key is taken. */
  async create(wanted: NewGlobal): Promise<GlobalResource> {
    const { key, desiredSpec, revision = 1, policies, paused = false, selector } = wanted;
    const restored = this.#markers.restore(desiredSpec, undefined, key);
    refuseProblems(restored.problems);
    const state = { ...usualPolicies, ...policies, ...key, revision, paused, selector };
    await this.#asCaller({ keepsRevision: false });
    const [made] = await this.#sql.run(insertGlobal, { ...state, desiredSpec: restored.spec });
    if (made !== undefined) return this.#written(toGlobal(made), "created");
    const where = key.namespace === "" ? "" : ` in ${key.namespace}`;
    const message = `there is a global ${key.kind} ${key.name}${where} already`;
    throw new RestError("RESOURCE_EXISTS", message);
  }

  /** Writes nothing where nothing would change. */
  async replace(
    { id, ifMatch }: GlobalAt,
    { asked, selector }: GlobalChange,
  ): Promise<{ readonly global: GlobalResource; readonly isWritten: boolean }> {
    const global = await this.#find(id);
    // While it is paused no copy is taken away, so it must be possible to go on.
    if (global.isDeleting && selector === undefined && onlyPauses(asked))
      checkMatch(global, ifMatch);
    else checkWritable(global, ifMatch);
    const earlier = await earlierState(asked, (place) =>
      this.#sql.run(findGlobalRevision, { id, ...place }),
    );
    const next = replaced(global, asked, earlier, this.#markers);
    const chosen = selector === undefined ? global.selector : selector;
    const isSame = !next.isChanged && jsonEqual(chosen, global.selector);
    if (isSame) return { global, isWritten: false };
    await this.#asCaller({ keepsRevision: next.keepsRevision });
    const [row] = await this.#sql.run(updateGlobal, { ...next.resource, selector: chosen });
    if (row === undefined) throw noSuchGlobal();
    return { global: this.#written(toGlobal(row), "updated"), isWritten: true };
  }

  /** Asks for its deletion, and asking again changes nothing; or forgets it and leaves its objects. */
  async delete(
    { id, ifMatch }: GlobalAt,
    { isOrphaning }: { readonly isOrphaning: boolean },
  ): Promise<void> {
    const global = await this.#find(id);
    if (global.isDeleting && !isOrphaning) return;
    checkMatch(global, ifMatch);
    await this.#asCaller({ keepsRevision: false });
    const [row] = await this.#sql.run(isOrphaning ? forgetGlobal : markGlobalDeleted, id);
    const ended = row === undefined ? global : toGlobal(row);
    this.#written(ended, isOrphaning ? "forgotten" : "deleted");
  }

  #written(global: GlobalResource, deed: Deed): GlobalResource {
    this.#onWritten(global, deed);
    return global;
  }

  async #find(id: number): Promise<GlobalResource> {
    const [row] = await this.#sql.run(findGlobal, id);
    if (row === undefined) throw noSuchGlobal();
    return toGlobal(row);
  }

  async #asCaller({ keepsRevision }: { readonly keepsRevision: boolean }): Promise<void> {
    const { user: actor } = this.#identity;
    await this.#sql.run(writeAs, { actor, changeSet: undefined, keepsRevision });
  }
}
