import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { JsonObject } from "@keelson/base";

import { keepTimes } from "./keep-times.ts";

suite("times of managed fields", () => {
  const entry = (manager: string, time?: string): JsonObject => ({
    manager,
    operation: "Apply",
    apiVersion: "apps/v1",
    ...(time === undefined ? {} : { time }),
    fieldsType: "FieldsV1",
    fieldsV1: { "f:spec": { "f:replicas": {} } },
  });
  const object = (replicas: number, ...managedFields: readonly JsonObject[]): JsonObject => ({
    metadata: { name: "d", managedFields },
    spec: { replicas },
  });
  const [monday, tuesday, wednesday] = ["2026-01-05", "2026-01-06", "2026-01-07"].map(
    (day) => `${day}T00:00:00Z`,
  );
  const old = object(1, entry("a", monday), entry("b", tuesday));

  test("stay if nothing else changed", () => {
    assert.deepEqual(keepTimes(object(1, entry("a", monday), entry("b", wednesday)), old), old);
  });

  test("stay where a new one has put an entry elsewhere in their order", () => {
    assert.deepEqual(keepTimes(object(1, entry("b", tuesday), entry("a", wednesday)), old), old);
  });

  test("are none where there was none", () => {
    const timeless = object(1, entry("a"), entry("b", tuesday));
    const next = object(1, entry("a", wednesday), entry("b", tuesday));
    assert.deepEqual(keepTimes(next, timeless), timeless);
  });

  test("move on with the object", () => {
    const next = object(2, entry("a", monday), entry("b", wednesday));
    assert.equal(keepTimes(next, old), next);
  });

  test("move on with the managers", () => {
    for (const managers of [
      [entry("a", wednesday)],
      [entry("a", monday), entry("c", wednesday)],
      [entry("a", monday), { ...entry("b", wednesday), fieldsV1: {} }],
    ]) {
      const next = object(1, ...managers);
      assert.equal(keepTimes(next, old), next);
    }
  });
});
