import assert from "node:assert/strict";
import { test } from "node:test";

import { seededRandom } from "@keelson/base";
import * as fc from "fast-check";

import { diffLinesMax, unifiedDiff } from "./unified-diff.ts";

test("equal texts have no difference", () => {
  assert.equal(unifiedDiff("a\nb", "a\nb"), "");
});

test("a change is shown with three lines around it", () => {
  assert.equal(
    unifiedDiff("1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n2\n3\n4\nfive\n6\n7\n8\n9"),
    "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
  );
});

test("changes that are far apart have hunks of their own", () => {
  const lines = Array.from({ length: 20 }, (_, index) => String(index));
  const changed = lines.map((line) => (line === "1" || line === "18" ? "x" : line));
  const hunks = unifiedDiff(lines.join("\n"), changed.join("\n")).match(/^@@.*$/gm);
  assert.deepEqual(hunks, ["@@ -1,5 +1,5 @@", "@@ -16,5 +16,5 @@"]);
});

test("texts that are too long are not compared", () => {
  assert.equal(unifiedDiff("a\n".repeat(diffLinesMax + 1), "b"), "");
});

test("texts that are too much work are not compared", () => {
  const words = Array.from({ length: 200 }, (_, index) => String(index));
  const lines = (seed: string): string => {
    const random = seededRandom(seed);
    return Array.from({ length: 9_000 }, () => random.pick(words)).join("\n");
  };
  assert.equal(unifiedDiff(lines("a"), lines("b")), "");
});

test("a difference, applied, gives the other text", () => {
  const lines = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 30 });
  fc.assert(
    fc.property(lines, lines, (a, b) => {
      const [before, after] = [a.join("\n"), b.join("\n")];
      assert.equal(apply(before, unifiedDiff(before, after)), after);
    }),
  );
});

function apply(text: string, diff: string): string {
  if (diff === "") return text;
  const source = text.split("\n");
  const result: string[] = [];
  let at = 0;
  for (const line of diff.slice(0, -1).split("\n")) {
    const hunk = /^@@ -(\d+)(?:,(\d+))? /.exec(line);
    if (hunk !== null) {
      const start = Number(hunk[1]) - (hunk[2] === "0" ? 0 : 1);
      result.push(...source.slice(at, start));
      at = start;
    } else if (line.startsWith("+")) result.push(line.slice(1));
    else {
      if (line.startsWith(" ")) result.push(line.slice(1));
      at += 1;
    }
  }
  return [...result, ...source.slice(at)].join("\n");
}
