// Nothing waits for a poll, and nobody polls: what is to be done is done when it is, and an idle worker asks nothing.
// (The poll of these workers is an hour.)

import assert from "node:assert/strict";
import { test } from "node:test";
import { DatabaseUnavailable, statement, type StatementPoint } from "@keelson/database";
import { until } from "../tools/until.ts";
import { applied, startBed, synced, web, type Bed, type Details } from "./bed.ts";
import { clusterSuite } from "../tools/test-cluster.ts";

const failed = ({ status }: Details) => status === "error";
/** Whoever waited for its next try would wait for minutes. */
const longBackoff = { backoffMs: { min: 300_000, max: 300_000 } };
const inTeam = { ...web, namespace: "team" };

/** What a worker sends besides keeping its lease, which it does by the clock. */
const isWork = (statement: string) => !["holdTarget", "markTarget"].includes(statement);

/** Makes the namespace, without a word to fleet. */
async function makeTeam({ client }: Bed, signal: AbortSignal): Promise<void> {
  const namespaces = await client.resource({ apiVersion: "v1", kind: "Namespace" }, signal);
  const team = { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } };
  await namespaces.create(team, {}, signal);
}

const insertSecret = statement<undefined, { id: number }>(
  "insertSecret",
  (sql) => sql`
    INSERT INTO resources (cluster_id, namespace, kind, name, api_version, desired_spec)
    VALUES ('prod', 'default', 'Secret', 'late', 'v1', '{"stringData":{"a":"1"}}') RETURNING id`,
);

const pauseRow = statement<number>(
  "pauseRow",
  (sql, id) => sql`UPDATE resources SET paused = true WHERE id = ${id}`,
);

clusterSuite("wake-ups of workers", () => {
  test("a worker without work keeps its leases and asks for nothing else", async (t) => {
    await using it = await startBed(t.signal);
    const sent: string[] = [];
    // Its lease is the clock: a third of it passes between two renewals.
    it.startWorker({
      leaseMs: 1_200,
      onStatement: ({ statement, phase }) => void (phase === "before" && sent.push(statement)),
    });
    await it.becomes(await it.create(web), synced);
    const renewals = () => sent.filter((statement) => statement === "holdTarget").length;
    const soFar = renewals();
    await until(() => renewals() > soFar + 1, t.signal); // What was left to look at has been looked at.
    for (let stretch = 1; ; stretch++) {
      sent.length = 0;
      await until(() => renewals() > 4, t.signal);
      const others = sent.filter(isWork);
      // A probe of the listener may be among them, and a look that it brings; not one for each quarter of a second.
      if (others.length < 8) break;
      // A machine that stands still for longer than the lease makes it begin anew; one that polls does so always.
      assert.ok(stretch < 30, others.join(", "));
    }
  });

  test("what is paused in the moment in which work is asked for it is not claimed again and again", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const { tables } = it.rest;
    const id = await it.create(web);
    await it.becomes(id, synced);
    await using writer = tables.openAnother({ connectionsMax: 1 });
    let asking: Promise<unknown> = Promise.resolve();
    await writer.transaction(async (sql) => {
      await sql.run(pauseRow, id);
      asking = it.rest.ask("POST", `/resources/${id}/sync`);
      const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await until(async () => (await tables.query(waiting)).length > 0, t.signal);
    }, t.signal);
    await asking;
    const attempts = async () => {
      const [row] = await tables.query<{ is_due: boolean; claims: number }>(
        `SELECT due_at IS NOT NULL AS is_due, fence::integer AS claims FROM resource_attempts`,
      );
      return row ?? { is_due: false, claims: 0 };
    };
    const { claims: before } = await attempts();
    let seen = await attempts();
    await until(async () => {
      seen = await attempts();
      return !seen.is_due || seen.claims > before + 10;
    }, t.signal);
    assert.equal(seen.is_due, false, `claimed ${seen.claims - before} times`);
    await it.rest.ask("PUT", `/resources/${id}`, { desired_spec: { data: { a: "2" } } });
    assert.equal(await it.status(id), "out-of-sync");
    await it.rest.ask("POST", `/resources/${id}/resume`);
    await it.becomes(id, synced);
  });

  test("4.3: what is in a cluster and nobody's costs the database nothing", async (t) => {
    await using it = await startBed(t.signal);
    const sent: string[] = [];
    it.startWorker({
      onStatement: ({ statement, phase }) => void (phase === "before" && sent.push(statement)),
    });
    const id = await it.create(web);
    await it.becomes(id, synced);
    sent.length = 0;
    const maps = await it.configMaps();
    const change = (name: string, a: string) =>
      maps.apply(
        {
          apiVersion: "v1",
          kind: "ConfigMap",
          // One that looks like ours, as what a controller makes of it would.
          metadata: { name, namespace: "default", annotations: { "kontrol/revision": "1" } },
          data: { a },
        },
        { fieldManager: "them" },
        t.signal,
      );
    for (let n = 0; n < 100; n++) {
      await change(`theirs-${n}`, "1");
      await change(`theirs-${n}`, "2");
    }
    // What comes after them in the same watch has been seen: so have they.
    const ref = { name: "web", namespace: "default" };
    const body = { metadata: { labels: { x: "y" } } };
    await maps.patch(ref, { type: "merge", body }, t.signal);
    await it.becomes(id, ({ current }) => current.spec.metadata?.labels?.x === "y");
    const work = sent.filter(isWork);
    assert.ok(work.length < 50, work.join(", "));
  });

  test("an object that was there before its row is seen, though its kind was watched and nothing changes in it", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    await it.becomes(await it.create(web), synced);
    const maps = await it.configMaps();
    const metadata = { name: "theirs", namespace: "default" };
    const theirs = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { a: "theirs" } };
    await maps.apply(theirs, { fieldManager: "them" }, t.signal);
    // Seen by the watch, and nobody's.
    const later = await it.create({ ...web, name: "later" });
    await it.becomes(later, synced);
    const id = await it.create({ ...web, name: "theirs", conflict_policy: "report" });
    const body = await it.becomes(id, ({ current }) => current !== null);
    assert.deepEqual(body.current.spec, { data: { a: "theirs" } });
    assert.deepEqual([body.current.generation, body.health], [null, "Healthy"]);
  });

  test("a row that fails while what it misses arrives is tried again all the same", async (t) => {
    await using it = await startBed(t.signal);
    const isAnnounced = Promise.withResolvers<void>();
    let isHeld = false;
    let isHeldBack = false;
    it.startWorker({
      ...longBackoff,
      onStatement: async ({ statement, phase }: StatementPoint) => {
        if (statement === "askForWaiting" && phase === "after" && isHeldBack) isAnnounced.resolve();
        if (statement !== "recordFailed" || phase !== "before" || !isHeld) return;
        isHeldBack = true;
        await isAnnounced.promise;
      },
    });
    // Somebody waits already, so namespaces are watched; and has looked at those that are there.
    const other = await it.create({ ...inTeam, namespace: "elsewhere" });
    await it.becomes(other, failed);
    isHeld = true;
    const late = await it.create(inTeam);
    await until(() => isHeldBack, t.signal);
    await makeTeam(it, t.signal);
    await it.becomes(late, applied(1));
  });

  test("the first row of a kind is watched at once, though one that was written after it was committed before it", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const { tables } = it.rest;
    await using writer = tables.openAnother({ connectionsMax: 1 });
    let late = 0;
    await writer.transaction(async (sql) => {
      const [row] = await sql.run(insertSecret, undefined);
      late = row?.id ?? 0;
      const early = await it.create(web);
      assert.ok(early > late);
      await it.becomes(early, synced);
    }, t.signal);
    await it.becomes(late, synced);
  });

  test("the same, where another replica than the one that watches delivers it", async (t) => {
    await using it = await startBed(t.signal);
    let mayClaim = true;
    it.startWorker({
      onStatement: async ({ statement, phase }) => {
        if (statement === "claimWork" && phase === "before") await until(() => mayClaim, t.signal);
      },
    });
    await it.becomes(await it.create({ ...web, name: "first" }), synced);
    mayClaim = false; // It goes on watching, and leaves the work to the other.
    it.startWorker();
    await using writer = it.rest.tables.openAnother({ connectionsMax: 1 });
    let late = 0;
    await writer.transaction(async (sql) => {
      const [row] = await sql.run(insertSecret, undefined);
      late = row?.id ?? 0;
      await it.becomes(await it.create(web), synced);
    }, t.signal);
    await it.becomes(late, synced);
    mayClaim = true;
  });

  test("a target that comes back at once is served by new loops after the old ones have given it back", async (t) => {
    await using it = await startBed(t.signal);
    const { tables } = it.rest;
    const sent: string[] = [];
    let isBack = false;
    it.startWorker({
      onStatement: async ({ statement, phase }) => {
        if (phase === "before" && statement === "leaveTarget" && !isBack) {
          // In the moment in which the old loops let go it is registered again, and the worker has heard of it.
          isBack = true;
          await tables.query(`INSERT INTO targets (cluster_id, in_process) VALUES ('prod', true)`);
          sent.length = 0;
          const looks = () => sent.filter((one) => one === "readServed").length;
          await until(async () => {
            await tables.query(`NOTIFY fleet_work`);
            return looks() > 4;
          }, t.signal);
        }
        if (phase === "after") sent.push(statement);
      },
    });
    await it.becomes(await it.create(web), synced);
    await it.rest.ask("DELETE", "/targets/prod?orphan=true");
    await until(() => isBack, t.signal);
    const id = await it.create({ ...web, name: "again" });
    await it.becomes(id, synced);
    assert.ok(sent.indexOf("leaveTarget") < sent.indexOf("holdTarget"), sent.join(", "));
    const held = await tables.query(`SELECT lease_owner IS NOT NULL AS held FROM targets`);
    assert.deepEqual(held, [{ held: true }]);
  });

  test("a row that waits is known to the replica that watches, whichever has tried it", async (t) => {
    await using it = await startBed(t.signal);
    let mayClaim = true;
    it.startWorker({
      ...longBackoff,
      onStatement: async ({ statement, phase }) => {
        if (statement === "claimWork" && phase === "before") await until(() => mayClaim, t.signal);
      },
    });
    await it.becomes(await it.create(web), synced);
    mayClaim = false; // It goes on watching, and leaves the work to the other.
    it.startWorker(longBackoff);
    const id = await it.create(inTeam);
    await it.becomes(id, failed);
    await makeTeam(it, t.signal);
    await it.becomes(id, applied(1));
    mayClaim = true;
  });

  test("what could not be recorded is done again when it can be, and not when its lease ends", async (t) => {
    await using it = await startBed(t.signal);
    const faults = ["recordApplied", "releaseClaim", "releaseClaim"];
    it.startWorker({
      leaseMs: 3_600_000,
      onStatement: ({ statement, phase }) => {
        if (phase !== "before" || statement !== faults[0]) return;
        faults.shift();
        throw new DatabaseUnavailable(`no ${statement} today`);
      },
    });
    await it.becomes(await it.create(web), synced);
    assert.deepEqual(faults, []);
  });
});
