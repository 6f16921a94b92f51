import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { Body } from "./body.ts";
import { ObjectCache } from "./object-cache.ts";

const keyOf = (name: string) => ({ kind: "Thing", namespace: "", name });
const row = (name: string, revision = 1, length = 0) => ({
  key: keyOf(name),
  uid: "u",
  revision,
  body: Body.of({ text: "x".repeat(length) }),
});

suite("objects in memory", () => {
  test("go when there is no room, the least recently used first", () => {
    const cache = new ObjectCache(11 * 600); // Room for twelve, of which one or two go at once.
    for (let index = 0; index < 12; index++) cache.put(row(`o${index}`));
    cache.get(keyOf("o0"));
    cache.put(row("o12"));
    const kept = Array.from({ length: 13 }, (_, index) => index).filter(
      (index) => cache.revisionOf(keyOf(`o${index}`)) !== undefined,
    );
    assert.deepEqual(kept, [0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });

  test("give way to newer states alone, and a giant takes its earlier state along", () => {
    const cache = new ObjectCache(20_000);
    cache.put(row("a", 5));
    cache.put(row("a", 4));
    assert.equal(cache.get(keyOf("a"))?.revision, 5);
    cache.put(row("a", 6));
    assert.equal(cache.get(keyOf("a"))?.revision, 6);
    cache.put(row("a", 7, 5_000));
    assert.equal(cache.get(keyOf("a")), undefined);
  });

  test("are forgotten together", () => {
    const cache = new ObjectCache(20_000);
    cache.put(row("a"));
    cache.put(row("b"));
    cache.clear();
    assert.deepEqual([cache.get(keyOf("a")), cache.get(keyOf("b"))], [undefined, undefined]);
    cache.put(row("a"));
    assert.equal(cache.revisionOf(keyOf("a")), 1);
  });
});
