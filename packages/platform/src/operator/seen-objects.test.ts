import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "@keelson/base/testing";
import { Client, fixedCredentials, type DynamicObject } from "@keelson/client";
import { CachedResource, ObjectCache } from "@keelson/controller";

import { SeenObjects } from "./seen-objects.ts";

test("of what is forgotten nothing is left, nor of what was written for it", async () => {
  const kind = { apiVersion: "platform.internal/v1alpha1", kind: "Application" };
  const access = { server: "http://127.0.0.1:1", credentials: fixedCredentials({}) };
  await using client = new Client({ access });
  const taken: string[] = [];
  const takeWrites = (uid: string): readonly string[] => {
    taken.push(uid);
    return [];
  };
  const seen = new SeenObjects({
    parts: { client, clock: new ManualClock(), takeWrites },
    resource: new CachedResource({ client, kind, cache: new ObjectCache() }),
    annotation: "platform.internal/adopt",
  });
  const object: DynamicObject = {
    ...kind,
    metadata: { name: "shop", namespace: "default", uid: "1" },
  };
  const memory = seen.memoryOf(object);
  assert.equal(seen.memoryOf(object), memory);
  seen.forget("default/shop");
  seen.forget("default/shop");
  assert.deepEqual(taken, ["1"]);
  assert.notEqual(seen.memoryOf(object), memory);
});
