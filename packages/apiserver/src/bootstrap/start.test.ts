// A start on a database that fails it for a moment: it goes on, and makes what every start makes.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { isJsonObject, systemClock, type Json } from "@keelson/base";
import { until } from "@keelson/base/testing";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import {
  Body,
  describeKey,
  migratePostgres,
  PostgresBackend,
  SqliteBackend,
  Store,
  Unavailable,
  type Backend,
  type OnStatement,
} from "@keelson/store";

import { startTestServer } from "../testing/test-server.ts";
import { DatabaseAway } from "./patience.ts";

/** Opens a backend on a database of its own, empty at first. */
type OpenBackend = (onStatement?: OnStatement) => Promise<Backend>;

const never = new AbortController().signal;
let schemas = 0;

async function newSqlite(): Promise<OpenBackend> {
  return async (onStatement = () => undefined) =>
    new SqliteBackend({ path: ":memory:", clock: systemClock, onStatement });
}

async function newPostgres(): Promise<OpenBackend> {
  const { url } = await sharedThrowawayPostgres("embedded");
  const schema = `start_${(schemas += 1)}`;
  await migratePostgres({ url, schema });
  return async (onStatement = () => undefined) =>
    await PostgresBackend.open({ url, schema, clock: systemClock, onStatement }, never);
}

async function storeOn(backend: Backend): Promise<Store> {
  return await Store.open({ backend, limits: { compactionEveryMs: undefined } }, never);
}

/** Statements that fail, from one on, so many. */
class Outage {
  #statements = 0;
  #from = Number.POSITIVE_INFINITY;
  #count = 0;

  get statements(): number {
    return this.#statements;
  }

  /** Counts from now. */
  begin({ from, count }: { readonly from: number; readonly count: number }): void {
    this.#statements = 0;
    this.#from = from;
    this.#count = count;
  }

  readonly onStatement = (): void => {
    this.#statements += 1;
    const index = this.#statements - this.#from;
    if (index >= 0 && index < this.#count) throw new Unavailable("the database is away");
  };
}

/** A backend of which nobody hears how one commit went: it was lost before it was done, or after. */
function losing(
  backend: Backend,
  lost: { readonly commit: number; readonly when: "before" | "after" },
): Backend & { readonly commits: () => number } {
  let commits = 0;
  const commit: Backend["commit"] = async (batch) => {
    commits += 1;
    const isLost = commits === lost.commit;
    if (isLost && lost.when === "before") throw new Unavailable("the database is away");
    const done = await backend.commit(batch);
    if (isLost) throw new Unavailable("the database went away");
    return done;
  };
  return new Proxy(backend, {
    get: (target, name) => {
      if (name === "commit") return commit;
      if (name === "commits") return () => commits;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  }) as Backend & { readonly commits: () => number };
}

const kinds = [
  "Namespace",
  "PriorityClass.scheduling.k8s.io",
  "ClusterRole.rbac.authorization.k8s.io",
  "ClusterRoleBinding.rbac.authorization.k8s.io",
  "Role.rbac.authorization.k8s.io",
  "RoleBinding.rbac.authorization.k8s.io",
  "ServiceCIDR.networking.k8s.io",
  "IPAddress.networking.k8s.io",
  "Service",
  "Node",
  "Endpoints",
  "EndpointSlice.discovery.k8s.io",
];

/** What a start makes, without what differs from one to the next. */
async function made(store: Store): Promise<ReadonlyMap<string, Json>> {
  const pages = await Promise.all(
    kinds.map((kind) => store.list({ kind, namespace: "" }, { limit: 1_000 }, never)),
  );
  return new Map(
    pages
      .flatMap(({ items }) => items)
      .map(({ key, body: { value: object } }) => {
        // A loop gathers the rules of these, sooner or later.
        const { rules: _, ...rest } = object;
        const own = object["aggregationRule"] === undefined ? object : rest;
        return [describeKey(key), timeless(own)];
      }),
  );
}

/** Names what differs: all of it would fill pages. */
function assertSame(
  actual: ReadonlyMap<string, Json>,
  expected: ReadonlyMap<string, Json>,
  when: string,
): void {
  assert.deepEqual([...actual.keys()], [...expected.keys()], when);
  for (const [key, object] of expected)
    assert.deepEqual(actual.get(key), object, `${key}, ${when}`);
}

/** Each start tells its own port, which makes another generation of what tells it. */
const ofTheMoment = new Set([
  "uid",
  "creationTimestamp",
  "time",
  "managedFields",
  "port",
  "generation",
]);

function timeless(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(timeless);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(
    ([name]) => !ofTheMoment.has(name) && !name.startsWith("last"),
  );
  return Object.fromEntries(members.map(([name, member]) => [name, timeless(member)]));
}

/** What an undisturbed start makes. */
async function usual(open: OpenBackend): Promise<ReadonlyMap<string, Json>> {
  await using store = await storeOn(await open());
  await using _server = await startTestServer({ store, simulatesWorkloads: true }, never);
  return await made(store);
}

for (const [name, newDatabase] of [
  ["SQLite", newSqlite],
  ["PostgreSQL", newPostgres],
] as const) {
  suite(`a start, on ${name}`, () => {
    for (const when of ["before", "after"] as const) {
      test(`goes on whichever of its writes is lost, ${when} it is done`, async (t) => {
        const expected = await usual(await newDatabase());
        assert.ok(expected.size > 100);
        for (let commit = 1; ; commit += 1) {
          const open = await newDatabase();
          const backend = losing(await open(), { commit, when });
          await using store = await storeOn(backend);
          await using _server = await startTestServer(
            { store, simulatesWorkloads: true },
            t.signal,
          );
          const commits = backend.commits();
          assertSame(await made(store), expected, `write ${commit} was lost`);
          if (commit < commits) continue;
          t.diagnostic(`${commits} writes`);
          return assert.ok(commits > 10, `there were ${commits} writes`);
        }
      });
    }

    test("goes on after any moment without a database", async (t) => {
      const expected = await usual(await newDatabase());
      const starts = 12;
      let statements = Number.POSITIVE_INFINITY;
      for (let start = 0; start <= starts; start += 1) {
        const outage = new Outage();
        const open = await newDatabase();
        await using store = await storeOn(await open(outage.onStatement));
        // The first is undisturbed, and shows how long one is.
        const from = start === 0 ? statements : 1 + Math.floor(((start - 1) * statements) / starts);
        outage.begin({ from, count: 5 });
        await using _server = await startTestServer({ store, simulatesWorkloads: true }, t.signal);
        if (start === 0) statements = outage.statements;
        else assert.ok(outage.statements >= from, "there was no moment without a database");
        outage.begin({ from: 0, count: 0 });
        assertSame(await made(store), expected, `statement ${from} and those behind it`);
      }
    });

    test("ends when patience does, and says what it waited for; the next one succeeds", async (t) => {
      const expected = await usual(await newDatabase());
      const open = await newDatabase();
      const outage = new Outage();
      await using store = await storeOn(await open(outage.onStatement));
      outage.begin({ from: 60, count: Number.POSITIVE_INFINITY });
      await assert.rejects(
        startTestServer({ store, startPatienceMs: 300, simulatesWorkloads: true }, t.signal),
        (error) =>
          error instanceof DatabaseAway &&
          error.step !== "" &&
          /the database is away/.test(error.message),
      );
      outage.begin({ from: 0, count: 0 });
      await using _server = await startTestServer({ store, simulatesWorkloads: true }, t.signal);
      assertSame(await made(store), expected, "at the next start");
    });

    test("ends at once when it is told to while there is no database", async () => {
      const open = await newDatabase();
      const outage = new Outage();
      await using store = await storeOn(await open(outage.onStatement));
      for (const from of [1, 60]) {
        const stop = new AbortController();
        outage.begin({ from, count: Number.POSITIVE_INFINITY });
        const starting = startTestServer({ store, startPatienceMs: 3_600_000 }, stop.signal);
        await until(() => outage.statements > from + 5);
        stop.abort(new Error("told to stop"));
        await assert.rejects(starting, /told to stop/);
      }
    });

    test("goes on where the first one was killed between its address and its Service", async (t) => {
      const open = await newDatabase();
      await using store = await storeOn(await open());
      const address = "10.96.0.1";
      const body = Body.of({
        apiVersion: "networking.k8s.io/v1",
        kind: "IPAddress",
        metadata: {
          name: address,
          uid: "of-the-first",
          creationTimestamp: new Date().toISOString(),
          labels: {
            "ipaddress.kubernetes.io/ip-family": "IPv4",
            "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
          },
        },
        spec: { parentRef: { resource: "services", namespace: "default", name: "kubernetes" } },
      });
      const kind = "IPAddress.networking.k8s.io";
      await store.create({ kind, namespace: "", name: address }, body, t.signal);
      await using _server = await startTestServer({ store, simulatesWorkloads: true }, t.signal);
      assertSame(await made(store), await usual(await newDatabase()), "after the kill");
    });
  });
}

/** Without where the servers are: there are more of them. */
function withoutAddresses(objects: ReadonlyMap<string, Json>): ReadonlyMap<string, Json> {
  return new Map([...objects].filter(([key]) => !key.startsWith("Endpoint")));
}

suite("replicas", () => {
  test("start at once on an empty database", async (t) => {
    const expected = withoutAddresses(await usual(await newPostgres()));
    for (let round = 0; round < 5; round += 1) {
      const open = await newPostgres();
      await using undo = new AsyncDisposableStack();
      const stores = await Promise.all([1, 2, 3].map(async () => await storeOn(await open())));
      for (const store of stores) undo.use(store);
      const started = await Promise.allSettled(
        stores.map((store) => startTestServer({ store, simulatesWorkloads: true }, t.signal)),
      );
      for (const one of started) if (one.status === "fulfilled") undo.use(one.value);
      const failed = started.filter((one) => one.status === "rejected");
      assert.deepEqual(
        failed.map(({ reason }) => String(reason)),
        [],
      );
      const [store] = stores;
      assert.ok(store !== undefined);
      assertSame(withoutAddresses(await made(store)), expected, `round ${round}`);
    }
  });
});
