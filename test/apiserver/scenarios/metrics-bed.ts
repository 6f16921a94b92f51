// A server under a scripted load, and another hand in its database that knows what its metrics must say.

import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import type { JsonObject } from "@keelson/base";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import postgres, { type Sql } from "postgres";

import type { Request } from "../../tools/http-client.ts";
import { until } from "../../tools/until.ts";
import { startOurs, type Driver, type Ours } from "../ours.ts";
import { type Readings, readingsOf } from "./metrics.ts";
import { openStream } from "./stream.ts";

/** A resource that nobody but the load has anything to do with. */
export const budgets = {
  group: "policy",
  version: "v1",
  resource: "poddisruptionbudgets",
} as const;
export const path = `/apis/policy/v1/namespaces/default/${budgets.resource}`;

/** What the load asks for, by verb, subresource and code; each watcher has one event for each write. */
export const asked: Readonly<Record<string, number>> = {
  "create 201": 5,
  "create 409": 1,
  "delete 200": 2,
  "get 200": 4,
  "get 404": 1,
  "list 200": 2,
  "patch status 200": 1,
  "update 200": 1,
  "update 409": 1,
};
export const writes = 9;

/** Longer than anything takes. */
const patienceMs = 180_000;

interface Parts {
  readonly driver: Driver;
  readonly server: Ours;
  readonly sql: Sql | undefined;
  readonly signal: AbortSignal;
  readonly undo: AsyncDisposableStack;
}

export class MetricsBed implements AsyncDisposable {
  readonly driver: Driver;
  readonly server: Ours;
  /** Its database, where that is PostgreSQL. */
  readonly sql: Sql | undefined;
  readonly signal: AbortSignal;
  readonly #undo: AsyncDisposableStack;

  /** The log is cut every second, so that revisions expire, and measured with each cut. */
  static async start(driver: Driver, signal: AbortSignal): Promise<MetricsBed> {
    await using undo = new AsyncDisposableStack();
    let sql: Sql | undefined;
    let databaseUrl: string | undefined;
    if (driver === "postgresql") {
      const shared = await sharedThrowawayPostgres("embedded");
      databaseUrl = undo.use(await shared.createDatabase()).url;
      const own = postgres(databaseUrl, { max: 1, onnotice: () => undefined });
      undo.defer(() => own.end());
      sql = own;
    }
    const flags = ["--compaction-interval", "1s"];
    const server = undo.use(await startOurs({ driver, databaseUrl, flags }, signal));
    return new MetricsBed({ driver, server, sql, signal, undo: undo.move() });
  }

  private constructor({ driver, server, sql, signal, undo }: Parts) {
    this.driver = driver;
    this.server = server;
    this.sql = sql;
    this.signal = signal;
    this.#undo = undo;
  }

  /** Does what `asked` says, before two watchers, of whom one stays. */
  async load(): Promise<void> {
    const from = (await this.must({ path }, 200)).metadata.resourceVersion;
    const active = await this.settledWatches();
    const watch = `${path}?watch=1&resourceVersion=${from}`;
    using one = await openStream(this.server, watch, this.signal);
    const other = this.#undo.use(await openStream(this.server, watch, this.signal));
    await this.holds((now) => {
      assert.equal(now.value("keelson_watch_active"), active + 2);
      assert.equal(now.value("apiserver_longrunning_requests", budgets), 2);
    });

    const at = (name: string): string => `${path}/${name}`;
    for (const name of ["a", "b", "c", "d", "e"])
      await this.must({ method: "POST", path, body: budget(name) }, 201);
    await this.must({ method: "POST", path, body: budget("a") }, 409);
    for (const name of ["a", "b", "c"]) await this.must({ path: at(name) }, 200);
    await this.must({ path: at("ghost") }, 404);
    await this.must({ path }, 200);
    const { resourceVersion } = (await this.must({ path: at("e") }, 200)).metadata;
    for (const [minAvailable, status] of [
      [2, 200],
      [3, 409],
    ] as const) {
      const body = budget("e", { minAvailable, resourceVersion });
      await this.must({ method: "PUT", path: at("e"), body }, status);
    }
    const headers = { "content-type": "application/merge-patch+json" };
    const body = { status: { observedGeneration: 7 } };
    await this.must({ method: "PATCH", path: at("e/status"), body, headers }, 200);
    for (const name of ["a", "b"]) await this.must({ method: "DELETE", path: at(name) }, 200);
    for (const stream of [one, other]) await stream.take(writes, this.signal);
  }

  async read(): Promise<Readings> {
    return await readingsOf(this.server, this.signal);
  }

  /** Waits until what the server shows is so: some of it comes a moment after the answer, some with the next measurement. */
  async holds(check: (now: Readings) => void | Promise<void>): Promise<void> {
    const deadline = AbortSignal.any([this.signal, AbortSignal.timeout(patienceMs)]);
    let failure: unknown;
    const isSo = async (): Promise<boolean> => {
      try {
        await check(await this.read());
        return true;
      } catch (error) {
        failure = error;
        return false;
      }
    };
    await until(isSo, deadline).catch((error: unknown) => {
      throw failure ?? error;
    });
  }

  /** How many watches there are, once the loops have theirs. */
  async settledWatches(): Promise<number> {
    let before: number | undefined;
    const look = async (): Promise<number | undefined> => {
      const now = (await this.read()).value("keelson_watch_active");
      const isSettled = now === before;
      before = now;
      return isSettled ? now : undefined;
    };
    return await until(look, this.signal, "watches that stay");
  }

  /** Sends what must be answered so. */
  async must(sent: Request, status: number): Promise<Answered> {
    const { status: given, text, body } = await this.server.client.send(sent, this.signal);
    assert.equal(given, status, `${sent.method ?? "GET"} ${sent.path}: ${text}`);
    return body as Answered;
  }

  /** The floor, the entries of the log and the space that the tables take, as the database has them. */
  async truth(): Promise<Truth> {
    if (this.sql === undefined) {
      const file = join(this.server.dataDir, "apiserver.db");
      using database = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
      const look = `SELECT (SELECT floor FROM meta) AS floor, (SELECT count(*) FROM changes) AS rows,
        (SELECT page_count FROM pragma_page_count()) * (SELECT page_size FROM pragma_page_size()) AS bytes`;
      return truthOf(database.prepare(look).get());
    }
    const [row] = await this.sql`
      SELECT (SELECT floor FROM ark.meta) AS floor, (SELECT count(*) FROM ark.changes) AS rows,
        (SELECT sum(pg_total_relation_size(name::regclass)) FROM
          unnest(ARRAY['ark.resources', 'ark.changes', 'ark.counts', 'ark.meta', 'ark.leases']) name) AS bytes`;
    return truthOf(row);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#undo.disposeAsync();
  }
}

interface Answered {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly unknown[];
}

export interface Truth {
  readonly floor: number;
  readonly rows: number;
  readonly bytes: number;
}

function truthOf(row: Readonly<Record<string, unknown>> | undefined): Truth {
  const [floor, rows, bytes] = ["floor", "rows", "bytes"].map((name) => Number(row?.[name]));
  return { floor: floor ?? NaN, rows: rows ?? NaN, bytes: bytes ?? NaN };
}

export function budget(
  name: string,
  { minAvailable = 1, ...metadata }: JsonObject & { readonly minAvailable?: number } = {},
): JsonObject {
  const spec = { minAvailable, selector: { matchLabels: { app: name } } };
  const kind = "PodDisruptionBudget";
  return { apiVersion: "policy/v1", kind, metadata: { ...metadata, name }, spec };
}
