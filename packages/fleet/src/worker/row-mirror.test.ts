import assert from "node:assert/strict";
import { test } from "node:test";
import type { DynamicObject } from "@keelson/client";
import type { Observer, Seen } from "./observer.ts";
import { RowMirror } from "./row-mirror.ts";
import type { WatchedRows } from "./watched-rows.ts";

const kind = "/ConfigMap";

/** A mirror, what it told of each row, and the rows that are known. */
function mirrored(known: number[]) {
  const told: (readonly [number, Seen["type"]])[] = [];
  const strangers: number[] = [];
  const nobodys: DynamicObject[] = [];
  const mirror = new RowMirror({
    kind,
    namespace: undefined,
    rows: { of: () => known, all: () => [] } as unknown as WatchedRows,
    observer: {
      see: (id: number, { type }: Seen) => told.push([id, type]),
    } as unknown as Observer,
    onStranger: (id) => strangers.push(id),
    onNobodys: (object) => nobodys.push(object),
  });
  return { mirror, told, strangers, nobodys };
}

function marked(id: number): DynamicObject {
  const annotations = { "kontrol/resource-id": String(id) };
  const metadata = { name: "web", namespace: "shop", resourceVersion: "7", annotations };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

test("an object of a row that is not known yet is told of it as soon as it is", () => {
  const known: number[] = [];
  const { mirror, told, strangers } = mirrored(known);
  mirror.change("ADDED", marked(5));
  assert.deepEqual([told, strangers], [[], [5]]);
  known.push(5);
  mirror.lookAgain(new Set([5]));
  assert.deepEqual(told, [[5, "present"]]);
});

test("one that is gone when the watch begins anew is not told of any more", () => {
  const known: number[] = [];
  const { mirror, told } = mirrored(known);
  mirror.change("ADDED", marked(5));
  known.push(5);
  mirror.replace([], "9");
  mirror.lookAgain(new Set([5]));
  assert.deepEqual(told, []);
});

test("also while the row before it is known, which is being deleted", () => {
  const known = [4];
  const { mirror, told, strangers } = mirrored(known);
  mirror.change("MODIFIED", marked(5));
  assert.deepEqual([told, strangers], [[[4, "present"]], [5]]);
  mirror.lookAgain(new Set()); // Read before it came.
  known.splice(0, 1, 5);
  mirror.lookAgain(new Set([5]));
  assert.deepEqual(told.at(-1), [5, "present"]);
});

test("one whose row is not there is nobody's, once", () => {
  const { mirror, told, nobodys } = mirrored([]);
  mirror.change("ADDED", marked(5));
  mirror.lookAgain(new Set([5]));
  mirror.lookAgain(new Set([5]));
  assert.deepEqual([told, nobodys.length], [[], 1]);
});

test("a mark that no row can have is nobody's: what asks for such a row would fail, again and again", () => {
  const { mirror, strangers } = mirrored([]);
  for (const id of [2_147_483_647, 2_147_483_648, 9_999_999_999]) {
    mirror.change("MODIFIED", marked(id));
  }
  assert.deepEqual(strangers, [2_147_483_647]);
});

test("what is nobody's is known by its name, until a row comes to want it", () => {
  const known: number[] = [];
  const { mirror, told } = mirrored(known);
  const metadata = { name: "web", namespace: "shop", resourceVersion: "7" };
  const theirs: DynamicObject = { apiVersion: "v1", kind: "ConfigMap", metadata };
  mirror.replace([theirs], "7");
  assert.deepEqual(
    [told, mirror.isOther("shop/web"), mirror.isOther("shop/other")],
    [[], true, false],
  );
  known.push(5);
  mirror.tellOther("shop/web", theirs);
  assert.deepEqual([told, mirror.isOther("shop/web")], [[[5, "present"]], false]);
  // The watch was faster.
  mirror.tellOther("shop/web", theirs);
  assert.equal(told.length, 1);
  known.pop();
  mirror.change("MODIFIED", theirs);
  assert.ok(mirror.isOther("shop/web"));
  mirror.change("DELETED", theirs);
  assert.ok(!mirror.isOther("shop/web"));
});
