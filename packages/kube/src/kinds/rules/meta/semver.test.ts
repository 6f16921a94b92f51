import assert from "node:assert/strict";
import { test } from "node:test";

import { compareSemver, isSemver, parseSemver, zeroSemver } from "./semver.ts";

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
    assert.equal(isSemver(text), false, text);
  }
});

test("a version is read only if its numbers have 64 bits", () => {
  const [most, more] = ["18446744073709551615", "18446744073709551616"];
  const versions = [`${most}.0.0`, `${more}.0.0`, `0.0.${more}`, `1.0.0-${more}`, `1.0.0-a${more}`];
  assert.deepEqual(
    versions.filter((text) => parseSemver(text) !== undefined),
    [`${most}.0.0`, `1.0.0-a${more}`],
  );
  assert.deepEqual(versions.filter(isSemver), versions);
});
