import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { firstWarnings, WarningList } from "./warning-list.ts";

function listOf(texts: readonly string[]): WarningList {
  const list = new WarningList();
  for (const text of texts) list.add(text);
  return list;
}

suite("warnings", () => {
  test("each is told once and in full while there are few", () => {
    const long = "é".repeat(4_000);
    assert.deepEqual(listOf(["a", "", long, "a", "b"]).told, ["a", long, "b"]);
  });

  test("beyond 4,096 characters all are cut to 256", () => {
    const { told, isFull } = listOf(["a", "😀".repeat(4_095), "b".repeat(300)]);
    assert.deepEqual(told, ["a", "😀".repeat(256), "b".repeat(256)]);
    assert.equal(isFull, false);
  });

  test("and those behind 4,096 characters of what was cut are not told", () => {
    const texts = Array.from({ length: 30 }, (_, index) => `${index}`.padEnd(1_000, "x"));
    const { told, isFull } = listOf(texts);
    assert.deepEqual(
      told,
      texts.slice(0, 16).map((text) => text.slice(0, 256)),
    );
    assert.equal(isFull, true);
  });

  test("what has a control character is not told, nor counted", () => {
    const controls = ["\t", "\n", "\u0000", "\u007f", "\u0085"].map((one) => `a${one}b`);
    assert.deepEqual(listOf(["a", ...controls, "\t".repeat(5_000), "\u00a0", "b"]).told, [
      "a",
      "\u00a0",
      "b",
    ]);
  });

  test("unless it stands in what is cut away", () => {
    const late = `${"c".repeat(256)}\t`;
    assert.deepEqual(listOf([late, "b".repeat(4_097)]).told, ["c".repeat(256), "b".repeat(256)]);
  });

  test("what cannot be told is not looked for", () => {
    let asked = 0;
    const endless = (function* () {
      for (;;) yield `warning ${(asked += 1)}`;
    })();
    assert.equal(firstWarnings(endless).length, asked);
    assert.ok(asked < 1_000, String(asked));
  });
});
