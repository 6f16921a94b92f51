// PostgreSQL ends and comes back under load (F7, F43): a real server, ended as a crash ends it.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { startThrowawayPostgres } from "@keelson/database/testing";
import { until } from "../tools/until.ts";
import { startBed, synced, web } from "./bed.ts";
import { isOracle } from "../tools/test-cluster.ts";

const { KEELSON_TEST_RESTARTS: restarts = "2" } = process.env;
const rows = 10;

suite("a database that restarts", { skip: isOracle ? "it needs no other cluster" : false }, () => {
  test("F7, F43: under load nothing is left half done, what was answered is kept, and all arrives", async (t) => {
    const { signal } = t;
    await using postgres = await startThrowawayPostgres({ flavour: "embedded" });
    await using it = await startBed(signal, { postgres });
    // What was claimed when it ended is due again after this.
    it.startWorker({ leaseMs: 2_000 });
    const ids: number[] = [];
    for (let n = 0; n < rows; n++) ids.push(await it.create({ ...web, name: `row-${n}` }));
    for (const id of ids) await it.becomes(id, synced);

    /** The highest generation that each row's writers were told of, and with what value. */
    const answered = new Map<number, { generation: number; a: string }>();
    const codes = new Set<number>();
    const others: unknown[] = [];
    let writes = 0;
    const over = new AbortController();
    const write = async (id: number): Promise<void> => {
      while (!over.signal.aborted) {
        const a = `value ${writes++}`;
        const { code, body } = await it.rest.ask("PUT", `/resources/${id}`, {
          desired_spec: { data: { a } },
        });
        codes.add(code);
        if (code === 200) answered.set(id, { generation: body.generation, a });
        if (code !== 200 && code !== 503) others.push([code, body]);
        if (code !== 200) await wait(20, undefined, { signal });
      }
    };
    const writing = Promise.all(ids.map(write));
    try {
      for (let round = 0; round < Number(restarts); round++) {
        const before = writes;
        await until(() => writes > before + 3 * rows, signal);
        await postgres.stop({ mode: "immediate" });
        codes.clear();
        await until(() => codes.has(503), signal);
        assert.equal((await it.rest.ask("GET", `/resources/${ids[0]}`)).code, 503);
        await postgres.start();
        await until(() => codes.has(200), signal);
      }
    } finally {
      over.abort();
      await writing;
    }
    assert.deepEqual(others, []);

    // No wake-up of the time is heard again: whatever was missed is found, and the worker watches as before.
    for (const [index, id] of ids.entries()) {
      const { generation: told, a } = answered.get(id) ?? { generation: 1, a: "1" };
      const body = await it.becomes(id, synced);
      // A write whose answer was lost may have come after the last that was answered.
      assert.ok(body.generation >= told, `${body.generation} after ${told}`);
      if (body.generation === told) assert.equal(body.desired_spec.data.a, a);
      assert.deepEqual(
        [body.applied.generation, body.current.generation, body.current.spec],
        [body.generation, body.generation, body.desired_spec],
      );
      const object = await it.find("ConfigMap", `row-${index}`);
      assert.deepEqual(object?.["data"], body.desired_spec.data);
      assert.equal(object?.metadata.annotations?.["kontrol/generation"], String(body.generation));
    }
    // Each generation has its revision and its event, or is not there at all.
    const halves = await it.rest.tables.query(
      `SELECT r.id, r.generation, h.kept, e.told FROM resources r
       CROSS JOIN LATERAL (SELECT count(*)::integer AS kept FROM resource_revisions WHERE resource_id = r.id) h
       CROSS JOIN LATERAL (SELECT count(*)::integer AS told FROM events_unnumbered
                           WHERE resource_id = r.id AND type IN ('resource.created', 'resource.updated')) e
       WHERE h.kept <> r.generation OR e.told <> r.generation`,
    );
    assert.deepEqual(halves, []);
    const maps = await it.configMaps();
    const ref = { namespace: "default", name: "row-0" };
    await maps.delete(ref, signal);
    await until(async () => (await maps.find(ref, signal)) !== undefined, signal);
  });
});
