import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { JsonObject } from "@keelson/base";
import { diffOf, type Compared } from "./diff.ts";

const ours = {
  "f:spec": {
    "f:replicas": {},
    "f:template": {
      "f:spec": {
        "f:containers": {
          'k:{"name":"web"}': {
            ".": {},
            "f:name": {},
            "f:image": {},
            "f:ports": {
              'k:{"containerPort":80,"protocol":"TCP"}': { ".": {}, "f:containerPort": {} },
            },
          },
        },
      },
    },
  },
};

const managedFields = [
  { manager: "kontrol", operation: "Apply", time: "2026-01-01T00:00:00Z", fieldsV1: ours },
  {
    manager: "hpa",
    operation: "Update",
    subresource: "scale",
    time: "2026-01-02T00:00:00Z",
    fieldsV1: { "f:spec": { "f:minReadySeconds": {} } },
  },
  {
    manager: "controller",
    operation: "Update",
    subresource: "status",
    time: "2026-01-03T00:00:00Z",
    fieldsV1: { "f:metadata": { "f:annotations": { "f:revision": {} } } },
  },
];

const container = (image: string, port = 80) => ({
  name: "web",
  image,
  ports: [{ containerPort: port }],
});

const spec = (replicas: number, ...containers: readonly JsonObject[]): JsonObject => ({
  spec: { replicas, template: { spec: { containers } } },
});

const live: JsonObject = {
  metadata: { annotations: { revision: "1" } },
  spec: {
    replicas: 1,
    minReadySeconds: 5,
    template: {
      spec: {
        containers: [
          { name: "injected", image: "proxy:1" },
          { name: "web", image: "web:1", ports: [{ containerPort: 80, protocol: "TCP" }] },
        ],
      },
    },
  },
};

const keyed = { keys: { name: "web" } };
const inPod = ["spec", "template", "spec", "containers"];

const same: Compared = {
  desired: spec(1, container("web:1")),
  applied: spec(1, container("web:1")),
  current: live,
  managedFields: [],
  owned: [
    { path: ["spec", "replicas"], value: 1 },
    { path: [...inPod, keyed, "image"], value: "web:1" },
    {
      path: [
        ...inPod,
        keyed,
        "ports",
        { keys: { containerPort: 80, protocol: "TCP" } },
        "containerPort",
      ],
      value: 80,
    },
  ],
  drift: [],
  isForcing: true,
};

suite("the difference of a resource", () => {
  test("is nothing where all agree, whatever the server has filled in", () => {
    assert.deepEqual(diffOf(same), []);
    assert.deepEqual(diffOf({ ...same, managedFields: managedFields.slice(0, 1) }), []);
  });

  test("names what was not sent yet by where it is in the object, and who owns it", () => {
    const desired = spec(1, container("web:2"), { name: "extra", image: "extra:1" });
    assert.deepEqual(diffOf({ ...same, managedFields, desired }), [
      {
        path: "/spec/minReadySeconds",
        desired: null,
        applied: null,
        current: 5,
        owner: "hpa",
        cause: "foreign",
      },
      {
        path: "/spec/template/spec/containers/1/image",
        desired: "web:2",
        applied: "web:1",
        current: "web:1",
        owner: "kontrol",
        cause: "pending",
      },
      // A container that is nowhere yet comes after those that are there.
      ...["image", "name"].map((name) => ({
        path: `/spec/template/spec/containers/2/${name}`,
        desired: name === "name" ? "extra" : "extra:1",
        applied: null,
        current: null,
        owner: null,
        cause: "pending",
      })),
    ]);
  });

  test("knows items by the keys that the cluster uses, also where the server has filled in some", () => {
    const desired = spec(1, container("web:1", 81));
    const changes = diffOf({ ...same, managedFields: managedFields.slice(0, 1), desired });
    assert.deepEqual(
      changes.map(({ path, desired: wanted, current, owner }) => [path, wanted, current, owner]),
      [
        ["/spec/template/spec/containers/1/ports/0/containerPort", null, 80, "kontrol"],
        ["/spec/template/spec/containers/1/ports/1/containerPort", 81, null, null],
      ],
    );
  });

  test("what another holds is foreign unless it is taken, what somebody has changed is drift", () => {
    const desired: JsonObject = { spec: { replicas: 1, minReadySeconds: 9 } };
    const applied: JsonObject = { spec: { replicas: 1 } };
    const drift = [{ path: "/spec/replicas", desired: 1, current: 3, manager: "kubectl" }];
    const causes = (isForcing: boolean) =>
      diffOf({ ...same, desired, applied, managedFields, drift, isForcing }).map(
        ({ path, owner, cause }) => [path, owner, cause],
      );
    const taken = ["/spec/replicas", "kubectl", "drift"];
    assert.deepEqual(causes(true), [["/spec/minReadySeconds", "hpa", "pending"], taken]);
    assert.deepEqual(causes(false), [["/spec/minReadySeconds", "hpa", "foreign"], taken]);
  });

  test("of an object that is gone each of our fields is missed, of one that is deleted none is wanted", () => {
    const gone = diffOf({ ...same, current: null });
    assert.deepEqual(
      gone.map(({ path, applied, current, cause }) => [path, applied, current, cause]),
      [
        ["/spec/replicas", 1, null, "drift"],
        ["/spec/template/spec/containers/0/image", "web:1", null, "drift"],
        ["/spec/template/spec/containers/0/name", "web", null, "drift"],
        ["/spec/template/spec/containers/0/ports/0/containerPort", 80, null, "drift"],
      ],
    );
    const deleted = diffOf({ ...same, desired: undefined, applied: { data: { a: "1" } } });
    assert.deepEqual(deleted[0], {
      path: "/data/a",
      desired: null,
      applied: "1",
      current: null,
      owner: null,
      cause: "pending",
    });
  });
});
