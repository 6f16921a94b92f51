// Status, scale, binding, eviction, tokens, approvals: KB 45, 58, 63, 64.

import type { Json, JsonObject } from "@keelson/base";

import { certificateRequest } from "../../oracle/kinds/fixed-pem.ts";
import { casesFor, casesOf, type Script } from "../case.ts";
import { definition, deployment, pod, podTemplate, serviceAccount } from "../objects.ts";
import { createKind } from "./custom-kinds.ts";

const scale = (name: string, replicas: Json, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: "autoscaling/v1",
  kind: "Scale",
  metadata: { name, ...metadata },
  spec: { replicas },
});

const scripts: Record<string, Script> = {
  ...casesFor<readonly [string, string, JsonObject]>(
    {
      Deployment: [
        "apps/v1",
        "deployments",
        { selector: { matchLabels: { app: "x" } }, template: podTemplate() },
      ],
      ReplicaSet: [
        "apps/v1",
        "replicasets",
        { selector: { matchLabels: { app: "x" } }, template: podTemplate() },
      ],
      StatefulSet: [
        "apps/v1",
        "statefulsets",
        { serviceName: "s", selector: { matchLabels: { app: "x" } }, template: podTemplate() },
      ],
      ReplicationController: [
        "v1",
        "replicationcontrollers",
        { selector: { app: "x" }, template: podTemplate() },
      ],
    },
    "scale of a %",
    async (lab, [groupVersion, plural, spec]) => {
      const kind =
        {
          deployments: "Deployment",
          replicasets: "ReplicaSet",
          statefulsets: "StatefulSet",
          replicationcontrollers: "ReplicationController",
        }[plural] ?? "";
      const collection = groupVersion === "v1" ? lab.core(plural) : lab.group(groupVersion, plural);
      const { version } = await lab.create(collection, {
        apiVersion: groupVersion,
        kind,
        metadata: { name: "d" },
        spec,
      });
      const path = `${collection}/d/scale`;
      await lab.get(path);
      await lab.put(path, scale("d", 3));
      await lab.put(path, scale("d", 4, { resourceVersion: version }));
      await lab.put(path, scale("d", -1));
      await lab.put(path, scale("d", "two"));
      await lab.put(path, scale("other", 2));
      await lab.put(path, { ...scale("d", 2), apiVersion: "extensions/v1beta1" });
      await lab.put(path, deployment("d"));
      await lab.patch("merge", path, { spec: { replicas: 5 } });
      await lab.patch("json", path, [{ op: "replace", path: "/spec/replicas", value: 6 }]);
      await lab.patch("strategic", path, { spec: { replicas: 7 } });
      await lab.patch("merge", path, { status: { replicas: 7 } });
      await lab.patch("merge", path, { spec: { replicas: null } });
      await lab.patch("merge", `${path}?dryRun=All`, { spec: { replicas: 9 } });
      await lab.patch("merge", path, { spec: { unknownField: 1 } });
      await lab.get(`${collection}/d`);
      await lab.get(path, { headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" } });
      await lab.get(`${collection}/none/scale`);
      await lab.put(`${collection}/none/scale`, scale("none", 1));
    },
  ),
  "scale and status of a custom resource": async (lab) => {
    const group = `s-${lab.id}.example.com`;
    const schema = {
      type: "object",
      properties: {
        spec: { type: "object", properties: { replicas: { type: "integer", minimum: 0 } } },
        status: {
          type: "object",
          properties: {
            replicas: { type: "integer" },
            selector: { type: "string" },
            phase: { type: "string", default: "new" },
          },
        },
      },
    };
    await createKind(
      lab,
      definition({
        group,
        kind: "Thing",
        schema,
        version: {
          subresources: {
            status: {},
            scale: {
              specReplicasPath: ".spec.replicas",
              statusReplicasPath: ".status.replicas",
              labelSelectorPath: ".status.selector",
            },
          },
        },
      }),
    );
    const collection = lab.group(`${group}/v1`, "things");
    const thing = (more: JsonObject): JsonObject => ({
      apiVersion: `${group}/v1`,
      kind: "Thing",
      metadata: { name: "t" },
      ...more,
    });
    await lab.post(collection, thing({ spec: {}, status: { replicas: 9 } }));
    await lab.get(`${collection}/t/scale`);
    await lab.patch("merge", `${collection}/t`, { spec: { replicas: 2 }, status: { replicas: 5 } });
    await lab.get(`${collection}/t/scale`);
    await lab.put(`${collection}/t/scale`, scale("t", 4));
    await lab.put(`${collection}/t/scale`, scale("t", -4));
    await lab.patch("merge", `${collection}/t/scale`, { spec: { replicas: 6 } });
    await lab.patch("merge", `${collection}/t/status`, {
      spec: { replicas: 77 },
      status: { replicas: 6, selector: "a=b" },
      metadata: { labels: { x: "y" } },
    });
    await lab.get(`${collection}/t/scale`);
    await lab.put(`${collection}/t/status`, thing({ status: { phase: "done" } }));
    await lab.get(`${collection}/t/status`);
    await lab.patch("json", `${collection}/t/status`, [
      { op: "add", path: "/status/replicas", value: "x" },
    ]);
    await lab.get(`${collection}/t/nothing`);
  },
  "without subresources": async (lab) => {
    const group = `n-${lab.id}.example.com`;
    await createKind(
      lab,
      definition({
        group,
        kind: "Thing",
        schema: {
          type: "object",
          properties: {
            spec: { type: "object", properties: { a: { type: "string" } } },
            status: { type: "object", properties: { p: { type: "string" } } },
          },
        },
      }),
    );
    const collection = lab.group(`${group}/v1`, "things");
    await lab.post(collection, {
      apiVersion: `${group}/v1`,
      kind: "Thing",
      metadata: { name: "t" },
      spec: { a: "1" },
      status: { p: "x" },
    });
    await lab.patch("merge", `${collection}/t`, { status: { p: "y" } });
    await lab.patch("merge", `${collection}/t`, { metadata: { labels: { a: "b" } } });
    await lab.get(`${collection}/t/status`);
    await lab.put(`${collection}/t/status`, {});
    await lab.get(`${collection}/t/scale`);
  },
  "status of a pod": async (lab) => {
    await lab.post(lab.core("pods"), { ...pod("p"), status: { phase: "Running" } });
    const path = lab.core("pods", "p");
    await lab.patch("merge", `${path}/status`, {
      status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
      spec: { nodeName: "n" },
      metadata: { labels: { a: "b" } },
    });
    await lab.patch("strategic", `${path}/status`, {
      status: { conditions: [{ type: "Initialized", status: "True" }] },
    });
    await lab.patch("strategic", `${path}/status`, {
      status: { conditions: [{ type: "Ready", $patch: "delete" }] },
    });
    await lab.patch("merge", path, { status: { phase: "Failed" } });
    await lab.patch("merge", `${path}/status`, { status: { phase: "Strange" } });
    await lab.get(path);
  },
  "a pod changes little": async (lab) => {
    await lab.create(lab.core("pods"), pod("p"));
    const path = lab.core("pods", "p");
    await lab.patch("strategic", path, {
      spec: { containers: [{ name: "main", image: "main:2" }] },
    });
    await lab.patch("merge", path, { spec: { nodeName: "n" } });
    await lab.patch("merge", path, { spec: { activeDeadlineSeconds: 5 } });
    await lab.patch("merge", path, { spec: { tolerations: [] } });
    await lab.patch("strategic", path, {
      spec: { containers: [{ name: "main", command: ["x"] }] },
    });
    await lab.patch("strategic", path, { spec: { containers: [{ name: "second", image: "i" }] } });
    await lab.patch("merge", path, { spec: { restartPolicy: "Never" } });
    await lab.patch("merge", path, { spec: { terminationGracePeriodSeconds: 1 } });
  },
  "binding a pod": async (lab) => {
    await lab.create(lab.core("pods"), pod("p"));
    await lab.create(lab.core("pods"), pod("q"));
    const binding = (name: string, target: JsonObject): JsonObject => ({
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name },
      target,
    });
    await lab.post(`${lab.core("pods", "p")}/binding`, binding("p", { kind: "Node", name: "n1" }));
    await lab.get(lab.core("pods", "p"));
    await lab.post(`${lab.core("pods", "p")}/binding`, binding("p", { kind: "Node", name: "n2" }));
    await lab.post(`${lab.core("pods", "q")}/binding`, binding("q", { kind: "Node", name: "" }));
    await lab.post(`${lab.core("pods", "q")}/binding`, binding("q", { kind: "Planet", name: "n" }));
    await lab.post(
      `${lab.core("pods", "q")}/binding`,
      binding("other", { kind: "Node", name: "n" }),
    );
    await lab.post(
      `${lab.core("pods", "none")}/binding`,
      binding("none", { kind: "Node", name: "n" }),
    );
    await lab.post(lab.core("bindings"), binding("q", { kind: "Node", name: "n3" }));
    await lab.get(lab.core("pods", "q"));
  },
  "evicting a pod": async (lab) => {
    const eviction = (name: string, more: JsonObject = {}): JsonObject => ({
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name },
      ...more,
    });
    await lab.create(lab.core("pods"), pod("a"));
    await lab.post(`${lab.core("pods", "a")}/eviction?dryRun=All`, eviction("a"));
    await lab.post(`${lab.core("pods", "a")}/eviction`, eviction("other"));
    await lab.post(`${lab.core("pods", "a")}/eviction`, eviction("a"));
    await lab.get(lab.core("pods", "a"));
    await lab.post(`${lab.core("pods", "none")}/eviction`, eviction("none"));
    await lab.create(lab.core("pods"), pod("b", {}, { labels: { app: "x" } }));
    await lab.create(lab.group("policy/v1", "poddisruptionbudgets"), {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "x" },
      spec: { minAvailable: 1, selector: { matchLabels: { app: "x" } } },
    });
    await lab.mustPatch(`${lab.core("pods", "b")}/status`, {
      status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
    });
    await lab.post(`${lab.core("pods", "b")}/eviction`, eviction("b"));
  },
  "ephemeral containers and resize": async (lab) => {
    await lab.create(lab.core("pods"), pod("p"));
    await lab.patch("strategic", `${lab.core("pods", "p")}/ephemeralcontainers`, {
      spec: { ephemeralContainers: [{ name: "debug", image: "d" }] },
    });
    await lab.get(lab.core("pods", "p"));
    await lab.patch("merge", lab.core("pods", "p"), { spec: { ephemeralContainers: null } });
    await lab.patch("merge", `${lab.core("pods", "p")}/ephemeralcontainers`, {
      metadata: { labels: { sneaked: "in" } },
      spec: { ephemeralContainers: [{ name: "debug", image: "other" }] },
    });
    await lab.patch("merge", `${lab.core("pods", "p")}/ephemeralcontainers`, {
      spec: { ephemeralContainers: null },
    });
    const path = `${lab.core("pods", "p")}/resize`;
    const sized = (name: string, resources: JsonObject): JsonObject => ({
      metadata: { labels: { sneaked: "in" } },
      spec: { containers: [{ name, image: "other", resources }] },
    });
    await lab.patch("strategic", path, sized("c", { requests: { cpu: "1" } }));
    const container = { name: "c", image: "i", resources: { requests: { cpu: "1" } } };
    await lab.create(lab.core("pods"), pod("q", { containers: [container] }));
    const other = `${lab.core("pods", "q")}/resize`;
    await lab.patch("strategic", other, sized("c", { requests: { cpu: "2" } }));
    await lab.patch("strategic", other, sized("c", { requests: { cpu: "2" } }));
    await lab.patch("strategic", other, sized("c", { requests: { memory: "1Gi" } }));
    await lab.patch("merge", other, sized("c", {}));
    await lab.patch("merge", other, sized("d", { requests: { cpu: "2" } }));
    await lab.get(lab.core("pods", "q"));
  },
  "tokens of an account": async (lab) => {
    await lab.create(lab.core("serviceaccounts"), serviceAccount("robot"));
    const path = `${lab.core("serviceaccounts", "robot")}/token`;
    const request = (spec: JsonObject): JsonObject => ({
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec,
    });
    await lab.post(path, request({}));
    await lab.post(path, request({ audiences: ["other"], expirationSeconds: 600 }));
    await lab.post(path, request({ expirationSeconds: 599 }));
    await lab.post(path, request({ expirationSeconds: 10_000_000_000 }));
    await lab.post(
      path,
      request({ boundObjectRef: { kind: "Secret", apiVersion: "v1", name: "none" } }),
    );
    await lab.post(
      path,
      request({ boundObjectRef: { kind: "Planet", apiVersion: "v1", name: "none" } }),
    );
    await lab.post(`${lab.core("serviceaccounts", "none")}/token`, request({}));
    await lab.post(`${path}?dryRun=All`, request({}));
    await lab.post(path, {});
  },
  "status that a create may not set": async (lab) => {
    await lab.post(lab.group("apps/v1", "deployments"), {
      ...deployment("d"),
      status: { replicas: 5 },
    });
    await lab.post("/api/v1/nodes", {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: `n-${lab.id}` },
      status: { phase: "Running", capacity: { cpu: "1" } },
    });
    await lab.put(`${lab.group("apps/v1", "deployments", "d")}/status`, {
      ...deployment("d", { replicas: 9 }, { labels: { a: "b" } }),
      status: { replicas: 5 },
    });
    await lab.delete(`/api/v1/nodes/n-${lab.id}`);
  },
  "approval of a request": async (lab) => {
    const path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    await lab.post(path, {
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name: `r-${lab.id}` },
      spec: { request: "eA==", signerName: "example.com/x", usages: ["client auth"] },
    });
    await lab.patch("merge", `${path}/none-${lab.id}/approval`, { status: {} });
    const name = `s-${lab.id}`;
    await lab.post(path, {
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name },
      spec: {
        request: Buffer.from(certificateRequest).toString("base64"),
        signerName: "example.com/x",
        usages: ["client auth"],
      },
    });
    const approved = [{ type: "Approved", status: "True", reason: "R", message: "m" }];
    await lab.patch("merge", `${path}/${name}/status`, { status: { conditions: approved } });
    await lab.patch("merge", `${path}/${name}/approval`, {
      metadata: { labels: { a: "b" } },
      status: { conditions: approved, certificate: "eA==" },
    });
    await lab.patch("merge", `${path}/${name}/approval`, { status: { conditions: [] } });
    await lab.patch("merge", `${path}/${name}/status`, { status: { certificate: "eA==" } });
    await lab.get(`${path}/${name}`);
    await lab.delete(`${path}/${name}`);
  },
};

export const subresourceCases = casesOf("subresources", scripts);
