// Scenarios 18 to 28 of the contract: reports, and the status that they add up to.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ManualClock } from "@keelson/base/testing";
import {
  alice,
  available,
  ctl,
  failure,
  gcp,
  saidOf,
  startClustersRest,
  type ClustersRest,
} from "./clusters-rest.ts";

interface Shown {
  readonly phase: string;
  readonly reason: string;
  readonly conditions: readonly { type: string; status: string; lastTransitionTime: string }[];
}

const statusOf = async (it: ClustersRest, path: string): Promise<Shown> =>
  (await it.ask(alice, "GET", path)).body.status as Shown;

/** How often each statement was run since it was asked last. */
function counting() {
  let names: string[] = [];
  return {
    onStatement: ({ statement, phase }: { statement: string; phase: string }): void => {
      if (phase === "before") names.push(statement);
    },
    taken: (): string[] => {
      const taken = names;
      names = [];
      return taken;
    },
  };
}

suite("status of clusters", () => {
  test("18 to 23: reports add up as the table says", async () => {
    await using it = await startClustersRest();
    const path = `/clusters/${await it.cluster(alice)}`;
    assert.equal(await saidOf(it, path), "Pending/NoControllers");
    for (const name of ["b", "c"]) {
      await it.report(path, name, { conditions: [available("False")] });
    }
    assert.equal(await saidOf(it, path), "Progressing/ControllersProvisioning");
    await it.report(path, "a");
    assert.equal(await saidOf(it, path), "Progressing/PartialProgress");
    await it.report(path, "b", {
      conditions: [available("False")],
      last_error: failure("Transient"),
    });
    assert.equal(await saidOf(it, path), "Progressing/ControllersWithErrors");
    await it.report(path, "b", { last_error: failure("Transient") });
    await it.report(path, "c");
    assert.equal(await saidOf(it, path), "Progressing/ControllersWithErrors");
    await it.report(path, "b");
    const ready = await statusOf(it, path);
    assert.deepEqual(
      [ready.phase, ...ready.conditions.map(({ type, status }) => `${type}=${status}`)],
      ["Ready", "Ready=True", "Available=True"],
    );
    await it.report(path, "d", {
      conditions: [{ type: "Applied", status: "False", reason: "NotApplicable", message: "" }],
    });
    const { body } = await it.ask(alice, "GET", `${path}/status`);
    assert.equal(body.status.phase, "Ready");
    assert.deepEqual(body.expected_controllers, ["a", "b", "c"]);
    assert.deepEqual(
      body.controller_status.map((one: { controller_name: string }) => one.controller_name),
      ["a", "b", "c", "d"],
    );
    assert.deepEqual(Object.keys(body).sort(), [
      "cluster_id",
      "controller_status",
      "expected_controllers",
      "generation",
      "status",
    ]);
    await it.report(path, "c", { last_error: failure("Fatal") });
    assert.equal(await saidOf(it, path), "Failed/ControllerFatalError");
    // Told when the phase is another, and not for every other reason.
    const told = (await it.events()).filter(({ type }) => type === "status.changed");
    assert.deepEqual(
      told.map(({ metadata }) => metadata),
      [
        { from: "Pending", to: "Progressing" },
        { from: "Progressing", to: "Ready" },
        { from: "Ready", to: "Failed" },
      ],
    );
  });

  test("24: silence past the grace is a failure, in GET, list and filter, without a write", async () => {
    const clock = new ManualClock({ now: Date.now() });
    await using it = await startClustersRest({ clock });
    const path = `/clusters/${await it.cluster(alice)}`;
    await it.report(path, "a", { conditions: [available("False")] });
    await it.settle();
    assert.equal(await saidOf(it, path), "Progressing/ControllersProvisioning");
    const revision = () => it.tables.query(`SELECT status_revision, updated_at FROM clusters`);
    const before = await revision();
    await clock.advance(31 * 60_000);
    const listed = await it.ask(alice, "GET", "/clusters?status=Failed");
    assert.equal(listed.body.clusters[0].status.reason, "ControllerTimeout");
    assert.equal(await saidOf(it, path), "Failed/ControllerTimeout");
    assert.deepEqual(await revision(), before);
    const told = (await it.events()).filter(({ type }) => type === "status.changed");
    assert.deepEqual(
      told.map(({ reason, metadata }) => [reason, metadata]),
      [
        ["phase_changed", { from: "Pending", to: "Progressing" }],
        ["phase_changed", { from: "Progressing", to: "Failed" }],
      ],
    );
  });

  test("24: a registered controller that never reports fails the cluster too", async () => {
    const clock = new ManualClock({ now: Date.now() });
    await using it = await startClustersRest({ clock });
    await it.ask(ctl, "PUT", "/controllers/dns", { kinds: ["cluster"], platforms: ["GCP"] });
    const path = `/clusters/${await it.cluster(alice)}`;
    const other = `/clusters/${await it.cluster(alice, "two", { platform: { type: "aws" } })}`;
    assert.match((await it.ask(alice, "GET", path)).body.status.message, /0\/1 controllers/);
    await clock.advance(31 * 60_000);
    // Nobody reads it: the pass finds those whose time is up.
    const failed = async () =>
      (await it.events()).filter(({ type }) => type === "status.changed").map((e) => e["metadata"]);
    assert.deepEqual(await failed(), []);
    await it.settle();
    assert.deepEqual(await failed(), [{ from: "Pending", to: "Failed" }]);
    assert.equal(await saidOf(it, path), "Failed/ControllerTimeout");
    assert.equal(await saidOf(it, other), "Pending/NoControllers");
    assert.equal((await it.ask(ctl, "DELETE", "/controllers/dns")).code, 204);
    assert.equal(await saidOf(it, path), "Pending/NoControllers");
    const { body } = await it.ask(ctl, "GET", "/controllers");
    assert.deepEqual(
      body.controllers.map(({ retired_at, ...rest }: { retired_at?: string }) => [
        rest,
        retired_at !== undefined,
      ]),
      [[{ name: "dns", kinds: ["cluster"], platforms: ["gcp"], finalizer: false }, true]],
    );
    // A new report revives it, everywhere it is registered for.
    await it.report(path, "dns");
    assert.equal(await saidOf(it, path), "Ready/AllControllersReady");
    assert.deepEqual(
      (await it.ask(ctl, "GET", "/controllers")).body.controllers[0].retired_at,
      undefined,
    );
    assert.equal((await it.ask(ctl, "DELETE", "/controllers/unknown")).code, 404);
  });

  test("25: times of conditions move when they flip, and no others", async () => {
    await using it = await startClustersRest();
    const path = `/clusters/${await it.cluster(alice)}`;
    const conditions = (a: "True" | "False", b: "True" | "False") => ({
      conditions: [available(a), { type: "Applied", status: b, reason: "x", message: "" }],
    });
    const stored = async () => {
      const { body } = await it.ask(alice, "GET", `${path}?include=controller_status`);
      const [report] = body.controller_status;
      assert.equal(typeof report.last_updated, "string");
      return report.conditions.map((one: { lastTransitionTime: string }) => one.lastTransitionTime);
    };
    await it.report(path, "a", {
      conditions: [
        available("False", { lastTransitionTime: "2026-01-01T00:00:00Z" }),
        { type: "Applied", status: "True" },
      ],
    });
    const [first, applied] = await stored();
    assert.equal(first, "2026-01-01T00:00:00Z");
    const before = await statusOf(it, path);
    await it.report(path, "a", conditions("False", "True"));
    assert.deepEqual(await stored(), [first, applied]);
    assert.deepEqual(await statusOf(it, path), before);
    await it.report(path, "a", conditions("True", "True"));
    const [flipped, same] = await stored();
    assert.notEqual(flipped, first);
    assert.equal(same, applied);
    const after = await statusOf(it, path);
    assert.deepEqual([before.phase, after.phase], ["Progressing", "Ready"]);
  });

  test("26: reading a clean cluster writes nothing and asks once", async () => {
    const count = counting();
    await using it = await startClustersRest({ onStatement: count.onStatement });
    const path = `/clusters/${await it.cluster(alice)}`;
    await it.report(path, "a");
    const first = await it.ask(alice, "GET", path);
    const row = () => it.tables.query(`SELECT xmin::text, updated_at FROM clusters`);
    const before = await row();
    count.taken();
    const again = await it.ask(alice, "GET", path);
    assert.deepEqual(count.taken(), ["findResources"]);
    assert.deepEqual(await row(), before);
    assert.deepEqual(again.body, first.body);
    assert.deepEqual(first.body.updated_at, first.body.created_at);
    // One that was cached for another generation is not clean, whatever else the row says.
    await it.tables.query(
      `UPDATE clusters SET status = jsonb_set(status, '{observedGeneration}', '7')`,
    );
    assert.equal((await it.ask(alice, "GET", path)).body.status.observedGeneration, 1);
  });

  test("27: a hundred dirty clusters are listed by four statements, with or without a phase", async () => {
    const count = counting();
    await using it = await startClustersRest({ onStatement: count.onStatement });
    await it.tables.query(`
      INSERT INTO clusters (name, created_by, spec)
      SELECT 'c' || i, '${alice}', '{"platform":{"type":"gcp"}}' FROM generate_series(1, 150) i;
      INSERT INTO controller_status (cluster_id, controller_name, conditions)
      SELECT id, 'dns', '[{"type":"Available","status":"True","reason":"","message":""}]' FROM clusters`);
    for (const query of ["limit=100", "limit=100&status=Ready"]) {
      await it.tables.query(`UPDATE clusters SET status_dirty = true`);
      count.taken();
      const { body } = await it.ask(alice, "GET", `/clusters?${query}`);
      assert.ok(count.taken().length <= 4);
      assert.deepEqual(
        [
          body.clusters.length,
          body.total,
          new Set(body.clusters.map((c: { status: Shown }) => c.status.phase)),
        ],
        [100, 150, new Set(["Ready"])],
      );
    }
  });

  test("28: a report that is wrong changes nothing; both spellings of an error are stored alike", async () => {
    await using it = await startClustersRest();
    const path = `/clusters/${await it.cluster(alice)}`;
    const cases: readonly (readonly [object, string])[] = [
      [{ controller_name: "" }, "controller_name"],
      [{ controller_name: " " }, "controller_name"],
      [{ observed_generation: 0 }, "observed_generation"],
      [{ conditions: [{ ...available(), status: "Maybe" }] }, "conditions[0].status"],
      [{ conditions: [available(), available("False")] }, "conditions[1].type"],
      [{ conditions: [{ status: "True" }] }, "conditions[0].type"],
      [
        { conditions: [available("True", { lastTransitionTime: "yesterday" })] },
        "conditions[0].lastTransitionTime",
      ],
      [{ metadata: ["x"] }, "metadata"],
      [{ last_error: { errorType: "Odd", message: "" } }, "last_error.errorType"],
      [{ last_error: { message: "untyped" } }, "last_error.errorType"],
      [{ finalizer: "yes" }, "finalizer"],
    ];
    for (const [more, field] of cases) {
      const { code, body } = await it.report(path, "a", more);
      assert.deepEqual([code, body.code], [400, "VALIDATION_FAILED"], JSON.stringify(more));
      assert.equal(body.details.fields[0].field, field);
    }
    // Numbers that are kept as they were written are no objects.
    for (const [member, field] of [
      [`"metadata":1.0`, "metadata"],
      [`"last_error":{"errorType":"Fatal","details":1.0}`, "last_error.details"],
    ]) {
      const sent = `{"controller_name":"a","observed_generation":1,"conditions":[],${member}}`;
      const { code, body } = await it.ask(ctl, "PUT", `${path}/status`, sent);
      assert.deepEqual([code, body.details?.fields?.[0]?.field], [400, field]);
    }
    assert.deepEqual(await it.tables.query(`SELECT * FROM controller_status`), []);

    const camel = {
      controllerName: "a",
      errorType: "Configuration",
      errorCode: "E7",
      message: "no",
      userActionable: true,
      suggestions: ["try"],
      details: { quota: 1 },
      retryAfter: 5_000_000_000,
      timestamp: "2026-01-01T00:00:00Z",
    };
    const snake = {
      controller_name: "a",
      error_type: "Configuration",
      error_code: "E7",
      message: "no",
      user_actionable: true,
      suggestions: ["try"],
      details: { quota: 1 },
      retry_after: 5_000_000_000,
      timestamp: "2026-01-01T00:00:00Z",
    };
    await it.report(path, "a", { last_error: camel });
    await it.report(path, "b", { last_error: snake });
    const { body } = await it.ask(alice, "GET", `${path}/status`);
    assert.deepEqual(
      body.controller_status.map((one: { last_error: object }) => one.last_error),
      [camel, camel],
    );
  });

  test("reports of other generations: lag counts, the past and the future are refused", async () => {
    await using it = await startClustersRest();
    const path = `/clusters/${await it.cluster(alice)}`;
    await it.report(path, "a");
    await it.report(path, "b");
    await it.ask(alice, "PUT", path, { spec: { ...gcp, n: 1 } });
    await it.report(path, "a", { observed_generation: 2 });
    assert.equal(await saidOf(it, path), "Progressing/PartialProgress");
    const stored = () =>
      it.tables.query(`SELECT * FROM controller_status ORDER BY controller_name`);
    const before = await stored();
    const stale = await it.report(path, "a", { observed_generation: 1 });
    assert.deepEqual([stale.code, stale.body.code], [409, "STALE_GENERATION"]);
    const future = await it.report(path, "b", { observed_generation: 3 });
    assert.deepEqual([future.code, future.body.code], [409, "FUTURE_GENERATION"]);
    assert.deepEqual(await stored(), before);
    // Between what it said and what is: stored, and behind.
    assert.equal(
      (await it.report(path, "b", { observed_generation: 1, metadata: { n: 1 } })).code,
      200,
    );
    assert.equal(await saidOf(it, path), "Progressing/PartialProgress");
    const good = await it.report(path, "b", { observed_generation: 2 });
    assert.deepEqual(
      [good.code, Object.keys(good.body)],
      [200, ["message", "cluster_id", "controller_name", "observed_generation"]],
    );
    assert.equal(await saidOf(it, path), "Ready/AllControllersReady");
  });

  test("what a report says anew wakes whoever depends on it, once; the same again wakes nobody", async () => {
    await using it = await startClustersRest();
    const id = await it.cluster(alice);
    const path = `/clusters/${id}`;
    const now = (n: number) => `2026-01-01T00:00:0${n}Z`;
    await it.report(path, "a");
    await it.report(path, "a");
    await it.report(path, "a", { metadata: { image: "x" } });
    await it.report(path, "a", {
      metadata: { image: "x" },
      last_error: failure("System", { timestamp: now(1) }),
    });
    // When something was said is not what was said.
    await it.report(path, "a", {
      metadata: { image: "x" },
      last_error: failure("System", { timestamp: now(2) }),
    });
    await it.ask(alice, "PUT", path, { spec: { ...gcp, n: 1 } });
    const said = { metadata: { image: "x" }, last_error: failure("System") };
    await it.report(path, "a", { ...said, observed_generation: 2 });
    await it.ask(alice, "PUT", path, { spec: { ...gcp, n: 2 } });
    await it.report(path, "a", { observed_generation: 3 });
    const wakes = (await it.events()).filter(({ type }) => type === "cluster.reconcile");
    assert.deepEqual(
      wakes.map(({ reason, generation, metadata, user }) => [
        reason,
        generation,
        metadata,
        (user as { email: string }).email,
      ]),
      [
        ["controller_status_created", 1, { controller_name: "a" }, ctl],
        ["controller_status_change", 1, { controller_name: "a" }, ctl],
        ["controller_status_change", 1, { controller_name: "a" }, ctl],
        ["controller_generation_change", 2, { controller_name: "a" }, ctl],
        ["controller_status_and_generation_change", 3, { controller_name: "a" }, ctl],
      ],
    );
  });

  test("reconcile, pause and resume", async () => {
    await using it = await startClustersRest();
    const id = await it.cluster(alice);
    await it.tables.query(
      `UPDATE reconciliation_schedule SET unanswered = 20, next_reconcile_at = now() + interval '1 h'`,
    );
    const asked = await it.ask(alice, "POST", `/clusters/${id}/reconcile`);
    assert.deepEqual([asked.code, asked.body.cluster_id], [202, id]);
    const last = (await it.events()).at(-1);
    assert.deepEqual(
      [last?.["id"], last?.["type"], last?.["reason"]],
      [asked.body.event_id, "cluster.reconcile", "manual_trigger"],
    );
    const schedule = () =>
      it.tables.query(`SELECT enabled, unanswered FROM reconciliation_schedule`);
    assert.deepEqual(await schedule(), [{ enabled: true, unanswered: 0 }]);
    const paused = await it.ask(alice, "POST", `/clusters/${id}/pause`);
    assert.deepEqual([paused.code, paused.body], [200, { cluster_id: id, enabled: false }]);
    assert.deepEqual(await schedule(), [{ enabled: false, unanswered: 0 }]);
    const resumed = await it.ask(alice, "POST", `/clusters/${id}/resume`);
    assert.deepEqual(resumed.body, { cluster_id: id, enabled: true });
  });
});
