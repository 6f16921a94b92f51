// Server-side apply: KB 41 to 50.

import type { Json, JsonObject } from "@keelson/base";

import { casesFor, casesOf, type Script } from "../case.ts";
import type { Lab } from "../lab.ts";
import { configMap, definition, deployment, podTemplate, service } from "../objects.ts";
import { createKind } from "./custom-kinds.ts";

async function apply(lab: Lab, manager: string, object: Json, query = ""): Promise<void> {
  const { kind, metadata } = object as { kind: string; metadata: { name: string } };
  const path =
    kind === "ConfigMap"
      ? lab.core("configmaps", metadata.name)
      : kind === "Service"
        ? lab.core("services", metadata.name)
        : lab.group("apps/v1", "deployments", metadata.name);
  await lab.patch("apply", `${path}?fieldManager=${manager}${query}`, object);
}

const schema: JsonObject = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        a: { type: "string" },
        n: { type: "integer" },
        d: { type: "string", default: "given" },
        set: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
        atoms: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "atomic" },
        map: {
          type: "array",
          items: {
            type: "object",
            required: ["key"],
            properties: {
              key: { type: "string" },
              port: { type: "integer", default: 1 },
              value: { type: "string" },
            },
          },
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["key"],
        },
        granular: { type: "object", additionalProperties: { type: "string" } },
        atomic: {
          type: "object",
          additionalProperties: { type: "string" },
          "x-kubernetes-map-type": "atomic",
        },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        nothing: { type: "object", nullable: true, properties: { x: { type: "string" } } },
        replicas: { type: "integer" },
      },
    },
    status: {
      type: "object",
      properties: { phase: { type: "string" }, replicas: { type: "integer" } },
    },
  },
};

const scripts: Record<string, Script> = {
  "creates, and again changes nothing": async (lab) => {
    await apply(lab, "one", configMap("a"));
    await apply(lab, "one", configMap("a"));
    await apply(lab, "one", configMap("a"), "&force=true");
    await apply(lab, "two", configMap("a"));
    await apply(lab, "two", configMap("a"));
  },
  "conflicts are named, forced, given up": async (lab) => {
    await apply(lab, "one", configMap("a", { a: "1", b: "1" }));
    await apply(lab, "two", configMap("a", { a: "2" }));
    await apply(lab, "two", configMap("a", { a: "2", b: "2" }));
    await apply(lab, "two", configMap("a", { a: "2" }), "&force=true");
    await apply(lab, "one", configMap("a", { a: "1", b: "1" }));
    await apply(lab, "one", configMap("a", { b: "1" }));
    await apply(lab, "one", configMap("a", {}));
    await apply(lab, "two", configMap("a", {}));
  },
  "three managers": async (lab) => {
    await apply(lab, "one", configMap("a", { a: "1" }));
    await apply(lab, "two", configMap("a", { b: "1" }));
    await apply(lab, "three", configMap("a", { a: "3", b: "3" }));
    await apply(lab, "three", configMap("a", { a: "3", b: "3" }), "&force=true");
  },
  "against an updater": async (lab) => {
    await lab.post(`${lab.core("configmaps")}?fieldManager=maker`, configMap("a", { a: "1" }));
    await apply(lab, "one", configMap("a", { a: "2" }));
    await apply(lab, "one", configMap("a", { a: "1" }));
    await lab.patch("merge", `${lab.core("configmaps", "a")}?fieldManager=patcher`, {
      data: { a: "3" },
    });
    await apply(lab, "one", configMap("a", { a: "1" }));
    await apply(lab, "one", configMap("a", { a: "1" }), "&force=true");
    await lab.put(`${lab.core("configmaps", "a")}?fieldManager=putter`, configMap("a", { z: "1" }));
    await apply(lab, "one", configMap("a", { a: "1" }));
  },
  "a field dropped by its only owner goes": async (lab) => {
    await apply(
      lab,
      "one",
      configMap("a", { a: "1", b: "1" }, { labels: { l: "1" }, annotations: { n: "1" } }),
    );
    await apply(lab, "two", configMap("a", { b: "1" }));
    await apply(lab, "one", configMap("a", {}));
    await lab.get(lab.core("configmaps", "a"));
  },
  "a default comes back": async (lab) => {
    await apply(lab, "one", deployment("d", { replicas: 5, revisionHistoryLimit: 3 }));
    await apply(lab, "one", deployment("d"));
  },
  "containers, ports and environment by key": async (lab) => {
    const containers = (more: JsonObject): JsonObject =>
      deployment("d", {
        template: podTemplate({ app: "x" }, { containers: [{ name: "a", image: "a", ...more }] }),
      });
    await apply(
      lab,
      "one",
      containers({ ports: [{ containerPort: 80 }], env: [{ name: "A", value: "1" }] }),
    );
    await apply(
      lab,
      "two",
      containers({
        ports: [{ containerPort: 80, protocol: "UDP" }],
        env: [{ name: "B", value: "2" }],
      }),
    );
    await apply(lab, "two", containers({ ports: [{ containerPort: 80, name: "http" }] }));
    await apply(lab, "one", containers({ env: [{ name: "A", value: "2" }] }));
    await apply(
      lab,
      "two",
      deployment("d", {
        template: podTemplate({ app: "x" }, { containers: [{ name: "b", image: "b" }] }),
      }),
    );
    await apply(
      lab,
      "one",
      deployment("d", {
        template: podTemplate({ app: "x" }, { containers: [{ name: "c", image: "c" }] }),
      }),
    );
  },
  "duplicates in a list of keys": async (lab) => {
    await apply(
      lab,
      "one",
      deployment("d", {
        template: podTemplate(
          { app: "x" },
          {
            containers: [
              {
                name: "a",
                image: "a",
                env: [
                  { name: "A", value: "1" },
                  { name: "A", value: "2" },
                ],
              },
            ],
          },
        ),
      }),
    );
    await lab.post(
      lab.group("apps/v1", "deployments"),
      deployment("e", {
        template: podTemplate(
          { app: "x" },
          {
            containers: [
              {
                name: "a",
                image: "a",
                env: [
                  { name: "A", value: "1" },
                  { name: "A", value: "2" },
                ],
              },
            ],
          },
        ),
      }),
    );
    await apply(
      lab,
      "one",
      deployment("e", {
        template: podTemplate(
          { app: "x" },
          { containers: [{ name: "a", image: "a", env: [{ name: "A", value: "3" }] }] },
        ),
      }),
    );
  },
  "ports of a service": async (lab) => {
    await apply(
      lab,
      "one",
      service("s", {
        ports: [
          { port: 53, protocol: "UDP", name: "udp" },
          { port: 53, name: "tcp" },
        ],
      }),
    );
    await apply(lab, "two", service("s", { ports: [{ port: 53, name: "tcp", targetPort: 5353 }] }));
    await apply(
      lab,
      "two",
      service("s", { ports: [{ port: 53, name: "tcp", targetPort: 5353 }] }),
      "&force=true",
    );
    await apply(lab, "two", service("s", { ports: [] }));
  },
  "null and empty": async (lab) => {
    await apply(lab, "one", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a", labels: null, annotations: {} },
      data: null,
    });
    await apply(lab, "one", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a", labels: {} },
      data: {},
    });
    await apply(lab, "one", { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } });
  },
  "a wrong manager": async (lab) => {
    await lab.patch("apply", lab.core("configmaps", "a"), configMap("a"));
    await apply(lab, "", configMap("a"));
    await apply(lab, "x".repeat(129), configMap("a"));
    await apply(lab, "x".repeat(128), configMap("a"));
    await apply(lab, "a%07b", configMap("a"));
    await apply(lab, "%C3%BC", configMap("a"));
    await apply(lab, "one", configMap("a"), "&force=perhaps");
  },
  ...casesFor(
    {
      "another version": { apiVersion: "v2", kind: "ConfigMap", metadata: { name: "a" } },
      "another kind": { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } },
      "no version": { kind: "ConfigMap", metadata: { name: "a" } },
      "no kind": { apiVersion: "v1", metadata: { name: "a" } },
      "another name": { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b" } },
      "no name": { apiVersion: "v1", kind: "ConfigMap" },
      "another namespace": {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "a", namespace: "other" },
      },
      "managed fields": {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "a", managedFields: [{}] },
      },
      "no managed fields": {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "a", managedFields: [] },
      },
      "a uid": {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "a", uid: "00000000-0000-4000-8000-000000000000" },
      },
      "a resource version": {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "a", resourceVersion: "1" },
      },
      "an unknown field": {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "a" },
        unknownField: 1,
      },
      "a wrong type": { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: ["x"] },
      "a wrong value": {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "a" },
        data: { a: 1 },
      },
      "a list": [],
      "a text": "just text",
      "bad YAML": "a: b: c",
      nothing: "",
      "YAML twice": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  name: b\n",
      YAML: "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  yes: 'on'\n  n: \"1\"\n",
      "YAML scalars": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: yes\n",
      "two documents": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n---\nkind: x\n",
      "invalid afterwards": {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "a" },
        data: { "bad key": "1" },
      },
    },
    "bodies: %",
    async (lab, body) => {
      await lab.patch("apply", `${lab.core("configmaps", "a")}?fieldManager=m`, body);
      await lab.create(lab.core("configmaps"), configMap("a")).catch(() => undefined);
      await lab.patch("apply", `${lab.core("configmaps", "a")}?fieldManager=m`, body);
      await lab.patch(
        "apply",
        `${lab.core("configmaps", "a")}?fieldManager=m&fieldValidation=Strict`,
        body,
      );
    },
  ),
  "with a version": async (lab) => {
    const { version } = await lab.create(lab.core("configmaps"), configMap("a"));
    await apply(lab, "m", configMap("a", { b: "1" }, { resourceVersion: version }));
    await apply(lab, "m", configMap("a", { b: "2" }, { resourceVersion: version }));
    await apply(lab, "m", configMap("a", { b: "2" }, { resourceVersion: "" }));
  },
  "status and scale are other owners": async (lab) => {
    const path = lab.group("apps/v1", "deployments", "d");
    await apply(lab, "one", deployment("d", { replicas: 1 }));
    await lab.patch("apply", `${path}/status?fieldManager=one`, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "d" },
      status: { replicas: 3 },
    });
    await lab.patch("apply", `${path}/status?fieldManager=two`, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "d" },
      status: { replicas: 4 },
    });
    await lab.patch("apply", `${path}/scale?fieldManager=scaler`, {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "d" },
      spec: { replicas: 5 },
    });
    await lab.patch("apply", `${path}/scale?fieldManager=scaler&force=true`, {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "d" },
      spec: { replicas: 5 },
    });
    await apply(lab, "one", deployment("d", { replicas: 1 }));
    await apply(lab, "one", deployment("d"));
    await lab.patch("merge", `${path}/scale?fieldManager=other`, { spec: { replicas: 2 } });
    await lab.put(`${path}/scale?fieldManager=putter`, {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "d" },
      spec: { replicas: 3 },
    });
    await lab.get(path);
    await lab.get(`${path}/scale`);
    await lab.patch("apply", `${path}?fieldManager=one`, {
      ...deployment("d"),
      status: { replicas: 9 },
    });
  },
  "after ownership was cleared": async (lab) => {
    await apply(lab, "one", configMap("a", { a: "1" }));
    await lab.mustPatch(lab.core("configmaps", "a"), { metadata: { managedFields: [{}] } });
    await apply(lab, "one", configMap("a", { a: "2" }));
    await apply(lab, "one", configMap("a", { a: "1", b: "1" }));
  },
  "from client-side apply": async (lab) => {
    const last = JSON.stringify(configMap("a", { a: "1", b: "1" }));
    await lab.post(
      `${lab.core("configmaps")}?fieldManager=kubectl-client-side-apply`,
      configMap(
        "a",
        { a: "1", b: "1" },
        { annotations: { "kubectl.kubernetes.io/last-applied-configuration": last } },
      ),
    );
    await apply(lab, "kubectl", configMap("a", { a: "1" }));
    await apply(lab, "kubectl", configMap("a", { a: "2" }));
  },
  "custom resources with a schema": async (lab) => {
    const group = `a-${lab.id}.example.com`;
    await createKind(
      lab,
      definition({
        group,
        kind: "Thing",
        schema,
        version: {
          subresources: {
            status: {},
            scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
          },
        },
      }),
    );
    const path = lab.group(`${group}/v1`, "things", "t");
    const thing = (spec: Json, more: JsonObject = {}): JsonObject => ({
      apiVersion: `${group}/v1`,
      kind: "Thing",
      metadata: { name: "t" },
      spec,
      ...more,
    });
    await lab.patch(
      "apply",
      `${path}?fieldManager=one`,
      thing({
        a: "1",
        set: ["x", "y"],
        atoms: ["p"],
        map: [{ key: "k", value: "1" }],
        granular: { g: "1" },
        atomic: { h: "1" },
        free: { any: [1] },
      }),
    );
    await lab.patch(
      "apply",
      `${path}?fieldManager=two`,
      thing({ set: ["y", "z"], map: [{ key: "l" }], granular: { i: "1" } }),
    );
    await lab.patch(
      "apply",
      `${path}?fieldManager=two`,
      thing({ atoms: ["q"], atomic: { j: "1" } }),
    );
    await lab.patch(
      "apply",
      `${path}?fieldManager=two&force=true`,
      thing({ atoms: ["q"], atomic: { j: "1" } }),
    );
    await lab.patch("apply", `${path}?fieldManager=one`, thing({ map: [] }));
    await lab.patch("apply", `${path}?fieldManager=one`, thing({ set: ["x", "x"] }));
    await lab.patch("apply", `${path}?fieldManager=one`, thing({ unknownField: 1 }));
    await lab.patch("apply", `${path}?fieldManager=one`, thing({ n: "text" }));
    await lab.patch("apply", `${path}?fieldManager=one`, thing({ nothing: null }));
    await lab.patch("apply", `${path}?fieldManager=one`, thing({ nothing: { x: "1" } }));
    await lab.patch("apply", `${path}?fieldManager=one`, thing(null));
    await lab.patch(
      "apply",
      `${path}/status?fieldManager=one`,
      thing({}, { status: { phase: "done" } }),
    );
    await lab.patch("apply", `${path}?fieldManager=one`, thing({ replicas: 1 }));
    await lab.get(path);
  },
  "custom resources without a schema": async (lab) => {
    const group = `b-${lab.id}.example.com`;
    await createKind(lab, definition({ group, kind: "Loose" }));
    const path = lab.group(`${group}/v1`, "looses", "t");
    const loose = (more: JsonObject): JsonObject => ({
      apiVersion: `${group}/v1`,
      kind: "Loose",
      metadata: { name: "t" },
      ...more,
    });
    await lab.patch(
      "apply",
      `${path}?fieldManager=one`,
      loose({ a: { b: [1, { c: 2 }] }, n: null }),
    );
    await lab.patch("apply", `${path}?fieldManager=two`, loose({ a: { d: 1 } }));
    await lab.patch("apply", `${path}?fieldManager=two`, loose({ a: { b: [2] } }));
    await lab.patch("apply", `${path}?fieldManager=one`, loose({ a: "text" }));
    await lab.patch("apply", `${path}?fieldManager=one&force=true`, loose({ a: "text" }));
    await lab.patch("merge", `${path}?fieldManager=m`, { a: null });
  },
};

export const applyCases = casesOf("apply", scripts);
