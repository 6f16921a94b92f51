// The children of an app in a cluster: written when something would change, never taken, removed when unwanted.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ResourceClient, type DynamicObject } from "@keelson/client";
import { childOf, type App } from "@keelson/platform";
import { appWith } from "@keelson/platform/testing";
import { clusterSuite } from "../tools/test-cluster.ts";
import { prepareChildren } from "./children-bed.ts";

const configMaps = { apiVersion: "v1", kind: "ConfigMap" } as const;

function configMap(app: App, name: string, data: Record<string, string> = {}): DynamicObject {
  return childOf(app, { ...configMaps, name, content: { data } });
}

clusterSuite("children", () => {
  test("are written once, left to others, and removed when nobody wants them", async (t) => {
    const { signal } = t;
    await using bed = await prepareChildren(signal);
    const { client, children } = bed;
    const direct = await client.resource(configMaps, signal);
    // Objects whose owner is not there are cleared away by a real cluster: the owner is a real object.
    const owner = await direct.create(
      { ...configMaps, metadata: { name: "owner", namespace: "default" } },
      {},
      signal,
    );
    const app = appWith({}, owner.metadata.uid);
    const stranger = appWith({}, "11111111-6f3b-4e0e-9b59-6d6a3f7f4b11");

    const applies = t.mock.method(ResourceClient.prototype, "apply").mock;
    const first = await children.apply(app, configMap(app, "one", { a: "1" }), signal);
    const again = await children.apply(app, configMap(app, "one", { a: "1" }), signal);
    assert.equal(again.metadata.resourceVersion, first.metadata.resourceVersion);
    assert.equal(applies.callCount(), 1);
    const changed = await children.apply(app, configMap(app, "one", { b: "2" }), signal);
    assert.deepEqual(changed["data"], { b: "2" });

    // Somebody's of that name, and another app's.
    await direct.create(
      { ...configMaps, metadata: { name: "theirs", namespace: "default" }, data: { x: "y" } },
      {},
      signal,
    );
    for (const [who, name] of [
      [app, "theirs"],
      [stranger, "one"],
    ] as const) {
      await assert.rejects(children.apply(who, configMap(who, name), signal), {
        reason: "Conflict",
        message:
          /^ConfigMap (theirs|one) is there already and belongs to (nobody we know|Application my-app): it is left alone$/,
      });
    }
    const theirs = await direct.get({ namespace: "default", name: "theirs" }, signal);
    assert.deepEqual([theirs["data"], theirs.metadata.labels], [{ x: "y" }, undefined]);
    assert.equal(await children.find(stranger, { ...configMaps, name: "one" }, signal), undefined);

    await children.apply(app, configMap(app, "two"), signal);
    const prune = (who: App, kept: readonly DynamicObject[]) =>
      children.prune(who, { kinds: [configMaps], kept }, signal);
    assert.deepEqual(await prune(stranger, []), []);
    assert.deepEqual(await prune(app, [configMap(app, "two")]), []);
    const { items } = await direct.list({ namespace: "default" }, signal);
    const names = items
      .map(({ metadata }) => metadata.name)
      .filter((name) => !name?.includes("kube"));
    assert.deepEqual(names, ["owner", "theirs", "two"]);
  });
});
