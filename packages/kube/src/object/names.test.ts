import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { dnsSubdomainProblems, labelKeyProblems, labelValueProblems } from "./names.ts";

suite("names", () => {
  test("one that is far too long is judged as a whole", () => {
    const half = "a".repeat(10_000);
    for (const problemsOf of [dnsSubdomainProblems, labelKeyProblems, labelValueProblems]) {
      assert.equal(problemsOf(half + half).length, 1);
      assert.equal(problemsOf(`${half}!${half}`).length, 2);
      assert.equal(problemsOf(`${half}-${half}`).length, 1);
    }
    // A dash may stand anywhere but at the ends.
    assert.equal(labelValueProblems(`${"a".repeat(62)}-${half}`).length, 1);
  });
});
