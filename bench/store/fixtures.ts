// The stores under test and the objects they hold.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type JsonObject, systemClock } from "@keelson/base";
import { startThrowawayPostgres } from "@keelson/database/testing";
import {
  type Backend,
  Body,
  type Key,
  migratePostgres,
  PostgresBackend,
  SqliteBackend,
  Store,
  type StoreLimits,
} from "@keelson/store";

export const kind = "Query.ark.mckinsey.com";
export const scope = { kind, namespace: "" };

/** Nobody aborts a measurement halfway through a call. */
export const never: AbortSignal = new AbortController().signal;

export type BackendName = "sqlite" | "postgresql";
export const backendNames: readonly BackendName[] = ["sqlite", "postgresql"];

/** A place for stores on one kind of database, gone when disposed of. */
export interface Place extends AsyncDisposable {
  readonly name: BackendName;
  /** Opens a new, empty store; the place closes it. */
  open(limits?: Partial<StoreLimits>): Promise<Store>;
  /** The same, and where its database is: a file's path or a URL. */
  openWithAddress(
    limits?: Partial<StoreLimits>,
  ): Promise<{ readonly store: Store; readonly database: string }>;
  /** A new, empty database with the same schema: a file's path or a URL. */
  prepare(): Promise<string>;
}

export async function openPlace(name: BackendName): Promise<Place> {
  return name === "sqlite" ? sqlitePlace() : postgresPlace();
}

async function sqlitePlace(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "keelson-bench-"));
  let files = 0;
  const newFile = (): string => join(folder, `${(files += 1)}.db`);
  return placeOf({
    name: "sqlite",
    prepare: async () => {
      const path = newFile();
      await new SqliteBackend({ path, clock: systemClock })[Symbol.asyncDispose]();
      return path;
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  });
}

async function postgresPlace(): Promise<Place> {
  // As durable as it comes: fsync and synchronous_commit are on.
  const server = await startThrowawayPostgres({ flavour: "embedded", fsync: true });
  return placeOf({
    name: "postgresql",
    prepare: async () => {
      const { url } = await server.createDatabase();
      await migratePostgres({ url, schema: "ark" });
      return url;
    },
    remove: async () => server[Symbol.asyncDispose](),
  });
}

function placeOf({
  name,
  prepare,
  remove,
}: {
  readonly name: BackendName;
  readonly prepare: () => Promise<string>;
  readonly remove: () => Promise<void>;
}): Place {
  const stores: Store[] = [];
  const openWithAddress: Place["openWithAddress"] = async (limits = {}) => {
    const database = await prepare();
    const { store } = await openStore(name, database, limits);
    stores.push(store);
    return { store, database };
  };
  return {
    name,
    prepare,
    openWithAddress,
    open: async (limits) => (await openWithAddress(limits)).store,
    async [Symbol.asyncDispose]() {
      for (const store of stores) await store[Symbol.asyncDispose]();
      await remove();
    },
  };
}

/** A store on a database that exists. It owns the backend. */
export async function openStore(
  name: BackendName,
  database: string,
  limits: Partial<StoreLimits> = {},
): Promise<{ readonly store: Store; readonly backend: Backend }> {
  const backend =
    name === "sqlite"
      ? new SqliteBackend({ path: database, clock: systemClock })
      : await PostgresBackend.open({ url: database, clock: systemClock }, never);
  return { store: await Store.open({ backend, limits }, never), backend };
}

/** The n-th object's key, in one of ten namespaces; names sort as they are numbered. */
export function keyOf(n: number): Key {
  return { kind, namespace: `team-${n % 10}`, name: `query-${String(n).padStart(8, "0")}` };
}

const prompt = "Summarise what has changed in the account since the last review and say why. ";

/** The n-th object as it is at its `version`, about 1 KB of text. */
export function valueOf(n: number, version: number): JsonObject {
  const { namespace, name } = keyOf(n);
  return {
    apiVersion: "ark.mckinsey.com/v1alpha1",
    kind: "Query",
    metadata: {
      name,
      namespace,
      uid: `0190b5a0-7e10-7c3a-9f10-${String(n).padStart(12, "0")}`,
      creationTimestamp: "2026-01-05T10:00:00Z",
      generation: version,
      labels: { app: "assistant", tier: n % 2 === 0 ? "gold" : "silver", shard: String(n % 100) },
      annotations: { "ark.mckinsey.com/source": "bench", note: "made for measuring" },
    },
    spec: {
      input: prompt.repeat(5),
      target: { type: "agent", name: `agent-${n % 17}` },
      parameters: [
        { name: "depth", value: String(version) },
        { name: "language", value: "en" },
      ],
      timeout: "5m0s",
      ttl: "720h0m0s",
    },
    status: {
      phase: version % 2 === 0 ? "running" : "done",
      conditions: [
        {
          type: "Completed",
          status: "False",
          reason: "Pending",
          lastTransitionTime: "2026-01-05T10:00:01Z",
        },
      ],
    },
  };
}

export function bodyOf(n: number, version = 1): Body {
  return Body.of(valueOf(n, version));
}

/** Creates the objects `from` up to, not including, `to`, many at a time. */
export async function fill(store: Store, { from = 0, to }: { from?: number; to: number }) {
  const step = 1024;
  for (let start = from; start < to; start += step) {
    const count = Math.min(step, to - start);
    await Promise.all(
      Array.from({ length: count }, (_, i) =>
        store.create(keyOf(start + i), bodyOf(start + i), never),
      ),
    );
  }
}
