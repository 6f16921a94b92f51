// Creating, updating and what the server does to metadata: KB 24 to 30, 39, 52.

import type { JsonObject } from "@keelson/base";
import { patchTypes } from "@keelson/kube";

import { casesOf, type Script } from "../case.ts";
import { configMap, deployment, pod, secret, service } from "../objects.ts";

const merge = { "content-type": patchTypes.merge };
const owner = {
  apiVersion: "v1",
  kind: "ConfigMap",
  name: "owner",
  uid: "11111111-1111-4111-8111-111111111111",
};

const scripts: Record<string, Script> = {
  "what only the server says is replaced or dropped": async (lab) => {
    const claimed = {
      uid: "22222222-2222-4222-8222-222222222222",
      creationTimestamp: "2020-01-01T00:00:00Z",
      deletionTimestamp: "2020-01-01T00:00:00Z",
      deletionGracePeriodSeconds: 5,
      selfLink: "/somewhere",
      generation: 17,
    };
    await lab.post(lab.core("configmaps"), configMap("a", {}, claimed));
    await lab.put(lab.group("batch/v1", "jobs", "a"), configMap("a", {}, claimed));
    await lab.put(lab.core("services", "s"), {
      ...service("s"),
      metadata: { name: "s", ...claimed, uid: "" },
    });
    await lab.patch(
      "apply",
      `${lab.core("configmaps", "b")}?fieldManager=m`,
      configMap("b", {}, { ...claimed, uid: "" }),
    );
  },
  "a POST with a version": async (lab) => {
    await lab.post(lab.core("configmaps"), configMap("a", {}, { resourceVersion: "5" }));
    await lab.post(lab.core("configmaps"), configMap("b", {}, { resourceVersion: "0" }));
    await lab.post(lab.core("configmaps"), configMap("c", {}, { resourceVersion: "" }));
    await lab.post(lab.core("configmaps"), configMap("d", {}, { resourceVersion: "abc" }));
  },
  "generated names": async (lab) => {
    await lab.post(lab.core("configmaps"), {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { generateName: "gen-a-" },
    });
    await lab.post(lab.core("configmaps"), {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { generateName: "gen-a-", name: "chosen" },
    });
    const { name } = await lab.quietly({
      method: "POST",
      path: lab.core("configmaps"),
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "x".repeat(100) } },
    });
    lab.note("cut", name.length);
    await lab.post(lab.core("configmaps"), {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { generateName: "gen-Not-Valid-" },
    });
    await lab.post(`${lab.core("configmaps")}?dryRun=All`, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { generateName: "gen-a-" },
    });
    await lab.post(lab.core("configmaps"), {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { generateName: "gen-.-" },
    });
    // The slash is cut away from the name.
    const metadata = { generateName: `${"x".repeat(60)}/-` };
    const { status, text } = await lab.quietly({
      method: "POST",
      path: lab.core("configmaps"),
      body: { apiVersion: "v1", kind: "ConfigMap", metadata },
    });
    lab.note("a slash", `${status} ${text.includes("may not contain '/'")}`);
  },
  "a stale version is a conflict": async (lab) => {
    const { version } = await lab.post(lab.core("configmaps"), configMap("a"));
    await lab.put(
      lab.core("configmaps", "a"),
      configMap("a", { a: "2" }, { resourceVersion: version }),
    );
    await lab.put(
      lab.core("configmaps", "a"),
      configMap("a", { a: "3" }, { resourceVersion: version }),
    );
    await lab.put(
      lab.core("configmaps", "a"),
      configMap("a", { a: "3" }, { resourceVersion: "0" }),
    );
    await lab.put(
      lab.core("configmaps", "a"),
      configMap("a", { a: "3" }, { resourceVersion: "abc" }),
    );
    await lab.put(
      lab.core("configmaps", "a"),
      configMap("a", { a: "3" }, { resourceVersion: "a\u007f\u2028" }),
    );
    await lab.put(
      lab.core("configmaps", "a"),
      configMap("a", { a: "4" }, { resourceVersion: "999999999" }),
    );
    await lab.put(
      lab.group("apps/v1", "deployments", "none"),
      deployment("none", {}, { resourceVersion: "1" }),
    );
  },
  "a patch with a version": async (lab) => {
    const { version } = await lab.post(lab.core("configmaps"), configMap("a"));
    await lab.patch("merge", lab.core("configmaps", "a"), {
      metadata: { resourceVersion: version },
      data: { a: "2" },
    });
    await lab.patch("merge", lab.core("configmaps", "a"), {
      metadata: { resourceVersion: version },
      data: { a: "3" },
    });
    await lab.patch("merge", lab.core("configmaps", "a"), {
      metadata: { resourceVersion: null },
      data: { a: "4" },
    });
    await lab.patch("strategic", lab.core("configmaps", "a"), {
      metadata: { resourceVersion: version },
      data: { a: "5" },
    });
    await lab.patch("json", lab.core("configmaps", "a"), [
      { op: "replace", path: "/metadata/resourceVersion", value: version },
    ]);
  },
  "names and namespaces that do not agree": async (lab) => {
    await lab.post(lab.core("configmaps"), configMap("a", {}, { namespace: "elsewhere" }));
    await lab.create(lab.core("configmaps"), configMap("a"));
    await lab.put(lab.core("configmaps", "a"), configMap("b"));
    await lab.put(lab.core("configmaps", "a"), configMap("a", {}, { namespace: "elsewhere" }));
    await lab.put(lab.core("configmaps", "a"), {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {},
    });
    await lab.put(lab.core("configmaps", "a"), { apiVersion: "v1", kind: "ConfigMap" });
    await lab.patch("merge", lab.core("configmaps", "a"), { metadata: { name: "b" } });
    await lab.patch("merge", lab.core("configmaps", "a"), { metadata: { namespace: "elsewhere" } });
    await lab.patch("merge", lab.core("configmaps", "a"), {
      metadata: { uid: "33333333-3333-4333-8333-333333333333" },
    });
    await lab.put(
      lab.core("configmaps", "a"),
      configMap("a", {}, { uid: "33333333-3333-4333-8333-333333333333" }),
    );
    await lab.patch("merge", lab.core("configmaps", "a"), {
      metadata: { creationTimestamp: "2020-01-01T00:00:00Z" },
    });
    await lab.patch("merge", lab.core("configmaps", "a"), {
      metadata: { creationTimestamp: null, generation: 7, selfLink: "x" },
    });
    await lab.post("/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: `n-${lab.id}`, namespace: "x" },
    });
  },
  "kinds and versions that do not agree": async (lab) => {
    await lab.post(lab.core("configmaps"), secret("a"));
    await lab.post(lab.core("configmaps"), {
      apiVersion: "v2",
      kind: "ConfigMap",
      metadata: { name: "a" },
    });
    await lab.post(lab.core("configmaps"), { kind: "ConfigMap", metadata: { name: "a" } });
    await lab.post(lab.core("configmaps"), { apiVersion: "v1", metadata: { name: "a" } });
    await lab.post(lab.core("configmaps"), { metadata: { name: "b" } });
    await lab.post(lab.core("configmaps"), {});
    await lab.post(lab.group("apps/v1", "deployments"), {
      ...deployment("d"),
      apiVersion: "extensions/v1beta1",
    });
    await lab.post(lab.group("apps/v1", "deployments"), {
      ...deployment("d"),
      apiVersion: "apps/v1beta1",
    });
    await lab.post(lab.core("configmaps"), { apiVersion: "v1", kind: "ConfigMapList", items: [] });
    await lab.post(lab.core("configmaps"), { apiVersion: "v1", kind: "List", items: [] });
    await lab.post(lab.core("configmaps"), {
      apiVersion: "a/b/c",
      kind: "ConfigMap",
      metadata: { name: "a" },
    });
    await lab.create(lab.core("configmaps"), configMap("p"));
    await lab.patch("merge", lab.core("configmaps", "p"), { kind: "Secret" });
    await lab.patch("merge", lab.core("configmaps", "p"), { apiVersion: "v2" });
    await lab.patch("merge", lab.core("configmaps", "p"), { kind: "Service" });
    await lab.patch("merge", lab.core("configmaps", "p"), {
      kind: "Deployment",
      apiVersion: "apps/v1",
    });
    await lab.patch("merge", lab.core("configmaps", "p"), { kind: "ConfigMapList" });
    await lab.patch("merge", lab.core("configmaps", "p"), { kind: null });
    await lab.patch("strategic", lab.core("configmaps", "p"), { kind: "Secret" });
    await lab.patch("strategic", lab.core("configmaps", "p"), { apiVersion: "v2" });
    await lab.post(lab.core("configmaps"), secret("a", {}, { data: { c: "not base64" } }));
  },
  "a write that changes nothing keeps its version": async (lab) => {
    const { body } = await lab.post(lab.core("configmaps"), configMap("a"));
    await lab.put(lab.core("configmaps", "a"), configMap("a"));
    await lab.put(lab.core("configmaps", "a"), body);
    await lab.put(`${lab.core("configmaps", "a")}?fieldManager=other`, configMap("a"));
    await lab.patch("merge", lab.core("configmaps", "a"), { data: { a: "1" } });
    await lab.patch("merge", lab.core("configmaps", "a"), {});
    await lab.patch("json", lab.core("configmaps", "a"), []);
    await lab.patch("strategic", lab.core("configmaps", "a"), {});
    await lab.get(lab.core("configmaps", "a"));
  },
  "quantities that mean the same are no change": async (lab) => {
    const sized = (cpu: string): JsonObject =>
      pod("p", { containers: [{ name: "main", image: "i", resources: { requests: { cpu } } }] });
    await lab.post(lab.core("pods"), sized("1000m"));
    await lab.put(lab.core("pods", "p"), sized("1"));
    await lab.put(lab.core("pods", "p"), sized("1.0"));
    await lab.put(lab.core("pods", "p"), sized("1001m"));
  },
  "generation follows what is asked for": async (lab) => {
    const path = lab.group("apps/v1", "deployments", "d");
    await lab.post(lab.group("apps/v1", "deployments"), deployment("d"));
    await lab.patch("merge", path, { metadata: { labels: { a: "b" } } });
    await lab.patch("merge", path, { spec: { replicas: 3 } });
    await lab.patch("merge", `${path}/status`, {
      status: { replicas: 3, observedGeneration: 2 },
      spec: { replicas: 7 },
    });
    await lab.patch("merge", path, { status: { replicas: 9 } });
    await lab.put(path, deployment("d", { replicas: 3 }));
    await lab.get(path);
  },
  "owner references": async (lab) => {
    await lab.post(lab.core("configmaps"), configMap("a", {}, { ownerReferences: [owner, owner] }));
    await lab.post(
      lab.core("configmaps"),
      configMap(
        "b",
        {},
        {
          ownerReferences: [
            { ...owner, controller: true },
            { ...owner, uid: "x", controller: true },
          ],
        },
      ),
    );
    await lab.post(
      lab.core("configmaps"),
      configMap("c", {}, { ownerReferences: [{ ...owner, uid: "" }] }),
    );
    await lab.post(
      lab.core("configmaps"),
      configMap(
        "d",
        {},
        { ownerReferences: [{ apiVersion: "v1", kind: "Event", name: "e", uid: "u" }] },
      ),
    );
    await lab.post(
      lab.core("configmaps"),
      configMap("e", {}, { ownerReferences: [{ kind: "ConfigMap", name: "e", uid: "u" }] }),
    );
  },
  "labels, annotations and finalizers that are not allowed": async (lab) => {
    for (const metadata of [
      { labels: { "-bad": "x" } },
      { labels: { good: "not good" } },
      { labels: { good: "x".repeat(64) } },
      { labels: { "a/b/c": "x" } },
      { annotations: { "not good": "x" } },
      { annotations: { UPPER: "fine" } },
      { finalizers: ["unqualified"] },
      { finalizers: ["example.com/f", "not good"] },
      { finalizers: ["orphan", "foregroundDeletion"] },
      { finalizers: [""] },
      { name: "UPPER" },
      { name: "a_b" },
      { name: "x".repeat(254) },
      { name: "a/b" },
      { name: "." },
      { name: "a%b" },
      {
        managedFields: [
          {
            manager: "m",
            operation: "Strange",
            apiVersion: "v1",
            fieldsType: "FieldsV1",
            fieldsV1: {},
          },
        ],
      },
      {
        managedFields: [
          {
            manager: "m",
            operation: "Update",
            apiVersion: "v1",
            fieldsType: "FieldsV2",
            fieldsV1: {},
          },
        ],
      },
      {
        managedFields: [
          {
            manager: "x".repeat(129),
            operation: "Update",
            apiVersion: "v1",
            fieldsType: "FieldsV1",
            fieldsV1: {},
          },
        ],
      },
    ]) {
      await lab.post(lab.core("configmaps"), configMap("a", {}, metadata));
    }
  },
  "annotations beyond their size": async (lab) => {
    await lab.post(
      lab.core("configmaps"),
      configMap("a", {}, { annotations: { big: "x".repeat(262_140) } }),
    );
    await lab.post(
      lab.core("configmaps"),
      configMap("b", {}, { annotations: { big: "x".repeat(262_144) } }),
    );
  },
  "dry runs of every verb": async (lab) => {
    await lab.create(lab.core("configmaps"), configMap("a"));
    await lab.post(`${lab.core("configmaps")}?dryRun=All`, configMap("b"));
    await lab.post(`${lab.core("configmaps")}?dryRun=All`, configMap("a"));
    await lab.put(`${lab.core("configmaps", "a")}?dryRun=All`, configMap("a", { a: "2" }));
    await lab.patch("merge", `${lab.core("configmaps", "a")}?dryRun=All`, { data: { a: "3" } });
    await lab.patch(
      "apply",
      `${lab.core("configmaps", "a")}?dryRun=All&fieldManager=m&force=true`,
      configMap("a", { a: "4" }),
    );
    await lab.patch(
      "apply",
      `${lab.core("configmaps", "c")}?dryRun=All&fieldManager=m`,
      configMap("c"),
    );
    await lab.delete(`${lab.core("configmaps", "a")}?dryRun=All`);
    await lab.delete(`${lab.core("secrets")}?dryRun=All`);
    await lab.get(lab.core("configmaps", "a"));
    await lab.get(lab.core("configmaps", "b"));
    await lab.get(lab.core("configmaps", "c"));
  },
  "dry runs that are none": async (lab) => {
    await lab.post(`${lab.core("configmaps")}?dryRun=Some`, configMap("a"));
    await lab.post(`${lab.core("configmaps")}?dryRun=`, configMap("a"));
    await lab.post(`${lab.core("configmaps")}?dryRun=All&dryRun=All`, configMap("b"));
    await lab.delete(`${lab.core("configmaps", "a")}?dryRun=Some`);
    await lab.delete(lab.core("configmaps", "a"), {
      apiVersion: "v1",
      kind: "DeleteOptions",
      dryRun: ["All"],
    });
    await lab.delete(lab.core("configmaps", "a"), {
      apiVersion: "v1",
      kind: "DeleteOptions",
      dryRun: ["Some"],
    });
    await lab.patch("merge", `${lab.core("configmaps", "a")}?dryRun=true`, {});
  },
  "a hundred patches at once all succeed": async (lab) => {
    await lab.create(lab.core("configmaps"), configMap("a", {}));
    const answers = await Promise.all(
      Array.from(
        { length: 100 },
        async (_, index) =>
          await lab.quietly({
            method: "PATCH",
            path: lab.core("configmaps", "a"),
            body: { data: { [`k${index}`]: "1" } },
            headers: merge,
          }),
      ),
    );
    lab.note("statuses", [...new Set(answers.map(({ status }) => status))]);
    const { body } = await lab.quietly({ path: lab.core("configmaps", "a") });
    lab.note("keys", Object.keys((body as { data: JsonObject }).data).length);
  },
  "a label that looks like an amount is a text": async (lab) => {
    const labelled = (max: string): JsonObject => ({
      selector: { matchLabels: { app: "x", max } },
      template: { metadata: { labels: { app: "x", max } } },
    });
    const { selector } = labelled("1");
    const template = {
      metadata: { labels: { app: "x", max: "1" } },
      spec: { containers: [{ name: "c", image: "c:1" }] },
    };
    await lab.post(
      lab.group("apps/v1", "deployments"),
      deployment("d", { selector: selector ?? null, template }),
    );
    const spec = labelled("1.0");
    await lab.patch("merge", lab.group("apps/v1", "deployments", "d"), { spec });
  },
};

export const writeCases = casesOf("writes", scripts);
