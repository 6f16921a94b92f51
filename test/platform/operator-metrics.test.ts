// What the operator shows of apps while they move, and that it looks after them while nothing does.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@keelson/base";
import { RecordingMetrics } from "@keelson/base/testing";
import type { CallPoint } from "@keelson/platform";
import { clusterSuite, ownTest } from "../tools/test-cluster.ts";
import { until } from "../tools/until.ts";
import { LeapingClock } from "./clocks.ts";
import { namespace, newName, OperatorBed } from "./operator-bed.ts";
import { previewKind } from "./preview-bed.ts";

const withDatabase = {
  imageRef: "registry.example.com/shop:1",
  database: { enabled: true },
};
const deployments = { apiVersion: "apps/v1", kind: "Deployment" };

clusterSuite("what the operator shows", () => {
  // Its Deployment is written by hand.
  ownTest("each phase is a number, from the beginning of an app to its end", async (t) => {
    await using bed = await OperatorBed.prepare({ simulatesWorkloads: false }, t.signal);
    const metrics = new RecordingMetrics();
    const held = Promise.withResolvers<void>();
    let isAway = false;
    const onCall = async ({ service, when }: CallPoint): Promise<void> => {
      if (service !== "sql" || when === "after") return;
      await held.promise;
      if (isAway) throw new Error("connection refused");
    };
    bed.start({ metrics, onCall });
    const name = newName();
    const shows = async (phase: number | undefined, app = name): Promise<void> => {
      const labels = { namespace, app, environment: "production" };
      await until(
        () => metrics.value("plattr_application_phase", labels) === phase || undefined,
        t.signal,
      );
    };
    const took = (resource_type: string) =>
      metrics.value("plattr_provisioning_duration_seconds", { app: name, resource_type });
    await bed.apply(name, withDatabase);
    await shows(0);
    assert.equal(took("database"), undefined);
    held.resolve();
    await shows(1);
    await until(() => took("database") === 1, t.signal);
    assert.equal(took("workload"), undefined);
    const deployment = await bed.find(deployments, name);
    const ready = { replicas: 1, readyReplicas: 1, updatedReplicas: 1, availableReplicas: 1 };
    const status: JsonObject = {
      observedGeneration: deployment?.metadata.generation ?? 0,
      ...ready,
    };
    await (
      await bed.resource(deployments)
    ).patch(
      { namespace, name },
      { type: "merge", body: { status }, options: { subresource: "status" } },
      t.signal,
    );
    await shows(2);
    await until(() => took("workload") === 1, t.signal);
    const long = `${newName()}-${"x".repeat(50)}`.slice(0, 60);
    await bed.apply(long, withDatabase);
    await shows(3, long);

    isAway = true;
    await bed.delete(name);
    await shows(4);
    isAway = false;
    await bed.untilGone(name);
    await shows(undefined);
    await until(() => took("database") === undefined && took("workload") === undefined, t.signal);
  });

  test("previews are counted until they are being removed", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    const metrics = new RecordingMetrics();
    bed.start({ metrics });
    const counted = (count: number) =>
      until(() => metrics.value("plattr_preview_environments_active") === count, t.signal);
    const previews = await bed.resource(previewKind);
    const create = (pullRequest: number): Promise<unknown> =>
      previews.create(
        {
          ...previewKind,
          // Somebody else holds it, too.
          metadata: { namespace, name: `pr-${pullRequest}`, finalizers: ["example.com/held"] },
          spec: { applicationRef: "none", pullRequest, branch: "b" },
        },
        {},
        t.signal,
      );
    await until(() => metrics.value("plattr_leader") === 1, t.signal);
    await counted(0);
    await create(1);
    await create(2);
    await counted(2);
    await previews.delete({ namespace, name: "pr-1" }, t.signal);
    await counted(1);
    assert.ok(await bed.find(previewKind, "pr-1"));
    const body = { metadata: { finalizers: null } };
    for (const name of ["pr-1", "pr-2"]) {
      await previews.patch({ namespace, name }, { type: "merge", body, options: {} }, t.signal);
    }
    await previews.delete({ namespace, name: "pr-2" }, t.signal);
    await counted(0);
  });

  ownTest("what changes outside the cluster is seen within ten minutes", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    const clock = new LeapingClock();
    const metrics = new RecordingMetrics();
    bed.start({ clock, metrics });
    const name = newName();
    await bed.apply(name, withDatabase);
    await bed.until(name, ({ phase }) => phase === "Running");
    const schema = `prod_${name.replaceAll("-", "_")}`;
    const isMended = async (): Promise<boolean> => {
      const [right] = await bed.database.query<{ has: boolean }>(
        `SELECT has_schema_privilege('${schema}_anon', '${schema}', 'USAGE') AS has`,
      );
      return right?.has === true;
    };
    const isAtRest = (): boolean =>
      ["keelson_controller_running", "keelson_controller_queue_ready"].every(
        (gauge) => (metrics.value(gauge, { controller: "apps" }) ?? 0) === 0,
      );
    // Until nothing is under way that could have seen it: what then mends it is the look that is due.
    await until(async () => {
      if (await isMended()) {
        await bed.database.query(`REVOKE USAGE ON SCHEMA ${schema} FROM ${schema}_anon`);
      }
      return isAtRest() && !(await isMended()) && isAtRest();
    }, t.signal);
    clock.leap(600_000);
    await until(isMended, t.signal);
  });
});
