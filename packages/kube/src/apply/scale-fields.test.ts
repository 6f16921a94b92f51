import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { JsonObject } from "@keelson/base";

import { parentManagedFields, scaleManagedFields } from "./scale-fields.ts";

const paths = new Map([["apps/v1", ["spec", "replicas"]]]);

function entry(
  manager: string,
  operation: string,
  fieldsV1: JsonObject,
  more: JsonObject = {},
): JsonObject {
  return { manager, operation, apiVersion: "apps/v1", fieldsType: "FieldsV1", fieldsV1, ...more };
}

const replicas: JsonObject = { "f:spec": { "f:replicas": {} } };
const parent = [
  entry("owner", "Apply", { "f:spec": { "f:paused": {}, "f:replicas": {} } }),
  entry("other", "Update", { "f:spec": { "f:paused": {} } }),
  entry("gone", "Update", replicas, { apiVersion: "apps/v0" }),
];

suite("managed fields of a scale", () => {
  test("are those of who owns the replicas, in the version of scales", () => {
    assert.deepEqual(scaleManagedFields(parent, paths), [
      entry("owner", "Apply", replicas, { apiVersion: "autoscaling/v1" }),
    ]);
    assert.equal(scaleManagedFields(undefined, paths), undefined);
  });

  test("give the replicas of the parent to who took them there, and drop unknown versions", () => {
    const scale = [
      entry("scaler", "Update", replicas, { apiVersion: "autoscaling/v1", subresource: "scale" }),
    ];
    assert.deepEqual(parentManagedFields(parent, scale, { paths, apiVersion: "apps/v1" }), [
      entry("owner", "Apply", { "f:spec": { "f:paused": {} } }),
      entry("other", "Update", { "f:spec": { "f:paused": {} } }),
      entry("scaler", "Update", replicas, { subresource: "scale" }),
    ]);
  });

  test("leave the parent's owner alone who still has them", () => {
    const scale = scaleManagedFields(parent, paths);
    assert.deepEqual(
      parentManagedFields(parent, scale, { paths, apiVersion: "apps/v1" }),
      parent.slice(0, 2),
    );
  });
});
