// Every type and every reason of an event, however it comes to be: what it says, and that it says all of it.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { systemClock } from "@keelson/base";
import { alice, available, gcp, startClustersRest, type ClustersRest } from "./clusters-rest.ts";
import { never } from "./events-bed.ts";
import { schedulerOn } from "./scheduler-bed.ts";

interface Row {
  readonly topic: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Everything that can happen to clusters and nodepools. */
async function live(it: ClustersRest): Promise<void> {
  const { database, outbox } = it.service;
  // It goes on beside the database's, by which reports and new clusters are due.
  let aheadMs = 0;
  const time = { now: () => systemClock.now() + aheadMs };
  const scheduler = schedulerOn(database, { outbox, time });
  const after = async (passMs: number): Promise<void> => {
    await it.settle();
    aheadMs += passMs;
    await scheduler.tick(never);
  };
  const path = `/clusters/${await it.cluster(alice)}`;
  const { body } = await it.ask(alice, "POST", "/nodepools", {
    name: "p",
    cluster_id: path.slice(10),
  });
  const pool = `/nodepools/${body.id as string}`;
  await after(0); // Nobody was told of them.
  await it.report(path, "dns", { conditions: [available("False")], finalizer: true });
  await after(31_000); // It is not Ready.
  await it.report(path, "dns");
  await it.report(pool, "pools");
  await after(31_000); // It is Ready, and new.
  await after(3 * 3_600_000); // It is not new any more.
  await it.ask(alice, "PUT", path, { spec: { ...gcp, n: 1 } });
  await after(31_000); // Its controller is behind.
  await it.report(path, "dns", { observed_generation: 2 });
  await it.ask(alice, "PUT", path, { spec: { ...gcp, n: 2 } });
  await it.report(path, "dns", { observed_generation: 3, metadata: { n: 2 } });
  await it.ask(alice, "PUT", pool, { spec: { replicas: 2 } });
  for (const one of [path, pool]) await it.ask(alice, "POST", `${one}/reconcile`);
  await it.ask(alice, "DELETE", `${path}?confirm=Ready`);
  await after(31_000); // Its controller has not let go.
  await it.report(path, "dns", {
    conditions: [{ type: "Finalized", status: "True" }],
    observed_generation: 3,
  });
  await it.ask(alice, "DELETE", `/clusters/${await it.cluster(alice, "two")}?force=true`);
}

suite("events", () => {
  test("36: every type, for every reason, has all that it must say in data and attributes", async () => {
    await using it = await startClustersRest();
    await live(it);
    await it.settle();
    const rows = await it.tables.query<Row & Record<string, unknown>>(
      `SELECT topic, data, attributes FROM outbox ORDER BY position`,
    );
    for (const { topic, data, attributes } of rows) {
      const { id, user, metadata, ...shared } = data;
      const { nodepool_id: nodepoolId, type } = data;
      const isNodepools =
        String(type).startsWith("nodepool.") ||
        (type === "status.changed" && nodepoolId !== undefined);
      assert.deepEqual(
        Object.keys(data).toSorted(),
        [...fields, ...(isNodepools ? ["nodepool_id"] : [])].toSorted(),
        String(type),
      );
      const { email, domain, roles } = user as Record<string, unknown>;
      const { controller_name: controller } = metadata as Record<string, string>;
      assert.deepEqual(attributes, {
        ...Object.fromEntries(Object.entries(shared).map(([name, value]) => [name, String(value)])),
        event_id: id,
        user_email: email,
        user_domain: domain,
        user_roles: (roles as string[]).join(","),
        ...(controller === undefined ? {} : { controller_name: controller }),
      });
      assert.equal(topic, topicOf(String(type)));
      assert.deepEqual(
        [shared["event_type"], shared["platform"], shared["source"], shared["created_by"]],
        [type, "gcp", "cls-backend", alice],
      );
    }
    const seen = new Set(
      rows.map(({ data: { type, reason } }) => `${type as string} ${reason as string}`),
    );
    assert.deepEqual([...seen].toSorted(), expected.toSorted());
  });
});

const fields = [
  "id",
  "type",
  "event_type",
  "cluster_id",
  "generation",
  "platform",
  "reason",
  "timestamp",
  "source",
  "created_by",
  "user",
  "metadata",
];

function topicOf(type: string): string | null {
  if (type === "status.changed" || type.endsWith(".finalized")) return null;
  return `${type.split(".")[0]}-events`;
}

const expected = [
  "cluster.created cluster_created",
  "cluster.updated spec_change",
  "cluster.deleted deletion_requested",
  "cluster.deleted force_deletion",
  "cluster.finalized finalized",
  "cluster.reconcile controller_generation_change",
  "cluster.reconcile controller_status_and_generation_change",
  "cluster.reconcile controller_status_change",
  "cluster.reconcile controller_status_created",
  "cluster.reconcile deletion_pending",
  "cluster.reconcile generation_mismatch",
  "cluster.reconcile healthy_reconciliation",
  "cluster.reconcile manual_trigger",
  "cluster.reconcile never_reconciled",
  "cluster.reconcile periodic_reconciliation",
  "cluster.reconcile unhealthy_reconciliation",
  "nodepool.created nodepool_created",
  "nodepool.deleted deletion_requested",
  "nodepool.finalized finalized",
  "nodepool.reconcile controller_status_created",
  "nodepool.reconcile healthy_reconciliation",
  "nodepool.reconcile manual_trigger",
  "nodepool.reconcile never_reconciled",
  "nodepool.reconcile periodic_reconciliation",
  "nodepool.reconcile unhealthy_reconciliation",
  "nodepool.updated spec_change",
  "status.changed phase_changed",
];
