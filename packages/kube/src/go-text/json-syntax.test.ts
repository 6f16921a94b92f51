import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { goJsonSyntax } from "./json-syntax.ts";

suite("what Go says of a text that is no JSON", () => {
  for (const [text, message] of [
    ["", "unexpected end of JSON input"],
    ["  ", "unexpected end of JSON input"],
    ["{", "unexpected end of JSON input"],
    ['{"a":"v', "unexpected end of JSON input"],
    ["hello", "invalid character 'h' looking for beginning of value"],
    ["{'a':1}", String.raw`invalid character '\'' looking for beginning of object key string`],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b":2}', `invalid character '"' after object key:value pair`],
    ["[1 2]", "invalid character '2' after array element"],
    ["[1,]", "invalid character ']' looking for beginning of value"],
    ["{} x", "invalid character 'x' after top-level value"],
    ["{}{}", "invalid character '{' after top-level value"],
    ['{"a":"\n"}', String.raw`invalid character '\n' in string literal`],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\\u00g0"', String.raw`invalid character 'g' in \u hexadecimal character escape`],
    ["-x", "invalid character 'x' in numeric literal"],
    ["1.x", "invalid character 'x' after decimal point in numeric literal"],
    ["1ex", "invalid character 'x' in exponent of numeric literal"],
    ["-", "invalid character ' ' in numeric literal"],
    ["1.", "invalid character ' ' after decimal point in numeric literal"],
    ["tru", "invalid character ' ' in literal true (expecting 'e')"],
    ['"\\', "invalid character ' ' in string escape code"],
    ["tru1", "invalid character '1' in literal true (expecting 'e')"],
  ] as const) {
    test(JSON.stringify(text), () => {
      assert.equal(goJsonSyntax(text), message);
    });
  }

  test("depth does not overflow the stack", () => {
    assert.equal(goJsonSyntax("[".repeat(1_000_000)), "unexpected end of JSON input");
  });
});
