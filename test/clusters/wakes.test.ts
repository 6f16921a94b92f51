// Reports wake whoever depends on them: at once, not too often, and never without the last word.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { systemClock, TaskScope } from "@keelson/base";
import { until } from "@keelson/base/testing";
import { runStatusBell, sendDeferredWakes } from "@keelson/clusters";
import { Wakeups } from "@keelson/database";
import { alice, available, ctl, startClustersRest, type ClustersRest } from "./clusters-rest.ts";
import { never } from "./events-bed.ts";

async function start(wakesPerMinuteMax: number): Promise<ClustersRest> {
  return startClustersRest({ wakesPerMinuteMax });
}

async function wakes(
  rest: ClustersRest,
  wanted = "cluster.reconcile",
): Promise<readonly (readonly unknown[])[]> {
  return (await rest.events())
    .filter(({ type }) => type === wanted)
    .map(({ reason, metadata }) => [
      reason,
      (metadata as { readonly controller_name?: string }).controller_name,
    ]);
}

/** The minute is over. */
async function pass({ tables }: ClustersRest): Promise<void> {
  for (const schedule of ["reconciliation_schedule", "nodepool_reconciliation_schedule"]) {
    await tables.query(`UPDATE ${schedule}
      SET wake_due_at = wake_due_at - interval '1 min',
          woken_at = ARRAY(SELECT at - interval '1 min' FROM unnest(woken_at) at)`);
  }
}

async function send({ service }: ClustersRest): Promise<number> {
  return sendDeferredWakes(service, never);
}

suite("wakes after reports", () => {
  test("each change is a wake that names its reporter and says what changed, and the same again is none", async () => {
    await using rest = await start(60);
    const id = await rest.cluster(alice);
    const path = `/clusters/${id}`;
    await rest.report(path, "dns");
    await rest.report(path, "dns");
    await rest.report(path, "dns", { metadata: { zone: "z" } });
    await rest.ask(alice, "PUT", path, { spec: { platform: { type: "gcp" }, more: true } });
    await rest.report(path, "dns", { metadata: { zone: "z" }, observed_generation: 2 });
    await rest.report(path, "dns", { observed_generation: 2, conditions: [available("False")] });
    assert.deepEqual(await wakes(rest), [
      ["controller_status_created", "dns"],
      ["controller_status_change", "dns"],
      ["controller_generation_change", "dns"],
      ["controller_status_change", "dns"],
    ]);
  });

  test("a number that PostgreSQL writes otherwise is the same again", async () => {
    await using rest = await start(60);
    const path = `/clusters/${await rest.cluster(alice)}`;
    const said = '"observed_generation":1,"conditions":[],"metadata":{"a":[1e-7,1e21,-0,2.0,3E2]}';
    const error = '{"errorType":"System","details":{"rate":5e-8}}';
    const report = `{"controller_name":"dns",${said},"last_error":${error}}`;
    for (let times = 0; times < 3; times++) {
      assert.equal((await rest.ask(ctl, "PUT", `${path}/status`, report)).code, 200);
    }
    assert.deepEqual(await wakes(rest), [["controller_status_created", "dns"]]);
  });

  test("beyond so many in a minute one wake waits for all, and comes when there is room; of a nodepool too", async () => {
    await using rest = await start(3);
    const id = await rest.cluster(alice);
    const { body } = await rest.ask(alice, "POST", "/nodepools", { name: "p", cluster_id: id });
    for (const [path, type] of [
      [`/clusters/${id}`, "cluster.reconcile"],
      [`/nodepools/${body.id as string}`, "nodepool.reconcile"],
    ] as const) {
      for (let n = 1; n <= 10; n++) await rest.report(path, "dns", { metadata: { n } });
      assert.equal((await wakes(rest, type)).length, 3);
      assert.equal(await send(rest), 0, "its time has not come");
      await pass(rest);
      assert.equal(await send(rest), 1);
      assert.equal(await send(rest), 0);
      const told = await wakes(rest, type);
      assert.deepEqual(told.at(-1), ["controller_status_change", "dns"]);
      assert.equal(told.length, 4);
    }
  });

  test("what waits for several reporters names none of them: each wants to hear of the others", async () => {
    await using rest = await start(1);
    const id = await rest.cluster(alice);
    await rest.report(`/clusters/${id}`, "dns", { metadata: { n: 1 } });
    await rest.report(`/clusters/${id}`, "dns", { metadata: { n: 2 } });
    await rest.report(`/clusters/${id}`, "network", { metadata: { n: 1 } });
    await rest.report(`/clusters/${id}`, "network", { metadata: { n: 2 } });
    await pass(rest);
    assert.equal(await send(rest), 1);
    assert.deepEqual((await wakes(rest)).slice(1), [["controller_status_change", undefined]]);
  });

  test("a wake that finds room again takes along what was waiting", async () => {
    await using rest = await start(1);
    const id = await rest.cluster(alice);
    await rest.report(`/clusters/${id}`, "dns", { metadata: { n: 1 } });
    await rest.report(`/clusters/${id}`, "dns", { metadata: { n: 2 } });
    await pass(rest);
    await rest.report(`/clusters/${id}`, "network");
    assert.equal(await send(rest), 0);
    assert.deepEqual((await wakes(rest)).slice(1), [["controller_status_created", undefined]]);
  });

  test("other resources have room of their own", async () => {
    await using rest = await start(1);
    const ids = [await rest.cluster(alice, "one"), await rest.cluster(alice, "two")];
    for (const id of ids) await rest.report(`/clusters/${id}`, "dns");
    assert.equal((await wakes(rest)).length, 2);
  });

  test("without reactive reconciliation there are none", async ({ signal }) => {
    await using rest = await startClustersRest({ wakesDependents: false });
    const id = await rest.cluster(alice);
    const { wakeups, numberedChannel } = rest.service.outbox;
    const never = { pollMs: 3_600_000, deafPollMs: 3_600_000 };
    using pass = wakeups.subscribe(numberedChannel, never);
    await pass.wait(signal); // Whatever was before.
    await rest.report(`/clusters/${id}`, "dns");
    assert.deepEqual(await wakes(rest), []);
    assert.equal(
      await pass.wait(signal),
      "woken",
      "the pass of statuses hears of reports all the same",
    );
  });

  test("reports that no event tells of are heard by the pass of every replica", async ({
    signal,
  }) => {
    for (const wakesDependents of [true, false]) {
      await using rest = await startClustersRest({ wakesDependents });
      const path = `/clusters/${await rest.cluster(alice)}`;
      await rest.report(path, "dns");
      const { service } = rest;
      const elsewhere = new Wakeups({ database: rest.tables.openAnother() });
      await using scope = new TaskScope(never);
      scope.spawn("another replica", (inner) => elsewhere.run(inner));
      const byNobody = { pollMs: 3_600_000, deafPollMs: 3_600_000 };
      using pass = elsewhere.subscribe(service.outbox.numberedChannel, byNobody);
      await until(() => elsewhere.isLive);
      await pass.wait(signal); // Whatever was before.
      scope.spawn("bell", (inner) => runStatusBell({ service, clock: systemClock }, inner));
      await pass.wait(signal); // It rings when it begins.
      await rest.report(path, "dns"); // Nothing new: no event.
      assert.equal(await pass.wait(signal), "woken");
      await rest.ask(ctl, "PUT", "/controllers/dns", { kinds: ["cluster"] });
      assert.equal(await pass.wait(signal), "woken", "who is expected has changed");
    }
  });
});
