import assert from "node:assert/strict";
import { test } from "node:test";

import { RecentMap } from "./recent-map.ts";

test("the entry not asked for longest goes, and one that is set again is one entry", () => {
  const map = new RecentMap<string, number>({ sizeMax: 3 });
  for (const [key, value] of Object.entries({ a: 1, b: 2, c: 3 })) map.set(key, value);
  assert.equal(map.get("a"), 1);
  map.set("c", 4);
  map.set("d", 5);
  assert.deepEqual(
    [map.size, map.get("a"), map.get("b"), map.get("c"), map.get("d")],
    [3, 1, undefined, 4, 5],
  );
});
