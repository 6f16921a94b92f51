import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { fieldsOf, trimSpace } from "./trim-space.ts";

suite("white space as Go knows it", () => {
  const texts = [
    ["", ""],
    ["a", "a"],
    [" \t\n\v\f\ra b\r ", "a b"],
    ["\u0085a\u0085", "a"],
    ["\u00a0\u2003\u3000a\u2028", "a"],
    ["\ufeffa\ufeff", "\ufeffa\ufeff"],
    ["\u200ba", "\u200ba"],
    [" \u0085 ", ""],
  ] as const;
  for (const [text, trimmed] of texts) {
    test(`${JSON.stringify(text)} is trimmed`, () => {
      assert.equal(trimSpace(text), trimmed);
    });
  }

  test("fields stand between spaces", () => {
    assert.deepEqual(fieldsOf(" a\u0085b  c\ufeff "), ["a", "b", "c\ufeff"]);
    assert.deepEqual(fieldsOf(" "), []);
  });
});
