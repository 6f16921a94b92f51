// Applications as the operator sees to them, from apply to running and back, in a cluster and a real PostgreSQL.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  noMetrics,
  silentLog,
  systemClock,
  systemRandom,
  type Json,
  type JsonObject,
} from "@keelson/base";
import type { DynamicObject } from "@keelson/client";
import { Caches, controllerMetrics } from "@keelson/controller";
import { leftovers, nothing } from "@keelson/platform/testing";
import { clusterSuite, ownTest } from "../tools/test-cluster.ts";
import { until } from "../tools/until.ts";
import {
  applications,
  namespace,
  newName,
  OperatorBed,
  seenIn,
  type Seen,
} from "./operator-bed.ts";
import { podSpecOf, targetIn } from "./service-target.ts";

const image = "registry.example.com/shop:1";

clusterSuite("the operator", () => {
  test("brings an app with a database from nothing to running, and takes it away again", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    await using _operator = bed.start();
    const name = newName();
    const role = `prod_${name.replaceAll("-", "_")}`;
    await bed.apply(name, { imageRef: image, database: { enabled: true } });
    const running = await bed.until(name, ({ phase }) => phase === "Running");
    assert.deepEqual(
      running.conditions.map((one) => one.split(" ").slice(0, 2).join(" ")).slice(0, 2),
      ["DatabaseReady True", "DeploymentReady True"],
    );
    assert.deepEqual(running.owned.toSorted(), [
      `Role ${role}_anon Ready`,
      `Role ${role}_app Ready`,
      `Schema ${role} Ready`,
    ]);
    assert.equal(running.observedGeneration, 1);
    assert.equal(running.url, `https://${name}.example.com`);
    const { DATABASE_URL: url = "" } = (await bed.secret(`${name}-db`)) ?? {};
    assert.deepEqual(await bed.database.queryAs(url, "SHOW search_path"), [{ search_path: role }]);

    await bed.delete(name);
    await bed.untilGone(name);
    assert.deepEqual(await leftovers(bed.database, name), nothing);
    for (const [apiVersion, kind, child] of [
      ["v1", "Secret", `${name}-db`],
      ["apps/v1", "Deployment", name],
      ["v1", "Service", name],
      ["networking.k8s.io/v1", "Ingress", `${name}-api`],
    ] as const) {
      assert.equal(await bed.find({ apiVersion, kind }, child), undefined, kind);
    }
  });

  test("P18: says how far it is, each step in its time", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    const parts = { clock: systemClock, random: systemRandom, log: silentLog };
    const metrics = controllerMetrics(noMetrics);
    await using caches = new Caches({ client: bed.client, ...parts, metrics }, t.signal);
    const name = newName();
    const phases: string[] = [];
    using _following = caches.of(applications).subscribe(({ type, object }) => {
      const { phase = "none" } = seenIn(object);
      if (type !== "deleted" && phases.at(-1) !== phase) phases.push(phase);
    });
    await caches.untilSynced(t.signal);
    bed.start();
    await bed.apply(name, { imageRef: image, database: { enabled: true } });
    const running = await bed.until(name, ({ phase }) => phase === "Running");
    await until(() => phases.at(-1) === "Running", t.signal);
    assert.deepEqual(phases, ["none", "Pending", "Provisioning", "Running"]);
    const timesOf = ({ object }: Seen) =>
      conditionsOf(object).map(({ type, ...rest }) => [type, rest.lastTransitionTime]);
    const before = timesOf(running);

    // Another image: it rolls, and what was true stays true since when it was.
    await bed.apply(name, { imageRef: "registry.example.com/shop:2", database: { enabled: true } });
    const again = await bed.until(
      name,
      ({ phase, observedGeneration }) => phase === "Running" && observedGeneration === 2,
    );
    assert.equal(again.object.metadata.generation, 2);
    const unmoved = (times: unknown[][]) => times.filter(([type]) => type === "DatabaseReady");
    assert.deepEqual(unmoved(timesOf(again)), unmoved(before));
    for (const { observedGeneration } of conditionsOf(again.object))
      assert.equal(observedGeneration, 2);
  });

  test("P15: a framework has its port and its probe, and either can be another", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    await using _operator = bed.start();
    const name = newName();
    const probed = async () => {
      const deployment = await bed.find({ apiVersion: "apps/v1", kind: "Deployment" }, name);
      const service = await bed.find({ apiVersion: "v1", kind: "Service" }, name);
      const pods = deployment?.["spec"] as unknown as
        | {
            readonly template: {
              readonly spec: { readonly containers: readonly ProbedContainer[] };
            };
          }
        | undefined;
      const app = pods?.template.spec.containers[0];
      const { path, port } = app?.readinessProbe.httpGet ?? {};
      const variable = app?.env.find((one) => one.name === "PORT")?.value;
      const target = targetIn(service, podSpecOf(deployment), 80);
      return [app?.ports[0]?.containerPort, variable, path, port, target];
    };
    const isRunning = (generation: number) => (seen: Seen) =>
      seen.phase === "Running" && seen.observedGeneration === generation;
    await bed.apply(name, { imageRef: image, framework: "static" });
    await bed.until(name, isRunning(1));
    assert.deepEqual(await probed(), [8080, "8080", "/", 8080, 8080]);
    await bed.apply(name, {
      imageRef: image,
      framework: "static",
      port: 9000,
      probe: { path: "/ready" },
    });
    await bed.until(name, isRunning(2));
    assert.deepEqual(await probed(), [9000, "9000", "/ready", 9000, 9000]);
  });

  // Its pods are written by hand.
  ownTest(
    "P24: an image that does not run is told so, with what the cluster says of it",
    async (t) => {
      await using bed = await OperatorBed.prepare({ simulatesWorkloads: false }, t.signal);
      bed.start();
      const name = newName();
      await bed.apply(name, { imageRef: image });
      const deployments = { apiVersion: "apps/v1", kind: "Deployment" };
      const deployment = await until(() => bed.find(deployments, name), t.signal);
      const report = async (status: JsonObject, generation: number): Promise<void> => {
        const body = { status: { observedGeneration: generation, ...status } };
        const options = { subresource: "status" };
        const ref = { namespace, name };
        await (
          await bed.resource(deployments)
        ).patch(ref, { type: "merge", body, options }, t.signal);
      };
      const ready = { replicas: 1, readyReplicas: 1, updatedReplicas: 1, availableReplicas: 1 };
      await report(ready, deployment.metadata.generation ?? 0);
      await bed.until(name, ({ phase }) => phase === "Running");

      await bed.apply(name, { imageRef: "registry.example.com/shop:broken", port: 9000 });
      await bed.until(name, ({ phase }) => phase === "Provisioning");
      const rolling = await until(async () => {
        const found = await bed.find(deployments, name);
        return (found?.metadata.generation ?? 0) > (deployment.metadata.generation ?? 0) && found;
      }, t.signal);
      const half = { ...ready, replicas: 2, readyReplicas: 1 };
      await report(half, rolling.metadata.generation ?? 0);
      const { template } = rolling["spec"] as unknown as {
        template: { metadata: JsonObject; spec: JsonObject };
      };
      const pods = { apiVersion: "v1", kind: "Pod" };
      const pod = await (
        await bed.resource(pods)
      ).create(
        {
          ...pods,
          metadata: { ...template.metadata, name: `${name}-1`, namespace },
          spec: { ...template.spec, serviceAccountName: "default" },
        },
        {},
        t.signal,
      );
      const waits = async (reason: string, message: string): Promise<void> => {
        const status = { name: "app", image, imageID: "", ready: false, restartCount: 3 };
        const body = {
          status: { containerStatuses: [{ ...status, state: { waiting: { reason, message } } }] },
        };
        const options = { subresource: "status" };
        const ref = { namespace, name: pod.metadata.name ?? "" };
        await (await bed.resource(pods)).patch(ref, { type: "merge", body, options }, t.signal);
      };
      await waits("CrashLoopBackOff", "back-off 40s restarting failed container");
      const crashing = await bed.until(name, ({ conditions }) =>
        conditions.includes("DeploymentReady False CrashLoopBackOff"),
      );
      assert.equal(crashing.phase, "Provisioning");
      // Each pod is reached where it listens, the old ones where they always did.
      const service = await bed.find({ apiVersion: "v1", kind: "Service" }, name);
      const reached = [deployment, rolling].map((one) => targetIn(service, podSpecOf(one), 80));
      assert.deepEqual(reached, [3000, 9000]);
      await waits(
        "CreateContainerConfigError",
        "container has runAsNonRoot and image will run as root",
      );
      const root = await bed.until(name, ({ conditions }) =>
        conditions.includes("DeploymentReady False ImageRunsAsRoot"),
      );
      assert.match(root.messages["DeploymentReady"] ?? "", /set spec\.runAsUser$/);
      // The old pods are the Deployment's to keep: we have not touched their number.
      await bed.delete(name);
      await bed.until(name, ({ conditions }) =>
        conditions.includes("DeploymentReady False CleaningUp"),
      );
      const ref = { namespace, name: `${name}-1`, gracePeriodSeconds: 0 };
      await (await bed.resource(pods)).delete(ref, t.signal);
      await bed.untilGone(name);
    },
  );
});

interface Timed {
  readonly type: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration: number;
}

function conditionsOf(object: DynamicObject): readonly Timed[] {
  return (object["status"] as unknown as { conditions: readonly Timed[] }).conditions;
}

interface ProbedContainer {
  readonly ports: readonly { readonly containerPort: number }[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly readinessProbe: { readonly httpGet: { readonly path: string; readonly port: Json } };
}
