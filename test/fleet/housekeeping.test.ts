// What is compared, told and forgotten from time to time (4.1, 6.2, section 10).

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { silentLog, systemClock, systemRandom, TaskScope, type Log } from "@keelson/base";
import { RecordingLog } from "@keelson/base/testing";
import { Wakeups, type StatementPoint } from "@keelson/database";
import {
  CredentialCipher,
  keepHouse,
  openAccess,
  sealAccess,
  WorkBell,
  type HousekeepingLimits,
} from "@keelson/fleet";
import { until } from "../tools/until.ts";
import { testCipher } from "./assembled-worker.ts";
import { startFleetRest } from "./fleet-rest.ts";

const web = {
  cluster_id: "prod",
  namespace: "shop",
  kind: "ConfigMap",
  name: "web",
  desired_spec: { data: { a: "1" } },
};

const usual: HousekeepingLimits = {
  auditMs: 3_600_000,
  historyMax: 1_000,
  eventRetentionMs: 3_600_000,
  pruneMs: 20,
  stalledMs: 3_600_000,
  // Who loses it begins anew, and tells everything again.
  leaseMs: 120_000,
};

async function bed(signal: AbortSignal) {
  const rest = await startFleetRest();
  const query = <R extends object = Record<string, unknown>>(
    text: string,
    values: readonly unknown[] = [],
  ) => rest.tables.query<R>(text, values);
  await query(
    `INSERT INTO targets (cluster_id, in_process, health) VALUES ('prod', true, 'Healthy')`,
  );
  const stack = new AsyncDisposableStack();
  stack.use(rest);
  const scope = stack.use(new TaskScope(signal));
  return {
    ...rest,
    query,
    create: async (body: object): Promise<number> =>
      (await rest.ask("POST", "/resources", body as never)).body.id,
    /** Keeps house, as a worker does. */
    keep: (
      limits: Partial<HousekeepingLimits>,
      {
        cipher = testCipher,
        log = silentLog,
        onStatement = () => undefined,
      }: {
        readonly cipher?: CredentialCipher;
        readonly log?: Log;
        readonly onStatement?: (point: StatementPoint) => void | Promise<void>;
      } = {},
    ) => {
      const database = rest.tables.openAnother({ onStatement });
      const wakeups = new Wakeups({ database });
      const options = {
        database,
        wakeups,
        events: rest.events,
        bell: new WorkBell({ wakeups, log: silentLog, signal }),
        owner: "keeper",
        limits: { ...usual, ...limits },
        cipher,
        clock: systemClock,
        random: systemRandom,
        log,
      };
      scope.spawn("wake-ups", (within) => wakeups.run(within));
      scope.spawn("house", (within) => keepHouse(options, within));
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

suite("housekeeping", () => {
  test("4.1: an audit finds every row that is not as it should be and that nobody was told of", async (t) => {
    await using it = await bed(t.signal);
    const names = ["never", "behind", "level", "drifted", "reported", "deleting", "paused", "lost"];
    const ids: Record<string, number> = {};
    for (const name of names) ids[name] = await it.create({ ...web, name });
    await it.query(
      `UPDATE resources SET drift_policy = 'report' WHERE name = 'reported';
       UPDATE resources SET paused = true WHERE name = 'paused';
       UPDATE resources SET deleted_at = now() WHERE name = 'deleting';
       UPDATE resource_attempts SET due_at = NULL, last_attempt_at = now();
       INSERT INTO resource_applied_states (resource_id, generation, status, uid)
         SELECT id, CASE name WHEN 'behind' THEN 0 ELSE generation END, 'success', 'u' FROM resources
         WHERE name NOT IN ('never', 'paused');
       INSERT INTO resource_current_states (resource_id, generation, uid, drifted)
         SELECT id, generation, 'u', name IN ('drifted', 'reported') FROM resources;
       DELETE FROM resource_attempts t USING resources r WHERE r.id = t.resource_id AND r.name = 'lost';
       SELECT 1`,
    );
    const due = async () => {
      const rows = await it.query<{ name: string }>(
        `SELECT r.name FROM resources r JOIN resource_attempts t ON t.resource_id = r.id
         WHERE t.due_at IS NOT NULL ORDER BY r.id`,
      );
      return rows.map(({ name }) => name);
    };
    assert.deepEqual(await due(), []);
    it.keep({});
    await until(async () => (await due()).length === 5, t.signal);
    assert.deepEqual(await due(), ["never", "behind", "drifted", "deleting", "lost"]);
  });

  test("6.1: what is deleted by SQL and no worker takes goes with an audit, unless one had begun it", async (t) => {
    await using it = await bed(t.signal);
    const [gone, paused, begun, lost] = [
      await it.create({ ...web, cluster_id: "nowhere", name: "gone" }),
      await it.create({ ...web, name: "paused", paused: true }),
      await it.create({ ...web, cluster_id: "nowhere", name: "begun" }),
      await it.create({ ...web, cluster_id: "nowhere", name: "lost" }),
    ];
    await it.query(
      `UPDATE resource_attempts SET last_attempt_at = now() WHERE resource_id = ${begun};
       INSERT INTO resource_applied_states (resource_id, generation, status) VALUES (${lost}, 1, 'success');
       UPDATE resources SET deleted_at = now();
       DELETE FROM resource_attempts WHERE resource_id = ${lost};
       SELECT 1`,
    );
    it.keep({});
    await until(async () => (await it.ask("GET", `/resources/${gone}`)).code === 404, t.signal);
    assert.equal((await it.ask("GET", `/resources/${paused}`)).code, 404);
    assert.equal((await it.ask("GET", `/resources/${begun}`)).body.status, "deleting");
    // What is known of its attempts was lost, and entered anew by this audit; what was applied was not.
    assert.equal((await it.ask("GET", `/resources/${lost}`)).body.status, "deleting");
    const told = await it.query(
      `SELECT data->>'reason' AS reason, actor FROM events_unnumbered
       WHERE resource_id = $1 AND type = 'resource.deleted'`,
      [gone],
    );
    assert.deepEqual(told, [{ reason: "NeverApplied", actor: "worker" }]);
  });

  test("6.1: what was applied is not gone at once, though nothing is known of its attempts any more", async (t) => {
    await using it = await bed(t.signal);
    const id = await it.create(web);
    await it.query(
      `INSERT INTO resource_applied_states (resource_id, generation, status) VALUES ($1, 1, 'success')`,
      [id],
    );
    await it.ask("DELETE", `/resources/${id}`);
    assert.equal((await it.ask("GET", `/resources/${id}`)).body.status, "deleting");
  });

  test("6.1: a copy that was applied outlives its global resource, though its attempts were lost, until its object is gone", async (t) => {
    await using it = await bed(t.signal);
    const { cluster_id: _, ...everywhere } = web;
    const { body: global } = await it.ask("POST", "/global-resources", everywhere);
    const [copy] = await it.query<{ id: number }>(
      `INSERT INTO resource_applied_states (resource_id, generation, status)
       SELECT id, 1, 'success' FROM resources WHERE global_id = $1 RETURNING resource_id AS id`,
      [global.id],
    );
    await it.query(`DELETE FROM resource_attempts`);
    it.keep({});
    const isEntered = async () => (await it.query(`SELECT FROM resource_attempts`)).length === 1;
    await until(isEntered, t.signal);
    assert.equal((await it.ask("DELETE", `/global-resources/${global.id}`)).code, 202);
    assert.equal((await it.ask("GET", `/resources/${copy?.id}`)).body.status, "deleting");
  });

  test("4.1: another follows after each time that notifications could not be heard", async (t) => {
    await using it = await bed(t.signal);
    it.keep({});
    const id = await it.create(web);
    const isDue = async () => {
      const [row] = await it.query(
        `SELECT FROM resource_attempts WHERE resource_id = $1 AND due_at IS NOT NULL`,
        [id],
      );
      return row !== undefined;
    };
    const listeners = async () =>
      it.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE query ~* '^listen' AND datname = current_database()`,
      );
    await until(async () => (await listeners()).length > 0, t.signal);
    for (let round = 0; round < 2; round++) {
      // Whatever was found at the start or by the first connection is past when nothing is due for one whole look.
      await it.query(`UPDATE resource_attempts SET due_at = NULL, requests = 0`);
      for (const { pid } of await listeners()) {
        await it.query(`SELECT pg_terminate_backend($1)`, [pid]);
      }
      await until(isDue, t.signal);
    }
  });

  test("6.2: history keeps the newest and what was applied; tombstones and events their time", async (t) => {
    await using it = await bed(t.signal);
    const id = await it.create(web);
    const other = await it.create({ ...web, name: "other" });
    for (let n = 2; n <= 8; n++) {
      await it.ask("PUT", `/resources/${id}`, { desired_spec: { data: { a: String(n) } } });
    }
    await it.query(
      `INSERT INTO resource_applied_states (resource_id, generation, status) VALUES (${id}, 2, 'success');
       INSERT INTO resource_tombstones (resource_id, cluster_id, namespace, api_group, kind, name, purged_at)
         VALUES (901, 'prod', 'shop', '', 'ConfigMap', 'old', now() - interval '25 hours'),
                (902, 'prod', 'shop', '', 'ConfigMap', 'young', now() - interval '23 hours');
       SELECT 1`,
    );
    await it.events.numberAll(t.signal);
    await it.query(`UPDATE events SET at = at - interval '2 hours' WHERE id <= 4`);
    it.keep({ historyMax: 3 });
    const left = async () => {
      const [row] = await it.query<{ left: string }>(
        `SELECT concat_ws(' | ',
           (SELECT string_agg(generation::text, ' ' ORDER BY generation) FROM resource_revisions
            WHERE resource_id = $1),
           (SELECT count(*) FROM resource_revisions WHERE resource_id = $2),
           (SELECT string_agg(name, ' ') FROM resource_tombstones),
           (SELECT min(id) FROM events)) AS left`,
        [id, other],
      );
      return row?.left;
    };
    await until(async () => (await left()) === "2 6 7 8 | 1 | young | 5", t.signal);
    const restored = await it.ask("PUT", `/resources/${id}`, { restore_generation: 2 });
    assert.equal(restored.code, 200);
    assert.equal((await it.ask("PUT", `/resources/${id}`, { restore_generation: 3 })).code, 404);
  });

  test("section 10: nothing moving is an event that names the step, once", async (t) => {
    await using it = await bed(t.signal);
    for (const name of ["unclaimed", "unseen", "held", "fine", "fails"]) {
      await it.create({ ...web, name });
    }
    await it.query(
      `UPDATE resources SET deleted_at = now() WHERE name = 'held';
       INSERT INTO resource_applied_states (resource_id, generation, status, applied_at)
         SELECT id, generation, 'success', now() - interval '2 min' FROM resources WHERE name IN ('unseen', 'fine');
       INSERT INTO resource_current_states (resource_id, generation)
         SELECT id, generation FROM resources WHERE name = 'fine';
       UPDATE resource_attempts t SET due_at = now() - interval '2 min' FROM resources r
         WHERE r.id = t.resource_id AND r.name = 'unclaimed';
       UPDATE resource_attempts t SET due_at = NULL FROM resources r
         WHERE r.id = t.resource_id AND r.name IN ('unseen', 'fine');
       UPDATE resource_attempts t
         SET due_at = now() + interval '1 min', last_attempt_at = now(), error_message = 'finalizers hold it: x'
         FROM resources r WHERE r.id = t.resource_id AND r.name = 'held';
       UPDATE resource_attempts t SET due_at = now() - interval '2 min', error_class = 'invalid'
         FROM resources r WHERE r.id = t.resource_id AND r.name = 'fails';
       ALTER TABLE resources DISABLE TRIGGER USER;
       UPDATE resources SET updated_at = updated_at - interval '2 min';
       ALTER TABLE resources ENABLE TRIGGER USER;
       SELECT 1`,
    );
    it.keep({ stalledMs: 50 });
    const told = async () => {
      const rows = await it.query<{ told: string }>(
        `SELECT concat_ws(' ', data->>'name', data->>'step', data->>'message') AS told
         FROM events_unnumbered WHERE type = 'resource.stalled' ORDER BY id`,
      );
      return rows.map((row) => row.told);
    };
    const stalls = ["unclaimed claim", "unseen observe", "held delete finalizers hold it: x"];
    await until(async () => (await told()).length >= stalls.length, t.signal);
    // It was told of the others by a later look than these.
    await it.query(
      `UPDATE resource_attempts t SET due_at = now() - interval '3 min' FROM resources r
       WHERE r.id = t.resource_id AND r.name = 'fine'`,
    );
    await until(async () => (await told()).length > stalls.length, t.signal);
    assert.deepEqual(await told(), [...stalls, "fine claim"]);
  });

  test("section 8: after a new key every credential is under it, and one that no key opens is told of", async (t) => {
    await using it = await bed(t.signal);
    const keys = [1, 2, 3].map((n) => Buffer.alloc(32, n));
    const [newest, older, lost] = keys as [Buffer, Buffer, Buffer];
    const access = { source: { text: "a kubeconfig" }, context: "x", trust: "data" } as const;
    const under = (key: Buffer, clusterId: string) =>
      sealAccess(new CredentialCipher([key], systemRandom), clusterId, access);
    // More than are read at once.
    const ids = Array.from({ length: 120 }, (_, n) => `c-${n}`);
    for (const [key, clusterIds] of [
      [older, ids],
      [lost, ["lost"]],
      [newest, ["new"]],
    ] as const) {
      for (const clusterId of clusterIds) {
        await it.query(
          `INSERT INTO targets (cluster_id, credential, health) VALUES ($1, $2, 'Healthy')`,
          [clusterId, under(key, clusterId)],
        );
      }
    }
    const credentials = async () => {
      const rows = await it.query<{ cluster_id: string; credential: Uint8Array; health: string }>(
        `SELECT cluster_id, credential, health FROM targets WHERE credential IS NOT NULL`,
      );
      return new Map(rows.map((row) => [row.cluster_id, row]));
    };
    const before = await credentials();
    const log = new RecordingLog();
    const rotated = new CredentialCipher([newest, older], systemRandom);
    // Somebody registers one anew, under the newest key, between our look and our write.
    const registered = under(newest, "c-7");
    let isRegistered = false;
    const onStatement = async ({ statement, phase }: StatementPoint): Promise<void> => {
      if (isRegistered || statement !== "resealCredential" || phase !== "before") return;
      isRegistered = true;
      await it.query(`UPDATE targets SET credential = $1 WHERE cluster_id = 'c-7'`, [registered]);
    };
    it.keep({}, { cipher: rotated, log, onStatement });
    await until(() => log.messages("warn").length > 0, t.signal);
    const after = await credentials();
    const only = new CredentialCipher([newest], systemRandom);
    for (const clusterId of [...ids, "new"]) {
      const row = after.get(clusterId);
      assert.ok(row !== undefined);
      assert.deepEqual(openAccess(only, clusterId, row.credential), access);
      assert.equal(row.health, "Healthy");
    }
    for (const clusterId of ["new", "lost"]) {
      assert.deepEqual(after.get(clusterId), before.get(clusterId));
    }
    assert.deepEqual(Buffer.from(after.get("c-7")?.credential ?? []), registered);
    const told = log.entries.filter(({ message }) => message.includes("credentials"));
    assert.deepEqual(
      told.map(({ level, fields }) => [level, fields]),
      [
        ["info", { targets: 99 }],
        ["info", { targets: 119 }],
        ["warn", { cluster_ids: ["lost"], targets: 1 }],
      ],
    );
    const [events] = await it.query(
      `SELECT count(*)::integer AS told FROM events_unnumbered WHERE type = 'target.updated' AND actor = 'worker'`,
    );
    assert.deepEqual(events, { told: 119 });
  });
});
