// What is kept for a while, and no longer.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { noMetrics, systemRandom } from "@keelson/base";
import {
  localTransport,
  purge,
  schedulerMetrics,
  type LifecycleTransport,
} from "@keelson/clusters";
import { drained, eventsOn, freshDatabase, never, tell } from "./events-bed.ts";

/** A transport to which events have to be carried. */
const elsewhere: LifecycleTransport = { ...localTransport, publishedBy: "relay" };
const hour = 3_600_000;
const retentions = { outboxMs: hour, auditMs: 90 * 24 * hour, tombstonesMs: 7 * 24 * hour };

suite("purges", () => {
  test("published events, history and tombstones go when their time is up, and nothing else does", async () => {
    await using it = await freshDatabase();
    const { events } = eventsOn(it.database, { transport: elsewhere });
    const { outbox } = events;
    const metrics = schedulerMetrics(noMetrics);
    const clean = (): Promise<void> =>
      purge({ database: it.database, outbox, retentions, metrics }, never);
    const ids = [systemRandom.uuid(), systemRandom.uuid(), systemRandom.uuid()] as const;
    const [old, recent, unpublished] = ids;
    for (const id of ids) {
      await it.query(
        `INSERT INTO clusters (id, name, created_by, deleted_at) VALUES ($1, $2, 'alice@example.com', now())`,
        [id, id],
      );
      await it.database.run(tell, { clusterId: id }, never);
    }
    await outbox.numberAll(never);
    await clean();
    const count = async (): Promise<readonly number[]> => {
      const [row] = await it.query<{ events: number; audit: number; clusters: number }>(
        `SELECT (SELECT count(*) FROM outbox)::integer AS events, (SELECT count(*) FROM audit)::integer AS audit,
                (SELECT count(*) FROM clusters)::integer AS clusters`,
      );
      return [row?.events ?? 0, row?.audit ?? 0, row?.clusters ?? 0];
    };
    assert.deepEqual(await count(), [3, 3, 3], "nothing is old yet");

    await it.query(`UPDATE clusters SET deleted_at = now() - interval '8 d' WHERE id <> $1`, [
      recent,
    ]);
    await it.query(`UPDATE outbox SET created_at = now() - interval '3 h'`);
    await it.query(
      `UPDATE outbox SET published_at = now() - interval '2 h' WHERE ordering_key <> $1`,
      [unpublished],
    );
    await it.query(`UPDATE audit SET at = now() - interval '91 d' WHERE resource_id = $1`, [old]);
    await clean();
    assert.deepEqual(await count(), [1, 2, 2]);
    const left = await it.query<{ id: string }>(`SELECT id FROM clusters`);
    assert.deepEqual(
      left.map(({ id }) => id).toSorted(),
      [recent, unpublished].toSorted(),
      "one whose event is still to be published stays",
    );
    assert.equal(await drained(it), false);
  });

  test("a cluster waits for its nodepools, and leaves nothing behind", async () => {
    await using it = await freshDatabase();
    const { outbox } = eventsOn(it.database).events;
    const metrics = schedulerMetrics(noMetrics);
    const id = systemRandom.uuid();
    await it.query(`INSERT INTO clusters (id, name, created_by, deleted_at)
        VALUES ('${id}', 'c', 'alice@example.com', now() - interval '8 d');
      INSERT INTO nodepools (cluster_id, name, created_by, deleted_at)
        VALUES ('${id}', 'n', 'alice@example.com', now() - interval '1 d');
      INSERT INTO finalizers (kind, resource_id, controller_name, finalized_at)
        VALUES ('cluster', '${id}', 'dns', now())`);
    const clean = (): Promise<void> =>
      purge({ database: it.database, outbox, retentions, metrics }, never);
    const count = async (): Promise<number> => {
      const [row] = await it.query<{ rows: number }>(
        `SELECT (SELECT count(*) FROM clusters)::integer + (SELECT count(*) FROM finalizers)::integer AS rows`,
      );
      return row?.rows ?? -1;
    };
    await clean();
    assert.equal(await count(), 2);
    await it.query(`UPDATE nodepools SET deleted_at = now() - interval '8 d'`);
    await clean();
    assert.equal(await count(), 0);
  });
});
