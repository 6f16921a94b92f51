// Deletion: options, finalizers, grace, propagation, collections, garbage. KB 34 to 38.

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";

import { casesFor, casesOf, type Script } from "../case.ts";
import type { Lab } from "../lab.ts";
import { configMap, deployment, pod, secret } from "../objects.ts";
import { untilCollectorKnows, type Collected } from "../until-collector-knows.ts";

const options = (more: JsonObject): JsonObject => ({
  apiVersion: "v1",
  kind: "DeleteOptions",
  ...more,
});
const isGone = ({ status }: { readonly status: number }): boolean => status === 404;

/** An owner and what it owns; answers the owner's path. */
async function family(
  lab: Lab,
  extra: JsonObject = {},
): Promise<{ readonly owner: string; readonly child: string }> {
  const { uid } = await lab.create(lab.core("configmaps"), configMap("owner"));
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid, ...extra }];
  await lab.create(lab.core("secrets"), secret("child", { ownerReferences }));
  await known(lab, "secrets", ownedSecret);
  return { owner: lab.core("configmaps", "owner"), child: lab.core("secrets", "child") };
}

/** Resolves when the garbage collector knows what the case has made in a collection. */
async function known(lab: Lab, plural: string, make: Collected["make"]): Promise<void> {
  const send: Collected["send"] = async (request) => await lab.quietly(request);
  const made = { namespace: lab.ns, collection: lab.core(plural), make, send };
  await untilCollectorKnows(made, lab.signal);
}

const ownedSecret: Collected["make"] = (name, ownerReferences) => secret(name, { ownerReferences });
const ownedPod: Collected["make"] = (name, ownerReferences) => pod(name, {}, { ownerReferences });

const scripts: Record<string, Script> = {
  "once, twice": async (lab) => {
    await lab.create(lab.core("configmaps"), configMap("a"));
    await lab.delete(lab.core("configmaps", "a"));
    await lab.delete(lab.core("configmaps", "a"));
    await lab.post(lab.core("configmaps"), configMap("a"));
  },
  ...casesFor(
    {
      "the right uid": (uid: string) => ({ preconditions: { uid } }),
      "another uid": () => ({ preconditions: { uid: "00000000-0000-4000-8000-000000000000" } }),
      "the right version": (_: string, resourceVersion: string) => ({
        preconditions: { resourceVersion },
      }),
      "another version": () => ({ preconditions: { resourceVersion: "1" } }),
      both: (uid: string, resourceVersion: string) => ({ preconditions: { uid, resourceVersion } }),
      "a version that is none": () => ({ preconditions: { resourceVersion: "abc" } }),
    },
    "preconditions: %",
    async (lab, make) => {
      const { uid, version } = await lab.create(lab.core("configmaps"), configMap("a"));
      await lab.delete(lab.core("configmaps", "a"), options(make(uid, version)));
      await lab.get(lab.core("configmaps", "a"));
    },
  ),
  ...casesFor(
    {
      "an unknown policy": { propagationPolicy: "Whatever" },
      "policy and orphanDependents": { propagationPolicy: "Orphan", orphanDependents: true },
      "a negative grace": { gracePeriodSeconds: -5 },
      "another kind": { kind: "Pod" },
      "another version": { apiVersion: "v2" },
      "an unknown field": { foo: 1 },
      "a grace": { gracePeriodSeconds: 10 },
      "a grace of nothing": { gracePeriodSeconds: 0 },
      orphanDependents: { orphanDependents: true },
      "not orphanDependents": { orphanDependents: false },
      unsafe: { ignoreStoreReadErrorWithClusterBreakingPotential: true },
      "a wrong type": { gracePeriodSeconds: "ten" },
      "a long grace": { gracePeriodSeconds: 9_007_199_254_740_993n },
      "a grace of more than 64 bits": { gracePeriodSeconds: 9_223_372_036_854_775_808n },
      "a grace that is no integer": { gracePeriodSeconds: 1.5 },
    },
    "options: %",
    async (lab, more) => {
      await lab.create(lab.core("configmaps"), configMap("a"));
      await lab.delete(lab.core("configmaps", "a"), options(more));
    },
  ),
  ...casesFor(
    {
      "an empty body": "",
      "an empty object": "{}",
      "no JSON": "{",
      "a list": "[]",
      YAML: "propagationPolicy: Background",
      "a group's options": JSON.stringify({ apiVersion: "apps/v1", kind: "DeleteOptions" }),
      "without a kind": JSON.stringify({ propagationPolicy: "Background" }),
    },
    "bodies: %",
    async (lab, body) => {
      await lab.create(lab.core("configmaps"), configMap("a"));
      await lab.delete(lab.core("configmaps", "a"), body);
    },
  ),
  ...casesFor(
    {
      background: "propagationPolicy=Background",
      unknown: "propagationPolicy=Whatever",
      grace: "gracePeriodSeconds=3",
      "bad grace": "gracePeriodSeconds=abc",
      orphanDependents: "orphanDependents=false",
      "dry run": "dryRun=All",
      "both policies": "propagationPolicy=Background&orphanDependents=false",
      uid: "uid=00000000-0000-4000-8000-000000000000",
    },
    "query: %",
    async (lab, query) => {
      await lab.create(lab.core("configmaps"), configMap("a"));
      await lab.delete(`${lab.core("configmaps", "a")}?${query}`);
      await lab.statusOf({ path: lab.core("configmaps", "a") });
    },
  ),
  "a body makes the query nothing": async (lab) => {
    await lab.create(lab.core("configmaps"), configMap("a"));
    await lab.delete(
      `${lab.core("configmaps", "a")}?dryRun=All`,
      options({ propagationPolicy: "Background" }),
    );
    await lab.get(lab.core("configmaps", "a"));
  },
  "options in protobuf": async (lab) => {
    await lab.create(lab.core("configmaps"), configMap("a"));
    const body = Buffer.from(
      lab.codec.encode(
        options({
          propagationPolicy: "Background",
          preconditions: { uid: "00000000-0000-4000-8000-000000000000" },
        }),
      ),
    );
    await lab.delete(lab.core("configmaps", "a"), body, {
      headers: { "content-type": "application/vnd.kubernetes.protobuf" },
    });
    const good = Buffer.from(lab.codec.encode(options({ propagationPolicy: "Background" })));
    await lab.delete(lab.core("configmaps", "a"), good, {
      headers: { "content-type": "application/vnd.kubernetes.protobuf" },
    });
  },
  "finalizers hold it": async (lab) => {
    const path = lab.core("configmaps", "a");
    await lab.post(
      lab.core("configmaps"),
      configMap("a", {}, { finalizers: ["example.com/a", "example.com/b"] }),
    );
    await lab.delete(path);
    await lab.get(path);
    await lab.delete(path);
    await lab.delete(path, options({ orphanDependents: false }));
    await lab.patch("merge", path, { data: { still: "writable" } });
    await lab.patch("merge", path, {
      metadata: { finalizers: ["example.com/a", "example.com/c"] },
    });
    await lab.patch("merge", path, { metadata: { deletionTimestamp: null } });
    await lab.patch("merge", path, { metadata: { finalizers: ["example.com/a"] } });
    await lab.post(lab.core("configmaps"), configMap("a"));
    await lab.patch("merge", path, { metadata: { finalizers: null } });
    await lab.get(path);
  },
  "the last finalizer goes by PUT": async (lab) => {
    const path = lab.core("configmaps", "a");
    await lab.create(lab.core("configmaps"), configMap("a", {}, { finalizers: ["example.com/a"] }));
    await lab.delete(`${path}?propagationPolicy=Background`);
    await lab.put(path, configMap("a"));
    await lab.get(path);
  },
  "the last finalizer goes by JSON patch and by apply": async (lab) => {
    await lab.create(lab.core("configmaps"), configMap("a", {}, { finalizers: ["example.com/a"] }));
    await lab.delete(lab.core("configmaps", "a"));
    await lab.patch("json", lab.core("configmaps", "a"), [
      { op: "remove", path: "/metadata/finalizers" },
    ]);
    await lab.patch(
      "apply",
      `${lab.core("configmaps", "b")}?fieldManager=m`,
      configMap("b", {}, { finalizers: ["example.com/a"] }),
    );
    await lab.delete(lab.core("configmaps", "b"));
    await lab.patch("apply", `${lab.core("configmaps", "b")}?fieldManager=m`, configMap("b"));
    await lab.get(lab.core("configmaps", "b"));
  },
  "generation of what is being deleted": async (lab) => {
    const path = lab.group("apps/v1", "deployments", "d");
    await lab.create(
      lab.group("apps/v1", "deployments"),
      deployment("d", {}, { finalizers: ["example.com/a"] }),
    );
    await lab.delete(path);
    await lab.delete(path);
    await lab.patch("merge", path, { spec: { replicas: 4 } });
    await lab.patch("merge", path, { metadata: { finalizers: [] } });
    await lab.get(path);
  },
  orphans: async (lab) => {
    const { owner, child } = await family(lab);
    await lab.delete(owner, options({ propagationPolicy: "Orphan" }));
    await lab.until(owner, isGone);
    await lab.until(
      child,
      ({ body }) =>
        isJsonObject(body) &&
        isJsonObject(body["metadata"]) &&
        body["metadata"]["ownerReferences"] === undefined,
    );
  },
  "in the background": async (lab) => {
    const { owner, child } = await family(lab);
    await lab.delete(owner, options({ propagationPolicy: "Background" }));
    await lab.get(owner);
    await lab.until(child, isGone);
  },
  "in the foreground": async (lab) => {
    const { owner, child } = await family(lab, { blockOwnerDeletion: true });
    await lab.delete(owner, options({ propagationPolicy: "Foreground" }));
    await lab.until(child, isGone);
    await lab.until(owner, isGone);
  },
  "in the foreground with a child that is held": async (lab) => {
    const { uid } = await lab.create(lab.core("configmaps"), configMap("owner"));
    const ownerReferences = [
      { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid, blockOwnerDeletion: true },
    ];
    await lab.create(
      lab.core("secrets"),
      secret("child", { ownerReferences, finalizers: ["example.com/a"] }),
    );
    await known(lab, "secrets", ownedSecret);
    await lab.delete(lab.core("configmaps", "owner"), options({ propagationPolicy: "Foreground" }));
    await lab.until(lab.core("secrets", "child"), ({ text }) => text.includes("deletionTimestamp"));
    await lab.get(lab.core("configmaps", "owner"));
    await lab.mustPatch(lab.core("secrets", "child"), { metadata: { finalizers: null } });
    await lab.until(lab.core("configmaps", "owner"), isGone);
  },
  "an owner that never was": async (lab) => {
    const ownerReferences = [
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        name: "none",
        uid: "44444444-4444-4444-8444-444444444444",
      },
    ];
    await lab.post(lab.core("secrets"), secret("child", { ownerReferences }));
    await lab.until(lab.core("secrets", "child"), isGone);
  },
  "one of two owners goes": async (lab) => {
    const first = await lab.create(lab.core("configmaps"), configMap("first"));
    const second = await lab.create(lab.core("configmaps"), configMap("second"));
    const reference = (name: string, uid: string): Json => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      name,
      uid,
    });
    await lab.create(
      lab.core("secrets"),
      secret("child", {
        ownerReferences: [reference("first", first.uid), reference("second", second.uid)],
      }),
    );
    await lab.delete(lab.core("configmaps", "first"));
    await lab.until(lab.core("secrets", "child"), ({ text }) => !text.includes('"first"'));
    await lab.delete(lab.core("configmaps", "second"));
    await lab.until(lab.core("secrets", "child"), isGone);
  },
  "an owner with another uid": async (lab) => {
    await lab.create(lab.core("configmaps"), configMap("owner"));
    const ownerReferences = [
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        name: "owner",
        uid: "44444444-4444-4444-8444-444444444444",
      },
    ];
    await lab.create(lab.core("secrets"), secret("child", { ownerReferences }));
    await lab.until(lab.core("secrets", "child"), isGone);
  },
  "three generations": async (lab) => {
    const { uid } = await lab.create(lab.core("configmaps"), configMap("a"));
    const b = await lab.create(
      lab.core("secrets"),
      secret("b", { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "a", uid }] }),
    );
    await lab.create(
      lab.core("configmaps"),
      configMap(
        "c",
        {},
        { ownerReferences: [{ apiVersion: "v1", kind: "Secret", name: "b", uid: b.uid }] },
      ),
    );
    await lab.delete(lab.core("configmaps", "a"));
    await lab.until(lab.core("configmaps", "c"), isGone);
  },
  "a deployment with what it would own": async (lab) => {
    const { uid } = await lab.create(lab.group("apps/v1", "deployments"), deployment("d"));
    const ownerReferences = [
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        name: "d",
        uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ];
    await lab.create(lab.core("pods"), pod("p", {}, { ownerReferences }));
    await known(lab, "pods", ownedPod);
    await lab.delete(
      lab.group("apps/v1", "deployments", "d"),
      options({ propagationPolicy: "Foreground" }),
    );
    await lab.until(lab.core("pods", "p"), isGone);
    await lab.until(lab.group("apps/v1", "deployments", "d"), isGone);
  },
  "a pod that nobody runs": async (lab) => {
    await lab.create(lab.core("pods"), pod("p"));
    await lab.delete(lab.core("pods", "p"));
    await lab.get(lab.core("pods", "p"));
  },
  "a pod on a node is given its time": async (lab) => {
    await lab.create(
      lab.core("pods"),
      pod("p", { nodeName: "n", terminationGracePeriodSeconds: 170 }),
    );
    await lab.delete(lab.core("pods", "p"));
    await lab.get(lab.core("pods", "p"));
    await lab.delete(lab.core("pods", "p"), options({ gracePeriodSeconds: 300 }));
    // Longer than any machine takes from the first to here: a time that is over is another matter.
    await lab.delete(lab.core("pods", "p"), options({ gracePeriodSeconds: 150 }));
    await lab.patch("merge", lab.core("pods", "p"), { metadata: { labels: { a: "b" } } });
    await lab.delete(lab.core("pods", "p"), options({ gracePeriodSeconds: 0 }));
    await lab.get(lab.core("pods", "p"));
  },
  "a pod on a node with a grace of more than 64 bits": async (lab) => {
    await lab.create(lab.core("pods"), pod("p", { nodeName: "n" }));
    await lab.delete(`${lab.core("pods", "p")}?gracePeriodSeconds=99999999999999999999`);
    await lab.get(lab.core("pods", "p"));
  },
  ...casesFor(
    {
      // A duration of it in 64 bits of nanoseconds is 3001 seconds.
      "2^55 + 3001": 2n ** 55n + 3001n,
      "2^63 - 1": 9_223_372_036_854_775_807n,
      "-2^63": -9_223_372_036_854_775_808n,
      "2^63": 9_223_372_036_854_775_808n,
    },
    "a pod on a node with a grace of % in a body",
    async (lab, seconds) => {
      const path = lab.core("pods", "p");
      await lab.create(lab.core("pods"), pod("p", { nodeName: "n" }));
      await lab.delete(path, options({ gracePeriodSeconds: seconds }));
      await lab.get(path);
      await lab.delete(path, options({ gracePeriodSeconds: seconds - 1n }));
      await lab.get(path);
    },
  ),
  "a pod on a node with a long grace in the query": async (lab) => {
    await lab.create(lab.core("pods"), pod("p", { nodeName: "n" }));
    await lab.delete(`${lab.core("pods", "p")}?gracePeriodSeconds=${2n ** 55n + 3001n}`);
    await lab.get(lab.core("pods", "p"));
  },
  "a pod on a node with a long time of its own": async (lab) => {
    const own = { nodeName: "n", terminationGracePeriodSeconds: 2n ** 55n + 3001n };
    await lab.create(lab.core("pods"), pod("p", own));
    await lab.delete(lab.core("pods", "p"));
    await lab.get(lab.core("pods", "p"));
    await lab.delete(lab.core("pods", "p"), options({ gracePeriodSeconds: 2n ** 55n + 3000n }));
    await lab.get(lab.core("pods", "p"));
  },
  "a pod that is being deleted with a negative grace": async (lab) => {
    await lab.create(lab.core("pods"), pod("p", { nodeName: "n" }));
    await lab.delete(lab.core("pods", "p"), options({ gracePeriodSeconds: 300 }));
    await lab.delete(lab.core("pods", "p"), options({ gracePeriodSeconds: -5 }));
    await lab.get(lab.core("pods", "p"));
  },
  "a pod on a node with a grace of its deleter": async (lab) => {
    await lab.create(lab.core("pods"), pod("p", { nodeName: "n" }));
    await lab.delete(`${lab.core("pods", "p")}?gracePeriodSeconds=7`);
    await lab.delete(`${lab.core("pods", "p")}?gracePeriodSeconds=0`);
    await lab.get(lab.core("pods", "p"));
  },
  "a pod that has finished": async (lab) => {
    await lab.create(lab.core("pods"), pod("p", { nodeName: "n" }));
    await lab.mustPatch(`${lab.core("pods", "p")}/status`, { status: { phase: "Succeeded" } });
    await lab.delete(lab.core("pods", "p"));
    await lab.get(lab.core("pods", "p"));
  },
  "a pod with a finalizer": async (lab) => {
    await lab.create(
      lab.core("pods"),
      pod("p", { nodeName: "n" }, { finalizers: ["example.com/a"] }),
    );
    await lab.delete(lab.core("pods", "p"));
    await lab.delete(lab.core("pods", "p"), options({ gracePeriodSeconds: 0 }));
    await lab.get(lab.core("pods", "p"));
    await lab.patch("merge", lab.core("pods", "p"), { metadata: { finalizers: null } });
    await lab.get(lab.core("pods", "p"));
  },
};

async function several(lab: Lab, more: Readonly<Record<string, string>> = {}): Promise<void> {
  for (const [name, team] of [
    ["a", "x"],
    ["b", "y"],
    ["c", "x"],
    ["d", "x"],
  ] as const) {
    await lab.create(lab.core("secrets"), secret(name, { labels: { team, ...more } }));
  }
}

const left = async (lab: Lab): Promise<void> => {
  const { body } = await lab.quietly({ path: lab.core("secrets") });
  lab.note(
    "left",
    (body as { items: { metadata: { name: string } }[] }).items.map(
      ({ metadata }) => metadata.name,
    ),
  );
};

const collections: Record<string, Script> = {
  all: async (lab) => {
    await several(lab);
    await lab.delete(lab.core("secrets"));
    await left(lab);
  },
  nothing: async (lab) => {
    await lab.delete(lab.core("secrets"));
    await lab.delete(`/api/v1/namespaces/nowhere-${lab.id}/secrets`);
  },
  "by label": async (lab) => {
    await several(lab);
    await lab.delete(`${lab.core("secrets")}?labelSelector=team%3Dx`);
    await left(lab);
  },
  "by field": async (lab) => {
    await several(lab);
    await lab.delete(`${lab.core("secrets")}?fieldSelector=metadata.name%3Db`);
    await left(lab);
  },
  "by an unknown field": async (lab) => {
    await several(lab);
    await lab.delete(`${lab.core("secrets")}?fieldSelector=spec.x%3Db`);
    await lab.delete(`${lab.core("secrets")}?labelSelector=%3D%3D`);
    await left(lab);
  },
  "a few at a time": async (lab) => {
    await several(lab);
    const { token } = await lab.delete(`${lab.core("secrets")}?limit=2`);
    await left(lab);
    await lab.delete(`${lab.core("secrets")}?limit=2&continue=${encodeURIComponent(token)}`);
    await left(lab);
  },
  "dry run": async (lab) => {
    await several(lab);
    await lab.delete(`${lab.core("secrets")}?dryRun=All`);
    await left(lab);
  },
  "with options": async (lab) => {
    await several(lab);
    await lab.delete(
      `${lab.core("secrets")}?labelSelector=team%3Dy`,
      options({ propagationPolicy: "Background" }),
    );
    await lab.delete(
      `${lab.core("secrets")}?labelSelector=team%3Dx`,
      options({ preconditions: { uid: "00000000-0000-4000-8000-000000000000" } }),
    );
    await lab.delete(lab.core("secrets"), options({ propagationPolicy: "Whatever" }));
    await left(lab);
  },
  "with finalizers": async (lab) => {
    await lab.create(lab.core("secrets"), secret("held", { finalizers: ["example.com/a"] }));
    await lab.create(lab.core("secrets"), secret("free"));
    await lab.delete(lab.core("secrets"));
    await lab.get(lab.core("secrets"));
  },
  "in all namespaces": async (lab) => {
    await several(lab, { case: lab.id });
    await lab.delete(`/api/v1/secrets?labelSelector=case%3D${lab.id}`);
    await left(lab);
  },
  "of a version": async (lab) => {
    await several(lab);
    await lab.untilCached(lab.core("secrets"));
    await lab.delete(`${lab.core("secrets")}?resourceVersion=0`);
    await left(lab);
  },
  "services are not deleted so": async (lab) => {
    await lab.delete(lab.core("services"));
    await lab.delete("/api/v1/namespaces?labelSelector=nothing%3Dhere");
  },
  "as rows": async (lab) => {
    await several(lab);
    await lab.delete(lab.core("secrets"), undefined, {
      headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" },
    });
    await left(lab);
  },
};

export const deleteCases = [...casesOf("deletes", scripts), ...casesOf("collections", collections)];
