import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { KubeObject, Metadata } from "@keelson/client";

import { ObjectCache } from "./cache/object-cache.ts";
import { isAskedFor, watches } from "./source.ts";

const object = (metadata: Metadata): KubeObject => ({ apiVersion: "v1", kind: "X", metadata });
const before: Metadata = { name: "a", uid: "a", generation: 1, labels: { a: "1" } };

suite("sources", () => {
  const cases: readonly (readonly [what: string, now: Partial<Metadata>, isAsked: boolean])[] = [
    ["the status alone", {}, false],
    ["the spec", { generation: 2 }, true],
    ["a label", { labels: { a: "2" } }, true],
    ["an annotation", { annotations: { refresh: "now" } }, true],
    ["a finalizer", { finalizers: ["x"] }, true],
    ["the wish to be deleted", { deletionTimestamp: "2026-01-01T00:00:00Z" }, true],
  ];
  for (const [what, now, isAsked] of cases) {
    test(`a change of ${what} is ${isAsked ? "" : "not "}asked for`, () => {
      const change = { type: "updated", previous: object(before) } as const;
      assert.equal(isAskedFor({ ...change, object: object({ ...before, ...now }) }), isAsked);
    });
  }

  test("kinds without a generation, and what comes and goes, always count", () => {
    const { generation: _, ...without } = before;
    const change = { type: "updated", previous: object(without) } as const;
    assert.equal(isAskedFor({ ...change, object: object(without) }), true);
    assert.equal(isAskedFor({ type: "deleted", object: object(before) }), true);
  });

  test("only what counts is enqueued", () => {
    const cache = new ObjectCache<KubeObject>();
    cache.replace([object({ ...before, resourceVersion: "1" })], "1", { isBack: false });
    const seen: string[] = [];
    using _started = watches(cache, undefined, { when: isAskedFor }).start((ref) =>
      seen.push(ref.name),
    );
    cache.change("MODIFIED", object({ ...before, resourceVersion: "2" }));
    cache.change("MODIFIED", object({ ...before, generation: 2, resourceVersion: "3" }));
    assert.deepEqual(seen, ["a", "a"]);
  });
});
