import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { allowedDifferences } from "./allowed-differences.ts";
import type { Trial } from "./trials.ts";

/** Which lines of the table explain that ours refuses what the real server takes. */
function explaining(message: string, text: string): readonly string[] {
  const ours = { code: 400, message };
  const trial: Trial = {
    kind: "any",
    operation: "create",
    accepted: true,
    oracle: {},
    ours,
    context: { text },
  };
  const difference = { path: ".code", oracle: undefined, ours: 400 };
  return allowedDifferences
    .filter(({ explains }) => explains(difference, trial))
    .map(({ id }) => id);
}

suite("allowed differences", () => {
  const quantity = "quantities: unable to parse numeric part of quantity";
  const deep = "exceeded max depth of 512";
  const cases = [
    [quantity, '{"cpu":"1e1001"}', ["D7"]],
    [quantity, '{"cpu":"1E-2000"}', ["D7"]],
    [quantity, `{"cpu":"${"1".repeat(4097)}"}`, ["D7"]],
    [quantity, '{"cpu":"1.5"}', []],
    [quantity, '{"cpu":"1e999"}', []],
    [deep, `${"[".repeat(513)}${"]".repeat(513)}`, ["D6"]],
    [deep, `${"[".repeat(512)}${"]".repeat(512)}`, []],
    [deep, `[${"[],".repeat(600)}"${"[".repeat(600)}\\"["]`, []],
  ] as const;
  for (const [message, text, ids] of cases) {
    const shown = `${text.slice(0, 20)} of ${text.length} characters`;
    test(`"${message}" is explained of ${shown}: ${ids.join() || "by none"}`, () => {
      assert.deepEqual(explaining(message, text), ids);
    });
  }
});
