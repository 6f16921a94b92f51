// Namespaces, what is in them from the start, and their end: KB 75 and §2.1.

import { isJsonObject, type Json } from "@keelson/base";

import { casesFor, casesOf, type Script } from "../case.ts";
import { configMap, pod } from "../objects.ts";

const namespace = (name: string, more: Record<string, Json> = {}): Record<string, Json> => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, ...more },
});

const scripts: Record<string, Script> = {
  "created, changed, deleted": async (lab) => {
    const name = `n-${lab.id}`;
    await lab.post(
      "/api/v1/namespaces",
      namespace(name, { labels: { "pod-security.kubernetes.io/enforce": "privileged" } }),
    );
    await lab.post("/api/v1/namespaces", namespace(name));
    await lab.get(`/api/v1/namespaces/${name}`);
    await lab.patch("merge", `/api/v1/namespaces/${name}`, { metadata: { labels: { a: "b" } } });
    await lab.put(`/api/v1/namespaces/${name}`, namespace(name, { labels: { c: "d" } }));
    await lab.patch("merge", `/api/v1/namespaces/${name}`, { spec: { finalizers: [] } });
    await lab
      .patch("merge", `/api/v1/namespaces/${name}/status`, { status: { phase: "Terminating" } })
      .then(() => lab.observations.pop());
    await lab.delete(`/api/v1/namespaces/${name}`);
    await lab.until(`/api/v1/namespaces/${name}`, ({ status }) => status === 404);
    await lab.delete(`/api/v1/namespaces/${name}`);
  },
  "what is in it goes with it": async (lab) => {
    const name = `n-${lab.id}`;
    await lab.create("/api/v1/namespaces", namespace(name));
    await lab.create(`/api/v1/namespaces/${name}/configmaps`, configMap("a"));
    await lab.create(`/apis/apps/v1/namespaces/${name}/deployments`, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "d" },
      spec: {
        selector: { matchLabels: { a: "b" } },
        template: {
          metadata: { labels: { a: "b" } },
          spec: { containers: [{ name: "c", image: "i" }] },
        },
      },
    });
    await lab.must({ method: "DELETE", path: `/api/v1/namespaces/${name}` });
    await lab.until(`/api/v1/namespaces/${name}`, ({ status }) => status === 404);
    await lab.get(`/api/v1/namespaces/${name}/configmaps/a`);
    await lab.get(`/apis/apps/v1/namespaces/${name}/deployments`);
    await lab.post("/api/v1/namespaces", namespace(name));
    await lab.get(`/apis/apps/v1/namespaces/${name}/deployments`);
  },
  "while it is held": async (lab) => {
    const name = `n-${lab.id}`;
    const at = `/api/v1/namespaces/${name}/configmaps`;
    await lab.create("/api/v1/namespaces", namespace(name));
    await lab.create(at, configMap("held", {}, { finalizers: ["example.com/a"] }));
    await lab.delete(`/api/v1/namespaces/${name}`);
    await lab.until(`${at}/held`, ({ text }) => text.includes("deletionTimestamp"));
    await lab.post(at, configMap("late"));
    await lab.put(`/apis/coordination.k8s.io/v1/namespaces/${name}/leases/late`, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "late" },
    });
    await lab.patch("apply", `${at}/late?fieldManager=m`, configMap("late"));
    await lab.patch("merge", `${at}/held`, { data: { still: "1" } });
    await lab.statusOf({ method: "DELETE", path: `/api/v1/namespaces/${name}` });
    // Of a real server it may fail at first: kinds of other cases come and go.
    const held = await lab.until(
      `/api/v1/namespaces/${name}`,
      ({ text }) =>
        text.includes("NamespaceFinalizersRemaining") &&
        text.includes("NamespaceContentRemaining") &&
        !/"(DiscoveryFailed|ContentDeletionFailed)"/.test(text),
    );
    lab.observations.pop();
    const status =
      isJsonObject(held.body) && isJsonObject(held.body["status"]) ? held.body["status"] : {};
    const conditions = (Array.isArray(status["conditions"]) ? status["conditions"] : []) as {
      type: string;
      status: string;
      reason: string;
      message: string;
    }[];
    lab.note(
      "conditions",
      conditions
        .map(({ type, status, reason }) => [type, status, reason])
        .toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1)),
    );
    await lab.mustPatch(`${at}/held`, { metadata: { finalizers: null } });
    await lab.until(`/api/v1/namespaces/${name}`, ({ status }) => status === 404);
  },
  ...casesFor(
    { default: "default", "kube-system": "kube-system", "kube-public": "kube-public" },
    "% stays",
    async (lab, name) => {
      await lab.delete(`/api/v1/namespaces/${name}?dryRun=All`);
      await lab.delete(`/api/v1/namespaces/${name}`);
    },
  ),
  "bad names": async (lab) => {
    for (const name of ["Upper", "a.b", "a_b", "x".repeat(64), "-a", "1"])
      await lab.post("/api/v1/namespaces?dryRun=All", namespace(name));
    await lab.post("/api/v1/namespaces?dryRun=All", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { generateName: "gen-n-" },
    });
  },
  finalize: async (lab) => {
    const name = `n-${lab.id}`;
    await lab.create("/api/v1/namespaces", {
      ...namespace(name),
      spec: { finalizers: ["kubernetes", "example.com/a"] },
    });
    await lab.get(`/api/v1/namespaces/${name}`);
    await lab.put(`/api/v1/namespaces/${name}/finalize`, {
      ...namespace(name),
      spec: { finalizers: ["kubernetes"] },
    });
    await lab.must({ method: "DELETE", path: `/api/v1/namespaces/${name}` });
    await lab.until(`/api/v1/namespaces/${name}`, ({ status }) => status === 404);
  },
  "from the start": async (lab) => {
    for (const name of ["default", "kube-system", "kube-public", "kube-node-lease"]) {
      const { body } = await lab.quietly({ path: `/api/v1/namespaces/${name}` });
      const { metadata, spec, status } = body as {
        metadata?: { labels?: Json };
        spec?: Json;
        status?: Json;
      };
      lab.note(name, [metadata?.labels ?? null, spec ?? null, status ?? null]);
    }
    const { body } = await lab.quietly({ path: "/api/v1/namespaces/default/services/kubernetes" });
    const { metadata, spec } = body as {
      metadata?: { labels?: Json };
      spec?: { ports?: { name: string; port: number; protocol: string }[]; type?: string };
    };
    lab.note("kubernetes", [
      metadata?.labels ?? null,
      spec?.type ?? null,
      spec?.ports?.map(({ name, port, protocol }): Json => [name, port, protocol]) ?? null,
    ]);
    for (const path of [
      "/apis/scheduling.k8s.io/v1/priorityclasses/system-cluster-critical",
      "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical",
    ]) {
      const { body } = await lab.quietly({ path });
      const { metadata: _, ...rest } = body as { metadata: Json };
      lab.note(path, rest);
    }
    const account = await lab.until(
      lab.core("serviceaccounts", "default"),
      ({ status }) => status === 200,
    );
    lab.observations.pop();
    lab.note("account", account.name);
    const root = await lab.until(
      lab.core("configmaps", "kube-root-ca.crt"),
      ({ status }) => status === 200,
    );
    lab.observations.pop();
    const { data, metadata: rootMetadata } = root.body as {
      data: Record<string, string>;
      metadata: { annotations?: Json };
    };
    lab.note("root", [
      Object.keys(data),
      data["ca.crt"]?.startsWith("-----BEGIN CERTIFICATE") ?? false,
      rootMetadata.annotations ?? null,
    ]);
    await lab.must({ method: "DELETE", path: lab.core("configmaps", "kube-root-ca.crt") });
    const again = await lab.until(
      lab.core("configmaps", "kube-root-ca.crt"),
      ({ status, uid }) => status === 200 && uid !== root.uid,
    );
    lab.observations.pop();
    lab.note("came back", again.status === 200 && again.uid !== root.uid);
  },
  "an account gives pods their tokens": async (lab) => {
    await lab.post(lab.core("pods"), {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p" },
      spec: { containers: [{ name: "c", image: "i" }] },
    });
    await lab.post(lab.core("pods"), {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "q" },
      spec: { serviceAccountName: "nobody", containers: [{ name: "c", image: "i" }] },
    });
    await lab.post(lab.core("pods"), pod("r", { priorityClassName: "system-node-critical" }));
    await lab.post(lab.core("pods"), pod("s", { priorityClassName: "nothing" }));
    await lab.post(lab.core("pods"), pod("t", { runtimeClassName: "nothing" }));
  },
  "limits give pods theirs": async (lab) => {
    await lab.create(lab.core("limitranges"), {
      apiVersion: "v1",
      kind: "LimitRange",
      metadata: { name: "l" },
      spec: {
        limits: [
          {
            type: "Container",
            default: { cpu: "500m" },
            defaultRequest: { cpu: "250m" },
            max: { cpu: "2" },
          },
        ],
      },
    });
    await lab.post(lab.core("pods"), pod("p"));
    await lab.post(
      lab.core("pods"),
      pod("q", { containers: [{ name: "c", image: "i", resources: { limits: { cpu: "3" } } }] }),
    );
  },
};

export const namespaceCases = casesOf("namespaces", scripts);
