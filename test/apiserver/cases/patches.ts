// Patches of each type, good and bad: KB 31 to 33.

import type { Json } from "@keelson/base";
import type { PatchType } from "@keelson/kube";

import { casesFor, casesOf, type Script } from "../case.ts";
import { configMap, definition, deployment } from "../objects.ts";
import { createKind } from "./custom-kinds.ts";

const container = (name: string, more: Record<string, Json> = {}): Json => ({
  name,
  image: `${name}:1`,
  ...more,
});
const target = deployment(
  "d",
  {
    replicas: 2,
    template: {
      metadata: { labels: { app: "x" } },
      spec: {
        containers: [
          container("a", {
            env: [
              { name: "A", value: "1" },
              { name: "B", value: "2" },
            ],
            ports: [{ containerPort: 80 }, { containerPort: 53, protocol: "UDP" }],
            args: ["x", "y"],
          }),
          container("b"),
        ],
        tolerations: [{ key: "k", operator: "Exists" }],
        volumes: [{ name: "v", emptyDir: {} }],
      },
    },
  },
  { labels: { a: "1" }, finalizers: ["example.com/a", "example.com/b"] },
);

/** Patches of a Deployment: type, and the document. */
const patches: Readonly<Record<string, readonly [PatchType, Json]>> = {
  "strategic: a container by its name": [
    "strategic",
    { spec: { template: { spec: { containers: [{ name: "a", image: "a:2" }] } } } },
  ],
  "strategic: a new container": [
    "strategic",
    { spec: { template: { spec: { containers: [container("c")] } } } },
  ],
  "strategic: a container goes": [
    "strategic",
    { spec: { template: { spec: { containers: [{ name: "b", $patch: "delete" }] } } } },
  ],
  "strategic: containers replaced": [
    "strategic",
    { spec: { template: { spec: { containers: [container("z"), { $patch: "replace" }] } } } },
  ],
  "strategic: a map replaced": [
    "strategic",
    { metadata: { labels: { $patch: "replace", z: "1" } } },
  ],
  "strategic: a map deleted": [
    "strategic",
    { spec: { template: { spec: { securityContext: { $patch: "delete" } } } } },
  ],
  "strategic: an order": [
    "strategic",
    {
      spec: {
        template: {
          spec: {
            $setElementOrder$containers: [{ name: "b" }, { name: "a" }],
            containers: [{ name: "b", image: "b:2" }],
          },
        },
      },
    },
  ],
  "strategic: with its right name": [
    "strategic",
    {
      spec: {
        template: {
          spec: {
            "$setElementOrder/containers": [{ name: "b" }, { name: "a" }],
            containers: [{ name: "b", image: "b:2" }],
          },
        },
      },
    },
  ],
  "strategic: an order that lacks one": [
    "strategic",
    {
      spec: {
        template: {
          spec: {
            "$setElementOrder/containers": [{ name: "a" }],
            containers: [{ name: "b", image: "b:2" }],
          },
        },
      },
    },
  ],
  "strategic: from a primitive list": [
    "strategic",
    { metadata: { "$deleteFromPrimitiveList/finalizers": ["example.com/a"] } },
  ],
  "strategic: a primitive list grows": [
    "strategic",
    { metadata: { finalizers: ["example.com/c"] } },
  ],
  "strategic: kept keys": [
    "strategic",
    { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } },
  ],
  "strategic: kept keys that lack one": [
    "strategic",
    { spec: { strategy: { $retainKeys: ["type"], rollingUpdate: {} } } },
  ],
  "strategic: env by name": [
    "strategic",
    {
      spec: {
        template: {
          spec: {
            containers: [
              {
                name: "a",
                env: [
                  { name: "B", value: "3" },
                  { name: "C", value: "4" },
                ],
              },
            ],
          },
        },
      },
    },
  ],
  "strategic: env goes": [
    "strategic",
    {
      spec: {
        template: { spec: { containers: [{ name: "a", env: [{ name: "B", $patch: "delete" }] }] } },
      },
    },
  ],
  "strategic: ports by port": [
    "strategic",
    {
      spec: {
        template: {
          spec: { containers: [{ name: "a", ports: [{ containerPort: 80, name: "http" }] }] },
        },
      },
    },
  ],
  "strategic: an atomic list": [
    "strategic",
    { spec: { template: { spec: { tolerations: [{ key: "z", operator: "Exists" }] } } } },
  ],
  "strategic: without its key": [
    "strategic",
    { spec: { template: { spec: { containers: [{ image: "x" }] } } } },
  ],
  "strategic: an unknown directive": ["strategic", { spec: { $patch: "frobnicate" } }],
  "strategic: a list for a map": ["strategic", { metadata: { labels: ["a"] } }],
  "strategic: a map for a list": [
    "strategic",
    { spec: { template: { spec: { containers: { name: "a" } } } } },
  ],
  "strategic: a text for a number": ["strategic", { spec: { replicas: "two" } }],
  "strategic: an unknown field": ["strategic", { spec: { unknownField: 1 } }],
  "strategic: null takes away": [
    "strategic",
    { spec: { replicas: null }, metadata: { labels: { a: null } } },
  ],
  "strategic: a list": ["strategic", [{ op: "add" }]],
  "strategic: null": ["strategic", null],
  "merge: lists are replaced": [
    "merge",
    { spec: { template: { spec: { containers: [container("z")] } } } },
  ],
  "merge: null takes away": ["merge", { spec: { replicas: null }, metadata: { labels: null } }],
  "merge: an unknown field": ["merge", { spec: { unknownField: 1, template: { unknown: {} } } }],
  "merge: a text for a number": ["merge", { spec: { replicas: "two" } }],
  "merge: a number for a text": ["merge", { metadata: { labels: { a: 1 } } }],
  "merge: a fraction": ["merge", { spec: { replicas: 1.5 } }],
  "merge: an integer with a point": ["merge", { spec: { replicas: 2.0 } }],
  "merge: too large a number": ["merge", { spec: { replicas: 4_294_967_296 } }],
  "merge: an empty object": ["merge", {}],
  "merge: a list": ["merge", []],
  "merge: a text": ["merge", '"text"'],
  "merge: no JSON": ["merge", "{"],
  "merge: nothing": ["merge", ""],
  "merge: invalid afterwards": ["merge", { spec: { selector: { matchLabels: { app: "z" } } } }],
  "merge: immutable": [
    "merge",
    {
      spec: {
        selector: { matchLabels: { app: "x", b: "1" } },
        template: { metadata: { labels: { b: "1" } } },
      },
    },
  ],
  "merge: twice the same key": ["merge", '{"spec":{"replicas":3,"replicas":4}}'],
  "json: all operations": [
    "json",
    [
      { op: "test", path: "/spec/replicas", value: 2 },
      { op: "add", path: "/metadata/labels/b", value: "2" },
      { op: "replace", path: "/spec/replicas", value: 5 },
      { op: "copy", from: "/metadata/labels/b", path: "/metadata/labels/c" },
      { op: "move", from: "/metadata/labels/b", path: "/metadata/labels/d" },
      { op: "remove", path: "/metadata/labels/a" },
    ],
  ],
  "json: a test that fails": ["json", [{ op: "test", path: "/spec/replicas", value: 3 }]],
  "json: nothing to remove": ["json", [{ op: "remove", path: "/metadata/labels/nothing" }]],
  "json: nothing to replace": ["json", [{ op: "replace", path: "/spec/nothing", value: 1 }]],
  "json: nowhere to add": ["json", [{ op: "add", path: "/spec/nothing/deep", value: 1 }]],
  "json: to the end of a list": [
    "json",
    [{ op: "add", path: "/spec/template/spec/containers/-", value: container("c") }],
  ],
  "json: into a list": [
    "json",
    [{ op: "add", path: "/spec/template/spec/containers/0", value: container("c") }],
  ],
  "json: beyond a list": [
    "json",
    [{ op: "add", path: "/spec/template/spec/containers/9", value: container("c") }],
  ],
  "json: escaped": [
    "json",
    [
      { op: "add", path: "/metadata/annotations", value: { "a/b": "1" } },
      { op: "replace", path: "/metadata/annotations/a~1b", value: "2" },
    ],
  ],
  "json: an unknown operation": ["json", [{ op: "frob", path: "/spec" }]],
  "json: no operation": ["json", [{ path: "/spec" }]],
  "json: no path": ["json", [{ op: "add", value: 1 }]],
  "json: a path without slash": ["json", [{ op: "add", path: "spec", value: 1 }]],
  "json: an object": ["json", { op: "add" }],
  "json: no JSON": ["json", "["],
  "json: an unknown member": [
    "json",
    [{ op: "replace", path: "/spec/replicas", value: 3, foo: 1 }],
  ],
  "json: a text for a number": ["json", [{ op: "replace", path: "/spec/replicas", value: "x" }]],
  "json: the whole document": ["json", [{ op: "replace", path: "", value: {} }]],
  "json: null": ["json", [{ op: "replace", path: "/spec/replicas", value: null }]],
  "json: removes what is required": [
    "json",
    [{ op: "remove", path: "/spec/template/spec/containers" }],
  ],
  "json: kind": ["json", [{ op: "replace", path: "/kind", value: "Pod" }]],
};

const scripts: Record<string, Script> = {
  ...casesFor(patches, "%", async (lab, [type, body]) => {
    await lab.create(lab.group("apps/v1", "deployments"), target);
    const path = lab.group("apps/v1", "deployments", "d");
    await lab.patch(type, path, body);
    await lab.patch(type, `${path}?fieldValidation=Strict`, body);
  }),
  "too many operations": async (lab) => {
    await lab.create(lab.core("configmaps"), configMap("a"));
    const many = Array.from({ length: 10_001 }, () => ({
      op: "test",
      path: "/data/a",
      value: "1",
    }));
    await lab.patch("json", lab.core("configmaps", "a"), many);
    await lab.patch("json", lab.core("configmaps", "a"), many.slice(1));
  },
  "of what is not there": async (lab) => {
    for (const type of ["merge", "strategic", "json"] as const) {
      await lab.patch(type, lab.core("configmaps", "none"), type === "json" ? [] : {});
      await lab.patch(
        type,
        `/api/v1/namespaces/nowhere-${lab.id}/configmaps/none`,
        type === "json" ? [] : {},
      );
    }
  },
  "force is for apply": async (lab) => {
    await lab.create(lab.core("configmaps"), configMap("a"));
    await lab.patch("merge", `${lab.core("configmaps", "a")}?force=true`, {});
    await lab.patch("merge", `${lab.core("configmaps", "a")}?force=false`, {});
    await lab.patch("merge", `${lab.core("configmaps", "a")}?force=perhaps`, {});
  },
  ...casesFor(
    {
      none: "",
      json: "application/json",
      yaml: "application/yaml",
      "merge with parameters": "application/merge-patch+json; charset=utf-8",
      "merge in capitals": "Application/Merge-Patch+JSON",
      text: "text/plain",
      cbor: "application/apply-patch+cbor",
      malformed: "application/",
      protobuf: "application/vnd.kubernetes.protobuf",
      "two at once": "application/merge-patch+json, application/json-patch+json",
    },
    "content type: %",
    async (lab, type) => {
      await lab.create(lab.core("configmaps"), configMap("a"));
      await lab.send({
        method: "PATCH",
        path: lab.core("configmaps", "a"),
        body: { data: { b: "1" } },
        headers: { "content-type": type },
      });
    },
  ),
  "strategic on a custom resource": async (lab) => {
    const group = `p-${lab.id}.example.com`;
    await createKind(lab, definition({ group, kind: "Thing" }));
    const path = lab.group(`${group}/v1`, "things");
    await lab.create(path, {
      apiVersion: `${group}/v1`,
      kind: "Thing",
      metadata: { name: "a" },
      spec: { list: [1, 2] },
    });
    await lab.patch("strategic", `${path}/a`, { spec: { list: [3] } });
    await lab.patch("merge", `${path}/a`, { spec: { list: [3] } });
    await lab.patch("json", `${path}/a`, [{ op: "add", path: "/spec/list/-", value: 4 }]);
    await lab.patch("apply", `${path}/a?fieldManager=m`, {
      apiVersion: `${group}/v1`,
      kind: "Thing",
      metadata: { name: "a" },
      spec: { more: true },
    });
  },
};

export const patchCases = casesOf("patches", scripts);
