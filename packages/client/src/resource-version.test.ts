import assert from "node:assert/strict";
import { suite, test } from "node:test";

import * as fc from "fast-check";

import { isLater, laterOf } from "./resource-version.ts";

suite("resource versions", () => {
  test("are compared as the integers they stand for, however large", () => {
    const version = fc.bigInt({ min: 0n, max: 2n ** 70n });
    fc.assert(
      fc.property(version, version, (a, b) => {
        assert.equal(isLater(String(a), String(b)), a > b);
        assert.equal(laterOf(String(a), String(b)), String(a > b ? a : b));
      }),
    );
  });

  test("are later than none at all", () => {
    assert.deepEqual([isLater("1", ""), isLater("", "1"), isLater("", "")], [true, false, false]);
  });

  test("that are no integers are later than any other, never than themselves", () => {
    assert.deepEqual(
      [isLater("abc", "1"), isLater("1", "abc"), isLater("abc", "abc"), isLater("01", "2")],
      [true, true, false, true],
    );
  });
});
