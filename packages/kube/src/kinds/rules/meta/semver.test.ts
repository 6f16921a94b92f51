import assert from "node:assert/strict";
import { test } from "node:test";

import { compareSemver, parseSemver, zeroSemver } from "./semver.ts";

test("versions have the order of semver.org", () => {
  const inOrder = [
    "0.0.0",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "1.2.10",
    "10.0.0",
  ];
  const shuffled = inOrder.toReversed().map((text) => [text, parseSemver(text)] as const);
  const sorted = shuffled.toSorted(([, a], [, b]) =>
    compareSemver(a ?? zeroSemver, b ?? zeroSemver),
  );
  assert.deepEqual(
    sorted.map(([text]) => text),
    inOrder,
  );
});

test("what is no version is none", () => {
  for (const text of ["", "1", "1.2", "v1.2.3", "01.2.3", "1.2.3-", "1.2.3-01", "1.2.3+"]) {
    assert.equal(parseSemver(text), undefined, text);
  }
});
