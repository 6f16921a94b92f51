// What was seen is recorded once, and never by what is older (F34): events again, out of order, and by a watcher of old.

import assert from "node:assert/strict";
import { suite, test, type TestContext } from "node:test";
import { noMetrics, readJson, silentLog, systemClock, TaskScope, type Clock } from "@keelson/base";
import { ManualClock, until } from "@keelson/base/testing";
import type { DynamicObject } from "@keelson/client";
import { statement, Wakeups, type StatementPoint } from "@keelson/database";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { storableVersion } from "../sql/storable.ts";
import { createFleetDatabase } from "../testing/fleet-database.ts";
import { WorkBell } from "../work-bell.ts";
import { workerMetrics } from "./metrics.ts";
import { Observer, type ObserverOptions, type Seen } from "./observer.ts";
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
function at(id: number, version: number, a: string, generation = "1"): DynamicObject {
  const metadata = {
    name: "web",
    namespace: "default",
    uid: "u",
    resourceVersion: String(version),
    annotations: {
      "kontrol/resource-id": String(id),
      "kontrol/generation": generation,
      "kontrol/revision": "1",
    },
    managedFields: [{ manager: "kontrol", operation: "Apply", fieldsType: "FieldsV1", fieldsV1 }],
  };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data: { a } };
}

type OnGone = ObserverOptions["onGone"];

async function startObserver(
  t: TestContext,
  onStatement: (point: StatementPoint) => Promise<void> = async () => undefined,
) {
  await using setup = new AsyncDisposableStack();
  const tables = setup.use(await createFleetDatabase(await sharedThrowawayPostgres("embedded")));
  const scope = setup.use(new TaskScope(t.signal));
  /** A row whose object was applied at version 10. */
  const insert = async (name: string): Promise<number> => {
    const [row] = await tables.query<{ id: number }>(
      `INSERT INTO resources (cluster_id, namespace, kind, name, api_version, desired_spec, drift_policy)
       VALUES ('prod', 'default', 'ConfigMap', $1, 'v1', '{"data":{"a":"1"}}', 'report') RETURNING id`,
      [name],
    );
    const id = row?.id ?? 0;
    await tables.query(
      `INSERT INTO resource_applied_states (resource_id, generation, revision, status, uid, k8s_resource_version, owned)
       VALUES ($1, 1, 1, 'success', 'u', '10', $2::text::jsonb)`,
      [id, JSON.stringify(ownedFields(at(id, 10, "1"), "kontrol"))],
    );
    return id;
  };
  const id = await insert("web");
  const database = tables.openAnother({ onStatement });
  const wakeups = new Wakeups({ database });
  const observerOn = (clock: Clock, onGone: OnGone = () => undefined): Observer =>
    new Observer({
      database,
      bell: new WorkBell({ wakeups, log: silentLog, signal: t.signal }),
      clock,
      log: silentLog,
      metrics: workerMetrics(noMetrics),
      onGone,
    });
  /** Runs a watcher of its own under a fence until it has gone through all of this, in this order. */
  const watch = async (fence: string, seen: readonly Seen[]): Promise<void> => {
    for (const one of seen) {
      const gone = Promise.withResolvers<void>();
      const observer = observerOn(systemClock, () => gone.resolve());
      const stop = new AbortController();
      // A row that is not there comes after it: once that is known, this one has been recorded or refused.
      observer.see(id, one);
      observer.see(2_000_000_000, one);
      scope.spawn("observer", () => observer.run(fence, stop.signal));
      await gone.promise;
      stop.abort();
    }
  };
  /** What is recorded, and by which write. */
  const recorded = async (of = id) => {
    const [state] = await tables.query<{ told: string; write: string }>(
      `SELECT concat_ws(' ', k8s_resource_version, spec->'data'->>'a', drifted,
                        CASE WHEN deleted_at IS NOT NULL THEN 'absent' END) AS told,
              xmin::text || ' ' || ctid::text AS write
       FROM resource_current_states WHERE resource_id = $1`,
      [of],
    );
    return state;
  };
  const kept = setup.move();
  return {
    id,
    insert,
    watch,
    recorded,
    query: tables.query.bind(tables),
    /** That generation 2 was applied, at version 11. */
    recordNext: () =>
      tables.query(
        `UPDATE resource_applied_states SET generation = 2, k8s_resource_version = '11', owned = $1::text::jsonb`,
        [JSON.stringify(ownedFields(at(id, 11, "2", "2"), "kontrol"))],
      ),
    /** A watcher that goes on until the test ends. */
    startWatching: (clock: Clock, onGone?: OnGone): Observer => {
      const observer = observerOn(clock, onGone);
      scope.spawn("observer", (signal) => observer.run("1", signal));
      return observer;
    },
    /** Waits until this is recorded of a row. */
    becomes: async (told: string, of = id): Promise<void> => {
      while ((await recorded(of))?.told !== told) t.signal.throwIfAborted();
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

  test("that nothing is there is believed against the versions if what we applied was known when it was asked for", async (t) => {
    let apply: (() => Promise<unknown>) | undefined;
    await using it = await startObserver(t, async ({ statement, phase }) => {
      if (statement === "recordAbsent" && phase === "before") await apply?.();
    });
    const askedAgo = (ms: number): Seen => {
      return { type: "absent", version: "3", askedMs: systemClock.monotonic() - ms };
    };
    await it.watch("1", [askedAgo(0)]); // Nobody knows when that was.
    await it.query(`UPDATE resource_applied_states SET applied_at = now() - interval '1 min'`);
    await it.watch("1", [askedAgo(120_000)]);
    apply = it.recordNext;
    await it.watch("1", [askedAgo(0)]);
    apply = undefined;
    assert.equal(await it.recorded(), undefined);
    await it.watch("1", [askedAgo(0)]);
    assert.match((await it.recorded())?.told ?? "", /absent$/);
  });

  test("what no column holds is recorded as far as one does, and stops nothing", async (t) => {
    await using it = await startObserver(t);
    const strange = "\0 and \ud800";
    const unstorable = [
      "1e999999",
      "-1.5E+131072",
      "1e-16384",
      "0e9999999999",
      `0.${"1".repeat(16_384)}`,
      "1".repeat(131_073),
    ];
    const zero = "0";
    const numbers = readJson(`[${[...unstorable, "0e99999"].join()},"'1e999999",7]`);
    const seen = (version: number, a: string): Seen => {
      const object = at(it.id, version, a);
      const metadata = { ...object.metadata, uid: strange, labels: { [strange]: "\\u0000" } };
      return { type: "present", object: { ...object, metadata, numbers } };
    };
    await it.watch("1", [seen(11, "1")]);
    assert.equal((await it.recorded())?.told, "11 1 f");
    const query = `SELECT spec->>'numbers' AS numbers FROM resource_current_states`;
    const [row] = await it.query<{ numbers: string }>(query);
    const kept = [...unstorable.map((text) => `"${text}"`), zero, `"'1e999999"`, "7"].join(", ");
    assert.equal(row?.numbers, `[${kept}]`);
    await it.watch("1", [seen(12, strange)]);
    assert.equal((await it.recorded())?.told, "12 \ufffd and \ufffd t");
    const [state] = await it.query<{ label: string; current: string }>(
      `SELECT spec#>>'{metadata,labels,\ufffd and \ufffd}' AS label, drift#>>'{0,current}' AS current
       FROM resource_current_states`,
    );
    assert.deepEqual(state, { label: "\\u0000", current: "\ufffd and \ufffd" });
  });

  test("a version that is longer than its column is known from others, and a long uid stays as it is", async (t) => {
    await using it = await startObserver(t);
    const [longest, longer] = ["9".repeat(100), "9".repeat(101)];
    const seen = (resourceVersion: string, uid: string, a: string): Seen => {
      const object = at(it.id, 0, a);
      const metadata = { ...object.metadata, resourceVersion, uid };
      return { type: "present", object: { ...object, metadata } };
    };
    await it.watch("1", [seen(longest, "u", "1")]);
    assert.equal((await it.recorded())?.told, `${longest} 1 f`);
    const uid = "u".repeat(10_000);
    await it.watch("1", [seen(longer, uid, "1"), seen(`${longer}9`, uid, "changed")]);
    assert.match((await it.recorded())?.told ?? "", /^long:[\w-]+ changed t$/);
    assert.deepEqual(await it.query(`SELECT uid FROM resource_current_states`), [{ uid }]);
    // As our apply has left it.
    await it.query(`UPDATE resource_applied_states SET uid = $1, k8s_resource_version = $2`, [
      uid,
      storableVersion(longer),
    ]);
    await it.watch("1", [seen(longer, uid, "1")]);
    assert.match((await it.recorded())?.told ?? "", /^long:[\w-]+ 1 f$/);
  });

  test("numbers that no row can have are not believed, whoever has written them", async (t) => {
    await using it = await startObserver(t);
    const numbersIn = (version: number, numbers: Record<string, string>): Seen => {
      const object = at(it.id, version, "1");
      const annotations = { ...object.metadata.annotations, ...numbers };
      return {
        type: "present",
        object: { ...object, metadata: { ...object.metadata, annotations } },
      };
    };
    await it.watch("1", [
      { type: "present", object: at(it.id, 11, "1") },
      numbersIn(12, { "kontrol/revision": "9999999999" }),
      numbersIn(13, { "kontrol/generation": "-9999999999" }),
      numbersIn(14, { "kontrol/generation": "0x1" }),
    ]);
    assert.equal((await it.recorded())?.told, "14 1 t");
    assert.deepEqual(await it.query(`SELECT generation, revision FROM resource_current_states`), [
      { generation: 1, revision: 1 },
    ]);
  });

  test("what was written after an apply, and seen before that was recorded, is compared with it afterwards", async (t) => {
    await using it = await startObserver(t);
    // Somebody applies generation 2, at version 11; an old call has brought generation 1 back since.
    await it.query(
      `UPDATE resource_attempts SET lease_owner = 'w', lease_until = now() + interval '1 h'`,
    );
    it.startWatching(systemClock).see(it.id, { type: "present", object: at(it.id, 12, "1") });
    await it.becomes("12 1 f");
    await it.recordNext();
    await it.becomes("12 1 t");
  });

  test("what is ahead of our record is drift where no apply is awaited, and is compared again with one that comes", async (t) => {
    await using it = await startObserver(t);
    // As after a restore of the database: nothing is due, and nobody has applied generation 2.
    await it.query(`UPDATE resources SET drift_policy = 'heal'`);
    await it.query(`UPDATE resource_attempts SET due_at = NULL`);
    it.startWatching(systemClock).see(it.id, { type: "present", object: at(it.id, 11, "2", "2") });
    await it.becomes("11 2 t");
    const query = `SELECT status, due_at IS NOT NULL AS is_due
                   FROM resource_statuses s JOIN resource_attempts t ON t.resource_id = s.resource_id`;
    assert.deepEqual(await it.query(query), [{ status: "drifted", is_due: true }]);
    // It was applied after all: a call of which nobody knew what came of it, and that is repeated without a change.
    await it.query(`UPDATE resource_attempts SET due_at = NULL`);
    await it.recordNext();
    await it.becomes("11 2 f");
  });

  for (const [what, change] of [
    ["claimed", "due_at = NULL, lease_owner = 'w', lease_until = now() + interval '1 h'"],
    ["due", "due_at = now()"],
  ] as const) {
    test(`what is ahead of our record waits for it while an apply is ${what}`, async (t) => {
      await using it = await startObserver(t);
      await it.query(`UPDATE resource_attempts SET ${change}`);
      const observer = it.startWatching(systemClock);
      observer.see(it.id, { type: "present", object: at(it.id, 11, "2", "2") });
      // Once this is recorded the other has been looked at.
      const another = await it.insert("another");
      observer.see(another, { type: "present", object: at(another, 11, "1") });
      await it.becomes("11 1 f", another);
      assert.equal(await it.recorded(), undefined);
      await it.recordNext();
      await it.becomes("11 2 f");
    });
  }

  test("what comes while the record is read is not judged by it, should it be ahead", async (t) => {
    let apply: (() => Promise<unknown>) | undefined;
    await using it = await startObserver(t, async ({ statement, phase }) => {
      if (statement !== "readApplied" || phase !== "after") return;
      const now = apply;
      apply = undefined;
      await now?.();
    });
    await it.query(`UPDATE resource_attempts SET due_at = NULL`);
    const observer = it.startWatching(systemClock);
    apply = async () => {
      await it.query(
        `UPDATE resource_attempts SET lease_owner = 'w', lease_until = now() + interval '1 h'`,
      );
      observer.see(it.id, { type: "present", object: at(it.id, 11, "2", "2") });
    };
    observer.see(it.id, { type: "present", object: at(it.id, 10, "1") });
    await until(() => apply === undefined);
    const another = await it.insert("another");
    observer.see(another, { type: "present", object: at(another, 11, "1") });
    await it.becomes("11 1 f", another);
    assert.notEqual((await it.recorded())?.told, "11 2 t");
    await it.recordNext();
    await it.becomes("11 2 f");
  });

  test("what an apply made and somebody removed before that was recorded is missed afterwards", async (t) => {
    await using it = await startObserver(t);
    const status = async () => {
      const query = `SELECT status FROM resource_statuses WHERE resource_id = $1`;
      return (await it.query<{ status: string }>(query, [it.id]))[0]?.status;
    };
    await it.watch("1", [{ type: "absent", version: "11" }]);
    assert.equal(await status(), "drifted");
    // It is made again, at version 12, and is removed at once.
    await it.query(
      `UPDATE resource_attempts SET lease_owner = 'w', lease_until = now() + interval '1 h'`,
    );
    const observer = it.startWatching(systemClock);
    observer.see(it.id, { type: "absent", version: "13" });
    // Once this is recorded the other has been looked at.
    const another = await it.insert("another");
    observer.see(another, { type: "present", object: at(another, 11, "1") });
    await it.becomes("11 1 f", another);
    await it.query(
      `WITH recorded AS (
         UPDATE resource_applied_states SET uid = 'u-2', k8s_resource_version = '12' WHERE resource_id = $1
       )
       UPDATE resource_attempts SET lease_owner = NULL, lease_until = NULL`,
      [it.id],
    );
    await until(async () => (await status()) === "drifted");
  });

  test("what we applied may be another by the time that an object is recorded: then it is compared again", async (t) => {
    let recordNext: (() => Promise<unknown>) | undefined;
    await using it = await startObserver(t, async ({ statement, phase }) => {
      if (statement !== "recordUndrifted" || phase !== "before") return;
      await recordNext?.();
      recordNext = undefined;
    });
    recordNext = it.recordNext;
    it.startWatching(systemClock).see(it.id, { type: "present", object: at(it.id, 12, "1") });
    await it.becomes("12 1 t");
    assert.equal(recordNext, undefined);
  });

  for (const seen of ["present", "absent"] as const) {
    test(`a row that is purged between the look at it and the record of what is ${seen} is told of as gone`, async (t) => {
      let purge: (() => Promise<unknown>) | undefined;
      await using it = await startObserver(t, async ({ statement, phase }) => {
        if (!/^record(?:Observed|Absent)$/.test(statement) || phase !== "before") return;
        await purge?.();
        purge = undefined;
      });
      await it.query(`UPDATE resources SET deleted_at = now()`);
      const gone = Promise.withResolvers<Seen>();
      const observer = it.startWatching(systemClock, (_id, last) => gone.resolve(last));
      purge = async () => {
        await it.query(`DELETE FROM resources`);
        // By now, and not again: whoever purged it has rung.
        observer.lookAgain();
      };
      const last: Seen =
        seen === "present"
          ? { type: seen, object: at(it.id, 12, "1") }
          : { type: seen, version: "12" };
      observer.see(it.id, last);
      assert.equal(await gone.promise, last);
    });
  }

  test("what is new does not wait for what must be looked at again", async (t) => {
    await using it = await startObserver(t);
    const another = await it.insert("another");
    // Its time does not pass: whatever waits for it waits for ever.
    const observer = it.startWatching(new ManualClock());
    // Ahead of what is recorded as applied: it is to be recorded later.
    observer.see(it.id, { type: "present", object: at(it.id, 20, "9", "9") });
    for (const version of [11, 12, 13]) {
      observer.see(another, { type: "present", object: at(another, version, "1") });
      await it.becomes(`${version} 1 f`, another);
    }
    assert.equal(await it.recorded(), undefined);
  });

  test("many that are as they should be go together; one that somebody holds waits alone, and one that is gone is told", async (t) => {
    await using tables = await createFleetDatabase(await sharedThrowawayPostgres("embedded"));
    const rows = await tables.query<{ id: number }>(
      `INSERT INTO resources (cluster_id, namespace, kind, name, api_version, desired_spec)
       SELECT 'prod', 'default', 'ConfigMap', 'web-' || n, 'v1', '{"data":{"a":"1"}}' FROM generate_series(1, 4) n
       RETURNING id`,
    );
    const ids = rows.map(({ id }) => id);
    for (const id of ids) {
      await tables.query(
        `INSERT INTO resource_applied_states (resource_id, generation, revision, status, uid, k8s_resource_version, owned)
         VALUES ($1, 1, 1, 'success', 'u', '10', $2::text::jsonb)`,
        [id, JSON.stringify(ownedFields(at(id, 10, "1"), "kontrol"))],
      );
    }
    const [held = 0, older = 0] = ids;
    await tables.query(
      `INSERT INTO resource_current_states (resource_id, generation, revision, uid, k8s_resource_version, fence)
       VALUES ($1, 1, 1, 'u', '10', 1), ($2, 1, 1, 'u', '30', 1)`,
      [held, older],
    );
    const ran: string[] = [];
    const database = tables.openAnother({
      onStatement: ({ statement: name, phase }) =>
        void (phase === "before" && name.startsWith("record") && ran.push(name)),
    });
    const gone = Promise.withResolvers<number>();
    const observer = new Observer({
      database,
      bell: new WorkBell({
        wakeups: new Wakeups({ database }),
        log: silentLog,
        signal: t.signal,
      }),
      clock: systemClock,
      log: silentLog,
      metrics: workerMetrics(noMetrics),
      onGone: (id) => gone.resolve(id),
    });
    for (const id of ids) observer.see(id, { type: "present", object: at(id, 20, "1") });
    observer.see(2_000_000_000, { type: "present", object: at(2_000_000_000, 20, "1") });
    const versions = () =>
      tables.query(
        `SELECT k8s_resource_version AS version FROM resource_current_states ORDER BY resource_id`,
      );
    await using scope = new TaskScope(t.signal);
    await using holder = tables.openAnother({ connectionsMax: 1 });
    await holder.transaction(async (sql) => {
      await sql.run(lockCurrent, held);
      scope.spawn("observer", (signal) => observer.run("1", signal));
      assert.equal(await gone.promise, 2_000_000_000);
      assert.deepEqual(
        (await versions()).map(({ version }) => version),
        ["10", "30", "20", "20"],
      );
      assert.deepEqual(ran, ["recordUndrifted"]);
    }, t.signal);
    await until(async () => (await versions())[0]?.["version"] === "20");
    // What is new and what has a new version is told; what is known is not.
    const told = await tables.query(
      `SELECT type, resource_id - $1::integer AS row FROM events_unnumbered WHERE actor = 'watcher' ORDER BY id`,
      [held],
    );
    assert.deepEqual(
      told.map(({ type, row }) => [type, row]),
      [
        ["resource.observed", 2],
        ["resource.observed", 3],
        ["resource.observed", 0],
      ],
    );
  });
});

const lockCurrent = statement<number>(
  "lockCurrent",
  (sql, id) => sql`SELECT FROM resource_current_states WHERE resource_id = ${id} FOR UPDATE`,
);
