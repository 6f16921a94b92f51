import assert from "node:assert/strict";
import { test } from "node:test";

import { LinkedList } from "./linked-list.ts";

test("a list hands out its values in order, whoever left or moved", () => {
  const list = new LinkedList<string>();
  const [a, b, c] = ["a", "b", "c"].map((value) => list.push(value));
  assert.ok(a !== undefined && b !== undefined && c !== undefined);
  list.moveToEnd(a);
  assert.deepEqual([...list], ["b", "c", "a"]);
  list.moveToEnd(a);
  list.remove(c);
  assert.deepEqual([...list, list.size], ["b", "a", 2]);
  assert.deepEqual([list.shift()?.value, list.shift()?.value, list.shift()], ["b", "a", undefined]);
});

test("whoever is being looked at may leave", () => {
  const list = new LinkedList<{ name: string; leave: () => void }>();
  for (const name of ["a", "b", "c"]) {
    const place = list.push({ name, leave: () => list.remove(place) });
  }
  const seen: string[] = [];
  for (const { name, leave } of list) {
    seen.push(name);
    if (name !== "b") leave();
  }
  assert.deepEqual(seen, ["a", "b", "c"]);
  assert.deepEqual(
    Array.from(list, ({ name }) => name),
    ["b"],
  );
});

test("a place that was left holds on to nobody", () => {
  const list = new LinkedList<number>();
  const [first, second] = [list.push(1), list.push(2)];
  list.push(3);
  list.remove(second);
  list.shift();
  assert.deepEqual(
    [first.previous, first.next, second.previous, second.next],
    [undefined, undefined, undefined, undefined],
  );
});
