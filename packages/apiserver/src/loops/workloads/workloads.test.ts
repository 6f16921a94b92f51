import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { JsonObject } from "@keelson/base";
import { until } from "@keelson/base/testing";

import { Api, meta, type WatchedEvent } from "../../testing/api.ts";
import { core } from "../../testing/objects.ts";
import { startTestServer } from "../../testing/test-server.ts";

const apps = (plural: string): string => `/apis/apps/v1/namespaces/default/${plural}`;
const pods = core("default", "pods");
const labels = { app: "a" };
const template = (image = "i:1", more: JsonObject = {}): JsonObject => ({
  metadata: { labels },
  spec: { containers: [{ name: "c", image }], ...more },
});

async function prepare(signal: AbortSignal) {
  const server = await startTestServer({ simulatesWorkloads: true }, signal);
  const api = new Api(server.url, signal);
  const statusOf = async (path: string): Promise<JsonObject> =>
    ((await api.get(path)).object["status"] ?? {}) as JsonObject;
  const images = async (): Promise<readonly string[]> => {
    const { items } = (await api.get(pods)).object as {
      items: { metadata: JsonObject; spec: { containers: { image: string }[] } }[];
    };
    return items
      .filter(({ metadata }) => metadata["deletionTimestamp"] === undefined)
      .map(({ spec }) => spec.containers[0]?.image ?? "");
  };
  return { api, statusOf, images, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

suite("simulated workloads", () => {
  test("a deployment becomes available, and rolls over to another image", async (t) => {
    await using bed = await prepare(t.signal);
    const { api, images } = bed;
    await api.create(apps("deployments"), {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "d" },
      spec: { replicas: 3, selector: { matchLabels: labels }, template: template() },
    });
    const path = `${apps("deployments")}/d`;
    const isRolled = async (): Promise<boolean> => {
      const { object } = await api.get(path);
      const { observedGeneration, availableReplicas, updatedReplicas, replicas } = (object[
        "status"
      ] ?? {}) as JsonObject;
      return (
        observedGeneration === Number(meta({ object }, "generation")) &&
        [availableReplicas, updatedReplicas, replicas].every((count) => count === 3)
      );
    };
    await until(isRolled, "three are available");
    assert.deepEqual(await images(), ["i:1", "i:1", "i:1"]);
    const patient = { spec: { terminationGracePeriodSeconds: 2n ** 53n + 1n } };
    await api.merge(path, { spec: { template: patient } });
    await until(isRolled, "three with a grace of 64 bits are available");
    await api.merge(path, { spec: { template: template("i:2") } });
    await until(isRolled, "three of the new kind are available");
    await until(async () => (await images()).join() === "i:2,i:2,i:2", "the old ones are gone");
    await api.merge(path, { spec: { replicas: 0 } });
    await until(async () => (await images()).length === 0, "none is left");
    await api.delete(path, { propagationPolicy: "Background" });
    await until(async () => {
      const { items } = (await api.get(apps("replicasets"))).object as { items: JsonObject[] };
      return items.length === 0;
    }, "its replica sets go too");
  });

  test("a stateful set makes its pods in order, with claims that are bound", async (t) => {
    await using bed = await prepare(t.signal);
    const { api, statusOf } = bed;
    const revision = meta(await api.get(pods), "resourceVersion");
    await api.create(apps("statefulsets"), {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: { name: "s" },
      spec: {
        serviceName: "s",
        replicas: 3,
        selector: { matchLabels: labels },
        template: template(),
        volumeClaimTemplates: [
          {
            metadata: { name: "data" },
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
          },
        ],
      },
    });
    await until(
      async () => (await statusOf(`${apps("statefulsets")}/s`))["readyReplicas"] === 3,
      "three are ready",
    );
    using watch = await api.watch(`${pods}?watch=1&resourceVersion=${revision}`);
    const added: string[] = [];
    while (added.length < 3) {
      const [event] = (await watch.take(1)) as [WatchedEvent];
      if (event.type === "ADDED") added.push(meta(event, "name"));
    }
    assert.deepEqual(added, ["s-0", "s-1", "s-2"]);
    const claim = `${core("default", "persistentvolumeclaims")}/data-s-0`;
    await until(async () => (await statusOf(claim))["phase"] === "Bound", "the claim is bound");
  });

  test("a job completes, a daemon set is on every node, a pod that is deleted goes", async (t) => {
    await using bed = await prepare(t.signal);
    const { api, statusOf } = bed;
    await api.create("/apis/batch/v1/namespaces/default/jobs", {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "j" },
      spec: { completions: 2, template: template("i:1", { restartPolicy: "Never" }) },
    });
    await api.create(apps("daemonsets"), {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: { name: "ds" },
      spec: { selector: { matchLabels: labels }, template: template() },
    });
    await until(async () => {
      const status = await statusOf("/apis/batch/v1/namespaces/default/jobs/j");
      const conditions = (status["conditions"] ?? []) as JsonObject[];
      return (
        status["succeeded"] === 2 &&
        conditions.some(({ type, status: is }) => type === "Complete" && is === "True")
      );
    }, "the job is complete");
    await until(async () => {
      const { desiredNumberScheduled, numberReady } = await statusOf(`${apps("daemonsets")}/ds`);
      return desiredNumberScheduled === 1 && numberReady === 1;
    }, "the daemon set is ready");
    await api.create(pods, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "alone" },
      spec: { ...(template()["spec"] as JsonObject), terminationGracePeriodSeconds: 1 },
    });
    await until(
      async () => (await statusOf(`${pods}/alone`))["phase"] === "Running",
      "the pod runs",
    );
    await api.delete(`${pods}/alone`);
    await until(async () => (await api.get(`${pods}/alone`)).code === 404, "the pod is gone");
  });
});
