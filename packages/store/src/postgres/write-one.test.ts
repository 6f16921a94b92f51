// A write without company takes another road on PostgreSQL; it must arrive at the same place.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { systemClock } from "@keelson/base";
import type { Outcome, Write } from "../backend.ts";
import type { Body } from "../body.ts";
import { toColumns } from "../columns.ts";
import { key, object, signal } from "../testing/bed.ts";
import { freshDatabase } from "../testing/postgres-bed.ts";
import { PostgresBackend } from "./backend.ts";

/** Writes in order, among them every verdict, and bodies that jsonb holds and that it refuses. */
const script: readonly ((seen: (n: number) => number) => Write)[] = [
  () => create("a", object("a", { uid: "uid-a", labels: { tier: "gold" }, spec: { n: 1 } })),
  () => create("a", object("a", { uid: "uid-other" })),
  () => create("nul", object("nul", { uid: "uid-nul", spec: { text: "\0" } })),
  () => create("plain", object("plain", { uid: "uid-plain" })),
  (seen) => update("a", object("a", { uid: "uid-a", spec: { n: 2 } }), { revision: seen(0) }),
  (seen) => update("a", object("a", { uid: "uid-a", spec: { n: 3 } }), { revision: seen(0) }),
  (seen) => update("a", object("a", { uid: "uid-a", spec: { n: 2 } }), { revision: seen(4) }),
  (seen) => update("a", object("a", { uid: "u" }), { revision: seen(4), uid: "uid-b" }),
  () => update("none", object("none", { uid: "uid-none" }), { revision: 3 }),
  (seen) => update("nul", object("nul", { uid: "uid-nul" }), { revision: seen(2) }),
  (seen) => ({ type: "delete", key: key("a"), expect: { revision: seen(0) }, final: undefined }),
  (seen) => ({ type: "delete", key: key("a"), expect: { revision: seen(4) }, final: undefined }),
  () => ({ type: "delete", key: key("a"), expect: {}, final: undefined }),
  () => ({
    type: "delete",
    key: key("plain"),
    expect: { uid: "uid-plain" },
    final: object("plain", { uid: "uid-plain", spec: { last: true } }),
  }),
];

suite("a write without company on PostgreSQL", () => {
  test("it has the outcome and leaves the rows that it has in a batch", async () => {
    const alone = await play((write) => [write]);
    // A delete of nothing keeps it company: it takes no revision.
    const nothing: Write = { type: "delete", key: key("nothing"), expect: {}, final: undefined };
    const together = await play((write) => [write, nothing]);
    assert.deepEqual(alone, together);
    const verdicts = new Set(alone.outcomes.map(({ type }) => type));
    assert.deepEqual(verdicts, new Set(["written", "exists", "unchanged", "conflict", "missing"]));
  });
});

async function play(company: (write: Write) => readonly Write[]) {
  await using database = await freshDatabase(sharedThrowawayPostgres("embedded"));
  const { url, sql } = database;
  await using backend = await PostgresBackend.open({ url, clock: systemClock }, signal);
  const outcomes: Outcome[] = [];
  const heads: number[] = [];
  const seen = (n: number): number => {
    const outcome = outcomes[n];
    return outcome?.type === "written" ? outcome.revision : 0;
  };
  for (const step of script) {
    const { outcomes: found, head } = await backend.commit(company(step(seen)));
    outcomes.push(...found.slice(0, 1));
    heads.push(head);
  }
  const rows = async (text: string): Promise<unknown[]> => [...(await sql.unsafe(text))];
  const tables = {
    resources: await rows(
      `SELECT (to_jsonb(r) - 'object' - 'created_at' - 'updated_at')::text AS row, object FROM ark.resources r ORDER BY name`,
    ),
    changes: await rows("SELECT * FROM ark.changes ORDER BY revision"),
    counts: await rows("SELECT * FROM ark.counts WHERE objects <> 0"),
    meta: await rows("SELECT head, floor FROM ark.meta"),
  };
  return { outcomes: outcomes.map(withText), heads, tables };
}

/** Bodies compare by their text. */
function withText(outcome: Outcome): { readonly type: Outcome["type"] } {
  if (outcome.type !== "written" || outcome.previous === undefined) return outcome;
  const { body, ...rest } = outcome.previous;
  const previous = { ...rest, text: body?.text };
  const compared = { ...outcome, previous };
  return compared;
}

function create(name: string, body: Body): Write {
  return { type: "create", key: key(name), body, columns: toColumns(key(name), body) };
}

function update(
  name: string,
  body: Body,
  expect: { readonly revision: number; readonly uid?: string },
): Write {
  const columns = toColumns(key(name), body);
  return { type: "update", key: key(name), body, columns, expect, replaced: undefined };
}
