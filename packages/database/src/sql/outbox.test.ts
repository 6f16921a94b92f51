import assert from "node:assert/strict";
import { test } from "node:test";
import { eachPostgres } from "../testing/each-postgres.ts";
import { createServicesDatabase } from "../testing/services-database.ts";
import { claimKeys, purgeEvents } from "./outbox.ts";
import { statement, type Statement } from "./statement.ts";

const never = new AbortController().signal;

eachPostgres("the statements of an outbox", (server) => {
  test("look at what is due and what is old, not at what is idle and what is kept", async () => {
    await using it = await createServicesDatabase(await server());
    await it.query(`
      INSERT INTO outbox_keys (ordering_key, last_position, published_position, due_at)
        SELECT n::text, n, n, 'infinity' FROM generate_series(1, 20000) n;
      INSERT INTO outbox (position, event_id, ordering_key, data, attributes, created_at, published_at)
        SELECT n, gen_random_uuid(), n::text, '{}', '{}', now(), now() FROM generate_series(1, 20000) n;
      ANALYZE outbox_keys;
      ANALYZE outbox`);
    const claim = "00000000-0000-0000-0000-000000000000";
    const claimed = { claim, leaseMs: 1_000, keysMax: 100, eventsPerKeyMax: 100 };
    assert.ok((await inVain("outbox_keys", claimKeys, claimed)) < 100);
    const purged = { log: "lifecycle.outbox", retentionMs: 3_600_000, limit: 1_000 };
    assert.ok((await inVain("outbox", purgeEvents, purged)) < 100);

    /** How many rows of the table it looked at and did not want. */
    async function inVain<P, R>(
      table: string,
      asked: Statement<P, R>,
      parameters: P,
    ): Promise<number> {
      const explain = statement<P, { "QUERY PLAN": readonly { Plan: Node }[] }>(
        "explain",
        (sql, parameters) => sql`EXPLAIN (ANALYZE, FORMAT JSON) ${asked.build(sql, parameters)}`,
      );
      const [row] = await it.database.run(explain, parameters, never);
      const nodes = (row?.["QUERY PLAN"] ?? []).flatMap(({ Plan }) => withParts(Plan));
      return nodes
        .filter((node) => node["Relation Name"] === table)
        .reduce((sum, node) => sum + (node["Rows Removed by Filter"] ?? 0), 0);
    }
  });
});

interface Node {
  readonly "Relation Name"?: string;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Node[];
}

function withParts(node: Node): readonly Node[] {
  return [node, ...(node.Plans ?? []).flatMap(withParts)];
}
