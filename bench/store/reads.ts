// Gets and lists: from memory where the store knows that it is current, from the database where it does not.

import postgres from "postgres";
import { DatabaseSync } from "node:sqlite";
import type { Cursor, Store } from "@keelson/store";
import { closedLoop, duel, Latencies } from "../measure.ts";
import { judged, type Row } from "../report.ts";
import { chosenOf, numberOf, type Run } from "../suite.ts";
import {
  backendNames,
  type BackendName,
  fill,
  keyOf,
  never,
  openPlace,
  scope,
} from "./fixtures.ts";

const pageSize = 500;

export async function bench(run: Run): Promise<readonly Row[]> {
  const objects = numberOf(run, "objects", run.isQuick ? 5000 : 100_000);
  const rounds = numberOf(run, "rounds", run.isQuick ? 3 : 5);
  const ms = numberOf(run, "round-ms", run.isQuick ? 300 : 1000);
  const rows: Row[] = [];
  for (const name of chosenOf(run, "backend", backendNames)) {
    await using place = await openPlace(name);
    const { store, database } = await place.openWithAddress();
    run.say(`${name}: writing ${objects} objects`);
    await fill(store, { to: objects });
    rows.push(...(await gets(store, { name, ms: ms * rounds })));
    await using pages = name === "sqlite" ? sqlitePages(database) : postgresPages(database);
    rows.push(...(await lists(store, { name, objects, rounds, pages })));
  }
  return rows;
}

/** A thousand hot objects, as an API server's are. */
async function gets(
  store: Store,
  { name, ms }: { readonly name: BackendName; readonly ms: number },
): Promise<Row[]> {
  const hot = 1000;
  for (let n = 0; n < hot; n += 1) await store.get(keyOf(n), never);
  const keys = Array.from({ length: hot }, (_, n) => keyOf(n));
  const rows: Row[] = [];
  for (const readers of [1, 64]) {
    let n = 0;
    const get = (): Promise<unknown> => store.get(keys[(n += 1) % hot] ?? keyOf(0), never);
    await closedLoop(readers, get, { ms: ms / 4 });
    const latencies = new Latencies();
    const value = await closedLoop(readers, get, { ms, latencies });
    const title = `${name} get, ${readers === 1 ? "1 reader" : `${readers} readers`}`;
    rows.push(judged({ name: title, value, unit: "/s" }, { atLeast: 100_000 }));
    rows.push({ name: `${title}, p99`, value: latencies.percentile(0.99), unit: "ms" });
  }
  return rows;
}

/** All objects, page by page. The baseline reads the same rows by the same index, and leaves them as text. */
async function lists(
  store: Store,
  {
    name,
    objects,
    rounds,
    pages,
  }: {
    readonly name: BackendName;
    readonly objects: number;
    readonly rounds: number;
    readonly pages: RawPages;
  },
): Promise<Row[]> {
  const latencies = new Latencies();
  const ours = async (): Promise<number> => {
    const start = performance.now();
    let count = 0;
    let next: Cursor | undefined;
    do {
      const before = performance.now();
      const page = await store.list(
        scope,
        { limit: pageSize, ...(next === undefined ? {} : { continue: next }) },
        never,
      );
      latencies.add(performance.now() - before);
      count += page.items.length;
      next = page.continue;
    } while (next !== undefined);
    if (count !== objects) throw new Error(`the list has ${count} objects, not ${objects}`);
    return (count / (performance.now() - start)) * 1000;
  };
  const other = async (): Promise<number> => {
    const start = performance.now();
    let count = 0;
    let after: readonly [string, string] = ["", ""];
    for (;;) {
      const page: readonly (readonly [string, string])[] = await pages.after(after);
      count += page.length;
      after = page.at(-1) ?? after;
      if (page.length < pageSize) break;
    }
    if (count !== objects) throw new Error(`the table has ${count} rows, not ${objects}`);
    return (count / (performance.now() - start)) * 1000;
  };
  const { value, baseline, ratio } = await duel({ ours, other }, { rounds, ms: 0 });
  const title = `${name} list of ${objects.toLocaleString("en-US")} in pages of ${pageSize}`;
  return [
    judged({ name: title, value, unit: "objects/s", baseline, ratio }),
    { name: `${title}, whole`, value: (objects / value) * 1000, unit: "ms" },
    { name: `${title}, page p50`, value: latencies.percentile(0.5), unit: "ms" },
    judged(
      { name: `${title}, page p99`, value: latencies.percentile(0.99), unit: "ms" },
      { atMost: 250 },
    ),
  ];
}

/** Pages straight from the driver. */
interface RawPages extends AsyncDisposable {
  after(position: readonly [string, string]): Promise<readonly (readonly [string, string])[]>;
}

function sqlitePages(path: string): RawPages {
  const database = new DatabaseSync(path, { readOnly: true });
  const select =
    database.prepare(`SELECT namespace, name, resource_version, uid, object FROM objects
    WHERE api_group = 'ark.mckinsey.com' AND kind = 'Query' AND (namespace, name) > (?, ?)
    ORDER BY namespace, name LIMIT ${pageSize}`);
  return {
    async after(position) {
      const rows = select.all(...position);
      return rows.map((row) => [String(row["namespace"]), String(row["name"])] as const);
    },
    async [Symbol.asyncDispose]() {
      database.close();
    },
  };
}

function postgresPages(url: string): RawPages {
  const sql = postgres(url, { max: 1, fetch_types: false });
  return {
    async after([namespace, name]) {
      const rows = await sql<{ namespace: string; name: string }[]>`
        SELECT namespace, name, resource_version, uid, object FROM ark.resources
        WHERE api_group = 'ark.mckinsey.com' AND kind = 'Query' AND (namespace, name) > (${namespace}, ${name})
        ORDER BY namespace, name LIMIT ${pageSize}`;
      return rows.map((row) => [row.namespace, row.name] as const);
    },
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 1 });
    },
  };
}
