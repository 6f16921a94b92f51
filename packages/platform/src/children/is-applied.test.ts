import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { JsonObject } from "@keelson/base";
import type { DynamicObject } from "@keelson/client";

import { fieldManager } from "./child.ts";
import { isApplied } from "./is-applied.ts";

const kind = { apiVersion: "v1", kind: "Service" } as const;
const named = { name: "shop", namespace: "apps", labels: { a: "b" } };

/** As the cluster has it, with the fields that are ours. */
function live(content: JsonObject, fieldsV1: JsonObject): DynamicObject {
  const ofLabels = { "f:metadata": { "f:labels": { "f:a": {} } } };
  const entry = {
    manager: fieldManager,
    operation: "Apply",
    fieldsV1: { ...ofLabels, ...fieldsV1 },
  };
  return { ...kind, metadata: { ...named, managedFields: [entry] }, ...content };
}

function desired(content: JsonObject): DynamicObject {
  return { ...kind, metadata: named, ...content };
}

suite("whether an apply would change anything", () => {
  const spec = (type: string) => ({ spec: { type } });
  const ours = { "f:spec": { "f:type": {} } };

  test("not where all is as it is wished and ours, whatever others have added", () => {
    const theirs = { spec: { type: "ClusterIP", clusterIP: "10.0.0.1" } };
    assert.equal(isApplied(desired(spec("ClusterIP")), live(theirs, ours)), true);
  });

  test("with another value, a field that is not ours, or one that we give up", () => {
    const now = live(spec("ClusterIP"), ours);
    assert.equal(isApplied(desired(spec("NodePort")), now), false);
    assert.equal(isApplied(desired({ spec: { type: "ClusterIP", a: 1 } }), now), false);
    assert.equal(isApplied(desired({ spec: {} }), now), false);
  });

  test("items of a list are known by their keys, those of a set by themselves", () => {
    const lists = (port: number) => ({
      ports: [{ port: 1, protocol: "TCP", name: "a", targetPort: port }],
      names: ["b", "a"],
    });
    const item = { ".": {}, "f:port": {}, "f:protocol": {}, "f:name": {}, "f:targetPort": {} };
    const fields = {
      "f:ports": { 'k:{"port":1,"protocol":"TCP"}': item },
      "f:names": { 'v:"a"': {}, 'v:"b"': {} },
    };
    const now = live({ ...lists(3), names: ["a", "b"] }, fields);
    assert.equal(isApplied(desired(lists(3)), now), true);
    assert.equal(isApplied(desired(lists(4)), now), false);
  });

  test("where nobody can say what is ours", () => {
    for (const key of ["k:{", "v:", "f:a", "i:0", ""]) {
      const now = live({ names: ["a"] }, { "f:names": { [key]: {} } });
      assert.equal(isApplied(desired({ names: ["a"] }), now), false, key);
    }
  });
});
