import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@keelson/base";
import type { DynamicObject } from "@keelson/client";

import { isTelling } from "./app-pods.ts";

const pod = (more: JsonObject = {}): DynamicObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "shop-1", namespace: "default" },
  ...more,
});
const troubled = pod({ trouble: { pod: "shop-1", container: "app", reason: "CrashLoopBackOff" } });

for (const [what, change, expected] of [
  ["comes", { type: "added", object: pod(), isInitial: false }, false],
  [
    "is in trouble when it is first seen",
    { type: "added", object: troubled, isInitial: false },
    true,
  ],
  ["gets into trouble", { type: "updated", object: troubled, previous: pod() }, true],
  ["is in the same trouble", { type: "updated", object: troubled, previous: troubled }, false],
  ["gets out of it", { type: "updated", object: pod(), previous: troubled }, true],
  ["goes", { type: "deleted", object: pod() }, true],
] as const) {
  test(`a pod ${what}: ${expected ? "its app is looked at" : "nobody needs to know"}`, () => {
    assert.equal(isTelling(change), expected);
  });
}
