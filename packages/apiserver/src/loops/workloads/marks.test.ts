import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { systemClock, type JsonObject } from "@keelson/base";
import { until } from "@keelson/base/testing";
import { SqliteBackend, Store } from "@keelson/store";

import { staticNodeName } from "../../bootstrap/static-node.ts";
import { Api, meta } from "../../testing/api.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

const labels = { app: "a" };
const containers = [{ name: "c", image: "i:1" }];
const template = { metadata: { labels }, spec: { containers } };
const set = { selector: { matchLabels: labels }, template };
const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
const ports = [{ name: "http", port: 80, protocol: "TCP", targetPort: 8080 }];
const here = { loadBalancer: { ingress: [{ ip: "127.0.0.1" }] } };

interface Subject {
  /** Of the namespace `default`: `apps/v1/deployments`. */
  readonly at: string;
  readonly kind: string;
  readonly spec: JsonObject;
  /** What its status says when it is as a healthy cluster would have it. */
  readonly becomes: JsonObject;
}

/** Everything that is simulated, each as somebody writes it who has no controller besides. */
const subjects = {
  deployment: {
    at: "apps/v1/deployments",
    kind: "Deployment",
    spec: { replicas: 1, ...set },
    becomes: { availableReplicas: 1 },
  },
  "paused-deployment": {
    at: "apps/v1/deployments",
    kind: "Deployment",
    spec: { paused: true, ...set },
    becomes: { observedGeneration: 1 },
  },
  "replica-set": {
    at: "apps/v1/replicasets",
    kind: "ReplicaSet",
    spec: { replicas: 1, ...set },
    becomes: { availableReplicas: 1 },
  },
  "stateful-set": {
    at: "apps/v1/statefulsets",
    kind: "StatefulSet",
    spec: {
      serviceName: "s",
      replicas: 1,
      ...set,
      volumeClaimTemplates: [{ metadata: { name: "data" }, spec: claim }],
    },
    becomes: { readyReplicas: 1 },
  },
  "daemon-set": {
    at: "apps/v1/daemonsets",
    kind: "DaemonSet",
    spec: set,
    becomes: { numberReady: 1 },
  },
  job: {
    at: "batch/v1/jobs",
    kind: "Job",
    spec: { template: { ...template, spec: { containers, restartPolicy: "Never" } } },
    becomes: { succeeded: 1 },
  },
  pod: { at: "v1/pods", kind: "Pod", spec: { containers }, becomes: { phase: "Running" } },
  "pod-that-chose-its-node": {
    at: "v1/pods",
    kind: "Pod",
    spec: { containers, nodeName: staticNodeName },
    becomes: { phase: "Running" },
  },
  "load-balancer": {
    at: "v1/services",
    kind: "Service",
    spec: { type: "LoadBalancer", selector: labels, ports },
    becomes: { loadBalancer: { ingress: [{ ip: "127.0.0.1", ipMode: "VIP" }] } },
  },
  ingress: {
    at: "networking.k8s.io/v1/ingresses",
    kind: "Ingress",
    spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } },
    becomes: here,
  },
  claim: {
    at: "v1/persistentvolumeclaims",
    kind: "PersistentVolumeClaim",
    spec: claim,
    becomes: { phase: "Bound" },
  },
} as const satisfies Readonly<Record<string, Subject>>;

function pathOf({ at }: Subject, name: string): string {
  const parts = at.split("/");
  const plural = parts.pop() ?? "";
  const root = parts.length === 1 ? "/api" : "/apis";
  return `${root}/${parts.join("/")}/namespaces/default/${plural}/${name}`;
}

/** As its owner says it; nothing of it is the simulation's. */
function said({ at, kind, spec }: Subject, name: string): JsonObject {
  const apiVersion = at.slice(0, at.lastIndexOf("/"));
  return { apiVersion, kind, metadata: { name, labels, annotations: { mine: "yes" } }, spec };
}

const entries = Object.entries(subjects).map(([name, subject]) => ({
  name,
  subject,
  path: pathOf(subject, name),
  object: said(subject, name),
}));

const isMarked = (object: JsonObject): boolean =>
  (object as { metadata: { annotations?: JsonObject } }).metadata.annotations?.[
    "keelson.dev/simulated"
  ] === "true";

/** Whether the status says all of this. */
function hasBecome(object: JsonObject, becomes: JsonObject): boolean {
  const status = (object["status"] ?? {}) as JsonObject;
  return Object.entries(becomes).every(
    ([name, value]) => JSON.stringify(status[name]) === JSON.stringify(value),
  );
}

async function settled(api: Api): Promise<void> {
  for (const { name, subject, path } of entries) {
    const isThere = async (): Promise<boolean> =>
      hasBecome((await api.get(path)).object, subject.becomes);
    await until(isThere, `${name} is as in a healthy cluster`);
  }
}

/** Everything of ours in the namespace, with its version. */
async function versions(api: Api): Promise<Readonly<Record<string, string>>> {
  const collections = new Set(entries.map(({ path }) => path.slice(0, path.lastIndexOf("/"))));
  const found: Record<string, string> = {};
  for (const path of collections) {
    const { items } = (await api.get(path)).object as { items: JsonObject[] };
    for (const object of items) {
      found[`${path}/${meta({ object }, "name")}`] = meta({ object }, "resourceVersion");
    }
  }
  return found;
}

suite("what is simulated", () => {
  test("says so on every kind, with the address 127.0.0.1 where one is asked for", async (t) => {
    await using server = await startTestServer({ simulatesWorkloads: true }, t.signal);
    const api = new Api(server.url, t.signal);
    for (const { path, object } of entries) {
      const applied = await api.apply(path, object, "owner");
      assert.equal(applied.code, 201, applied.text);
    }
    const within = "/api/v1/namespaces/default/services";
    await api.create(within, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "inside" },
      spec: { ports },
    });
    await settled(api);
    for (const { name, path } of entries) {
      assert.ok(isMarked((await api.get(path)).object), `${name} does not say so`);
    }
    // What is made for them, and the node that it is on.
    const made = [
      ...Object.keys(await versions(api)).filter((path) => !path.includes("/services/")),
      "/api/v1/namespaces/default/persistentvolumeclaims/data-stateful-set-0",
      `/api/v1/nodes/${staticNodeName}`,
    ];
    for (const path of made) assert.ok(isMarked((await api.get(path)).object), path);
    // Nothing is simulated of what has no outside.
    assert.ok(!isMarked((await api.get(`${within}/inside`)).object));
    assert.ok(!isMarked((await api.get(`${within}/kubernetes`)).object));
  });

  test("is shared with its owner: the mark and the status are ours, and nothing is fought over", async (t) => {
    await using server = await startTestServer({ simulatesWorkloads: true }, t.signal);
    const api = new Api(server.url, t.signal);
    for (const { path, object } of entries) await api.apply(path, object, "owner");
    await settled(api);
    for (const { name, path, object } of entries) {
      const before = await api.get(path);
      const { metadata } = before.object as {
        metadata: { managedFields: { manager: string; fieldsV1: JsonObject }[] };
      };
      const ours = metadata.managedFields.filter(
        ({ manager }) => manager === "kube-controller-manager",
      );
      const owned = ours.flatMap(({ fieldsV1 }) => pathsOf(fieldsV1));
      const besides = owned.filter((field) => !ourFields.test(field));
      assert.deepEqual(besides, [], name);
      const again = await api.apply(path, object, "owner");
      assert.deepEqual(
        [again.code, meta(again, "resourceVersion")],
        [200, meta(before, "resourceVersion")],
        name,
      );
    }
  });

  test("is not written again by a restart, and comes back when it was taken away", async (t) => {
    const backend = new SqliteBackend({ path: ":memory:", clock: systemClock });
    const limits = { compactionEveryMs: undefined };
    await using store = await Store.open({ backend, limits }, t.signal);
    const start = (): Promise<TestServer> =>
      startTestServer({ store, simulatesWorkloads: true }, t.signal);
    {
      await using server = await start();
      const api = new Api(server.url, t.signal);
      for (const { path, object } of entries) await api.apply(path, object, "owner");
      await settled(api);
    }
    let before: Readonly<Record<string, string>> = {};
    {
      // By one that simulates nothing: whatever the first was about to write it has written.
      await using server = await startTestServer({ store }, t.signal);
      before = await versions(new Api(server.url, t.signal));
    }
    await using server = await start();
    const api = new Api(server.url, t.signal);
    await marker(api);
    const { [markerPath]: _, ...after } = await versions(api);
    assert.deepEqual(after, before);
    for (const name of ["ingress", "claim", "stateful-set"]) {
      const { path } = entries.find((one) => one.name === name) ?? { path: "" };
      await api.merge(path, { metadata: { annotations: { "keelson.dev/simulated": null } } });
      await until(async () => isMarked((await api.get(path)).object), `${name} says so again`);
    }
  });
});

const markerPath = "/apis/networking.k8s.io/v1/namespaces/default/ingresses/marker";

/** Waits until the loop has been through everything that was there: this comes last. */
async function marker(api: Api): Promise<void> {
  await api.apply(markerPath, said(subjects.ingress, "marker"), "owner");
  await until(
    async () => hasBecome((await api.get(markerPath)).object, here),
    "the last one has its address",
  );
}

/** The mark, the number of a rollout, the node of a pod, and how things are. */
const ourFields =
  /^f:metadata\/f:annotations(?:\/f:(?:keelson\.dev\/simulated|deployment\.kubernetes\.io\/revision))?$|^f:status(?:\/|$)|^f:spec\/f:nodeName$/;

/** The paths of the leaves of a field set. */
function pathsOf(fields: JsonObject, prefix = ""): readonly string[] {
  return Object.entries(fields).flatMap(([name, inner]) => {
    if (name === ".") return [prefix];
    const path = prefix === "" ? name : `${prefix}/${name}`;
    const below = pathsOf(inner as JsonObject, path);
    return below.length === 0 ? [path] : below;
  });
}
