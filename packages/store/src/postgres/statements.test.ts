// Which indexes PostgreSQL uses for the statements that are run often.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { systemClock } from "@keelson/base";
import { until } from "@keelson/base/testing";
import type { ScanRequest, Write } from "../backend.ts";
import { toColumns } from "../columns.ts";
import { everywhere, key, kind, object, signal } from "../testing/bed.ts";
import { freshDatabase } from "../testing/postgres-bed.ts";
import { PostgresBackend } from "./backend.ts";
import { type OutcomeRow, statementsOf } from "./statements.ts";
import postgres, { type Sql } from "postgres";

suite("plans of PostgreSQL", () => {
  const request: ScanRequest = {
    scope: everywhere,
    after: { namespace: "default", name: "n100" },
    walk: 50,
    at: undefined,
    labels: [],
    name: undefined,
  };
  const statements = statementsOf("ark");
  const hot: readonly (readonly [string, (sql: Sql) => unknown, RegExp])[] = [
    ["get", (sql) => statements.selectObject(sql, key("n7")), /resources_pkey/],
    ["page", (sql) => statements.scanNow(sql, request), /resources_pkey/],
    [
      "page of a namespace",
      (sql) => statements.scanNow(sql, { ...request, scope: { kind, namespace: "default" } }),
      /resources_pkey/,
    ],
    [
      "page of the past",
      (sql) => statements.scanAt(sql, request, 4000),
      /changes_deleted[\s\S]*changes_key|changes_key[\s\S]*changes_deleted/,
    ],
    ["log", (sql) => statements.selectLog(sql, 4000, { entries: 100, text: 1e6 }), /changes_pkey/],
    ["size", (sql) => statements.selectSize(sql), /changes_pkey[\s\S]*changes_pkey/],
    ["history", (sql) => statements.selectHistory(sql, key("n7"), undefined, 10), /changes_key/],
  ];
  test("hot statements use their indexes and read no table from end to end", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const { sql, open } = parts;
    await using store = await open();
    await Promise.all(
      Array.from({ length: 3000 }, (_, n) => store.create(key(`n${n}`), object(`n${n}`), signal)),
    );
    await Promise.all(
      Array.from({ length: 1500 }, (_, n) => store.delete(key(`n${2 * n}`), {}, signal)),
    );
    await sql`ANALYZE`;
    for (const [what, statement, index] of hot) {
      const [row] = await sql`EXPLAIN (FORMAT JSON) ${statement(sql) as never}`;
      const plan = nodesOf(row?.["QUERY PLAN"]);
      assert.match(plan.join("\n"), index, what);
      assert.deepEqual(
        plan.filter((node) => /^Seq Scan on (resources|changes)/.test(node)),
        [],
        what,
      );
    }
  });

  /** Writes of each sort, on objects that are there and that are not. */
  const sorts: Readonly<Record<string, (n: number) => Write>> = {
    create: (n) => create(`new${n}`),
    update: (n) => {
      const body = object(`n${n}`, { uid: `u${n}`, spec: { changed: true } });
      const [columns, expect] = [toColumns(key(`n${n}`), body), { uid: `u${n}`, revision: n + 2 }];
      return { type: "update", key: key(`n${n}`), body, columns, expect, replaced: undefined };
    },
    delete: (n) => ({ type: "delete", key: key(`n${n}`), expect: {}, final: undefined }),
  };
  const functions: Readonly<
    Record<string, (sql: Sql, sort: (n: number) => Write) => Promise<readonly OutcomeRow[]>>
  > = {
    "a write without company": (sql, sort) => statements.writeOne(sql, sort(7)),
    "a batch": (sql, sort) => statements.writeBatch(sql, [7, 8, 9].map(sort)),
  };
  for (const [what, write] of Object.entries(functions)) {
    test(`${what} finds its objects by their key, and reads no table from end to end`, async () => {
      await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
      await using backend = await PostgresBackend.open(
        { url: parts.url, clock: systemClock },
        signal,
      );
      const many = Array.from({ length: 2000 }, (_, n) => create(`n${n}`, `u${n}`));
      await backend.commit(many);
      await using session = explaining(parts.url);
      for (const [sort, toWrite] of Object.entries(sorts)) {
        const outcomes = await write(session.sql, toWrite);
        assert.ok(
          outcomes.every(({ verdict }) => verdict === "written"),
          sort,
        );
        const nodes = session.plans().flatMap(nodesOf);
        const reads = nodes.filter((node) => / on (resources|changes|counts)/.test(node));
        assert.ok(reads.includes("Index Scan on resources using resources_pkey"), reads.join());
        for (const node of reads)
          assert.match(node, /^(Index Scan on resources using resources_pkey|ModifyTable on )/);
      }
    });
  }

  test("a batch finds its objects by their key, whatever the size of the tables was when it was planned", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const { sql, url } = parts;
    const backend = await PostgresBackend.open({ url, clock: systemClock }, signal);
    await using _closing = backend;
    for (let batch = 0; batch < 20; batch += 1)
      await backend.commit(Array.from({ length: 100 }, (_, n) => create(`b${batch}-${n}`)));
    await until(async () => {
      const [before] =
        await sql`SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'resources' AND schemaname = 'ark'`;
      return before !== undefined;
    });
    await sql`SELECT pg_stat_force_next_flush()`;
    const [stats] =
      await sql`SELECT coalesce(seq_tup_read, 0) AS read FROM pg_stat_user_tables WHERE relname = 'resources' AND schemaname = 'ark'`;
    assert.equal(Number(stats?.["read"]), 0);
  });
});

function create(name: string, uid?: string): Write {
  const body = object(name, uid === undefined ? {} : { uid });
  return { type: "create", key: key(name), body, columns: toColumns(key(name), body) };
}

/** A session that tells the plan of each statement it has run, also of those inside a function. */
function explaining(
  url: string,
): AsyncDisposable & { readonly sql: Sql; readonly plans: () => readonly unknown[] } {
  const told: string[] = [];
  const sql = postgres(url, {
    max: 1,
    fetch_types: false,
    onnotice: ({ message = "" }) => void told.push(message),
    connection: {
      session_preload_libraries: "auto_explain",
      "auto_explain.log_min_duration": "0",
      "auto_explain.log_nested_statements": "on",
      "auto_explain.log_format": "json",
      "auto_explain.log_level": "notice",
    },
  });
  return {
    sql,
    plans: () => told.splice(0).map((text): unknown => JSON.parse(text.slice(text.indexOf("{")))),
    [Symbol.asyncDispose]: () => sql.end(),
  };
}

/** The nodes of a plan, each with the table and the index that it reads. */
function nodesOf(plan: unknown): readonly string[] {
  if (Array.isArray(plan)) return plan.flatMap(nodesOf);
  if (typeof plan !== "object" || plan === null) return [];
  const { "Node Type": type, "Relation Name": table, "Index Name": index } = plan as PlanNode;
  const on = table === undefined ? "" : ` on ${table}`;
  const using = index === undefined ? "" : ` using ${index}`;
  const node = type === undefined ? [] : [`${type}${on}${using}`];
  return [...node, ...Object.values(plan).flatMap(nodesOf)];
}

type PlanNode = Readonly<Partial<Record<"Node Type" | "Relation Name" | "Index Name", string>>>;
