// What was seen is recorded once, and never by what is older (F34): events again, out of order, and by a watcher of old.

import assert from "node:assert/strict";
import { suite, test, type TestContext } from "node:test";
import { noMetrics, silentLog, systemClock, TaskScope } from "@keelson/base";
import type { DynamicObject } from "@keelson/client";
import { Wakeups } from "@keelson/database";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { createFleetDatabase } from "../testing/fleet-database.ts";
import { WorkBell } from "../work-bell.ts";
import { workerMetrics } from "./metrics.ts";
import { Observer, type Seen } from "./observer.ts";
import { ownedFields } from "./owned-fields.ts";

const fieldsV1 = {
  "f:data": { "f:a": {} },
  "f:metadata": {
    "f:annotations": {
      "f:kontrol/resource-id": {},
      "f:kontrol/generation": {},
      "f:kontrol/revision": {},
    },
  },
};

/** The row's object at a version, as the cluster shows it. */
function at(id: number, version: number, a: string): DynamicObject {
  const metadata = {
    name: "web",
    namespace: "default",
    uid: "u",
    resourceVersion: String(version),
    annotations: {
      "kontrol/resource-id": String(id),
      "kontrol/generation": "1",
      "kontrol/revision": "1",
    },
    managedFields: [{ manager: "kontrol", operation: "Apply", fieldsType: "FieldsV1", fieldsV1 }],
  };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data: { a } };
}

async function startObserver(t: TestContext) {
  await using setup = new AsyncDisposableStack();
  const tables = setup.use(await createFleetDatabase(await sharedThrowawayPostgres("embedded")));
  const scope = setup.use(new TaskScope(t.signal));
  const [row] = await tables.query<{ id: number }>(
    `INSERT INTO resources (cluster_id, namespace, kind, name, api_version, desired_spec, drift_policy)
     VALUES ('prod', 'default', 'ConfigMap', 'web', 'v1', '{"data":{"a":"1"}}', 'report') RETURNING id`,
  );
  const id = row?.id ?? 0;
  await tables.query(
    `INSERT INTO resource_applied_states (resource_id, generation, revision, status, uid, k8s_resource_version, owned)
     VALUES ($1, 1, 1, 'success', 'u', '10', $2::text::jsonb)`,
    [id, JSON.stringify(ownedFields(at(id, 10, "1"), "kontrol"))],
  );
  /** Runs a watcher of its own under a fence until it has gone through all of this, in this order. */
  const watch = async (fence: string, seen: readonly Seen[]): Promise<void> => {
    const { database } = tables;
    const wakeups = new Wakeups({ database });
    for (const one of seen) {
      const gone = Promise.withResolvers<void>();
      const observer = new Observer({
        database,
        bell: new WorkBell({ wakeups, log: silentLog, signal: t.signal }),
        clock: systemClock,
        log: silentLog,
        metrics: workerMetrics(noMetrics),
        onGone: () => gone.resolve(),
      });
      const stop = new AbortController();
      // A row that is not there comes after it: once that is known, this one has been recorded or refused.
      observer.see(id, one);
      observer.see(2_000_000_000, one);
      scope.spawn("observer", () => observer.run(fence, stop.signal));
      await gone.promise;
      stop.abort();
    }
  };
  const kept = setup.move();
  return {
    id,
    watch,
    /** What is recorded, and by which write. */
    recorded: async () => {
      const [state] = await tables.query<{ told: string; write: string }>(
        `SELECT concat_ws(' ', k8s_resource_version, spec->'data'->>'a', drifted,
                          CASE WHEN deleted_at IS NOT NULL THEN 'absent' END) AS told,
                xmin::text || ' ' || ctid::text AS write
         FROM resource_current_states`,
      );
      return state;
    },
    events: async () => (await tables.query(`SELECT FROM events_unnumbered`)).length,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

suite("what is seen of a row", () => {
  test("F34: replayed and out of order, what is older overwrites nothing, and what is known writes nothing", async (t) => {
    await using it = await startObserver(t);
    const seen = (version: number, a: string): Seen => ({
      type: "present",
      object: at(it.id, version, a),
    });
    await it.watch("1", [seen(10, "1"), seen(12, "changed")]);
    const latest = await it.recorded();
    assert.equal(latest?.told, "12 changed t");
    const told = await it.events();
    const absent = (version: string): Seen => ({ type: "absent", version });
    await it.watch("1", [seen(12, "changed"), seen(11, "1"), seen(10, "1"), seen(9, "0")]);
    // That there was none, as of before our apply, is older still; and numbers are no words: 9 is before 12.
    await it.watch("1", [absent("9"), seen(12, "changed")]);
    assert.deepEqual([await it.recorded(), await it.events()], [latest, told]);

    await it.watch("2", [seen(13, "1")]);
    const taken = await it.recorded();
    assert.equal(taken?.told, "13 1 f");
    // Whoever watched before has lost its target: not even what is newer counts.
    await it.watch("1", [seen(14, "late"), absent("15")]);
    assert.deepEqual(await it.recorded(), taken);
    await it.watch("2", [absent("16")]);
    assert.match((await it.recorded())?.told ?? "", /absent$/);
  });
});
