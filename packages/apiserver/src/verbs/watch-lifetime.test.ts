import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { systemRandom } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";

import { declaredResources } from "../resources/custom-resource.ts";
import { Registry } from "../resources/registry.ts";
import { WatchLifetime } from "./watch-lifetime.ts";

function prepare() {
  const clock = new ManualClock();
  const registry = new Registry();
  const make = () => declaredResources([definition]);
  const [resource] = make();
  assert.ok(resource !== undefined);
  registry.put("custom", [resource]);
  return { parts: { clock, registry, random: systemRandom }, clock, registry, make, resource };
}

const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "things.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" },
    versions: [
      { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } },
    ],
  },
  status: { acceptedNames: { plural: "things", kind: "Thing" } },
};

suite("how long a watch lasts", () => {
  test("one that is level ends with its resource, and tells of nothing after that", () => {
    const { parts, registry, make, resource } = prepare();
    using lifetime = new WatchLifetime(parts, resource, {});
    lifetime.follow({ position: 7 });
    registry.put("own", []);
    assert.deepEqual(
      [lifetime.signal.aborted, lifetime.through],
      [false, Number.POSITIVE_INFINITY],
    );
    registry.put("custom", make(), 7);
    assert.deepEqual([lifetime.signal.aborted, lifetime.through], [true, 7]);
  });

  test("one that is behind goes on until it is level, though nothing may come by then", async () => {
    const { parts, registry, resource, clock } = prepare();
    const changes = { position: 3 };
    {
      using lifetime = new WatchLifetime(parts, resource, {});
      lifetime.follow(changes);
      registry.put("custom", [], 7);
      changes.position = 6;
      await clock.advance(1_000);
      assert.equal(lifetime.signal.aborted, false);
      changes.position = 7;
      await clock.advance(1_000);
      assert.equal(lifetime.signal.aborted, true);
    }
    assert.equal(clock.pending, 0);
  });

  test("one that begins with a resource of the past ends at once", () => {
    const { parts, registry, resource } = prepare();
    registry.put("custom", [], 7);
    using lifetime = new WatchLifetime(parts, resource, {});
    lifetime.follow({ position: 0 });
    assert.deepEqual([lifetime.signal.aborted, lifetime.through], [true, 0]);
  });

  test("nothing is held once it is over", () => {
    const { parts, clock, registry, resource } = prepare();
    const lifetime = new WatchLifetime(parts, resource, { timeoutSeconds: 5 });
    lifetime[Symbol.dispose]();
    registry.put("custom", [], 7);
    assert.deepEqual([lifetime.through, clock.pending], [Number.POSITIVE_INFINITY, 0]);
  });
});
