import assert from "node:assert/strict";
import { suite, test } from "node:test";

import * as fc from "fast-check";

import { JsonNumber, type Json } from "./json.ts";
import { readJson } from "./read-json.ts";
import { writeJson } from "./write-json.ts";

const special = new JsonNumber("1.0");

suite("writeJson", () => {
  test("writes what JSON.stringify writes, also when something special stands beside it", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const text = JSON.stringify(value);
        assert.equal(writeJson(value as Json), text);
        assert.equal(writeJson([special, value as Json]), `[1.0,${text}]`);
        assert.equal(
          writeJson({ special, value: value as Json }),
          `{"special":1.0,"value":${text}}`,
        );
      }),
    );
  });

  test("writes numbers by their text", () => {
    const value = { a: 1, b: 2n ** 63n - 1n, c: [special, new JsonNumber("1e400")], d: 1e21 };
    assert.equal(writeJson(value), '{"a":1,"b":9223372036854775807,"c":[1.0,1e400],"d":1e+21}');
  });

  test("leaves out undefined members, first and last too", () => {
    const partial = { a: undefined, b: special, c: undefined, d: 1, e: undefined };
    assert.equal(writeJson(partial as unknown as Json), '{"b":1.0,"d":1}');
    assert.equal(writeJson([undefined, special] as unknown as Json), "[null,1.0]");
    assert.equal(
      writeJson({ a: special, b: { c: undefined } } as unknown as Json),
      '{"a":1.0,"b":{}}',
    );
  });

  test("writes what is not finite as null, on both roads", () => {
    assert.equal(writeJson([NaN, Infinity]), "[null,null]");
    assert.equal(writeJson([NaN, special]), "[null,1.0]");
  });

  test("keeps __proto__ as an ordinary key", () => {
    for (const text of ['{"__proto__":{"a":1}}', '{"__proto__":{"a":1.0}}']) {
      assert.equal(writeJson(readJson(text)), text);
    }
  });

  test("escapes lone surrogates", () => {
    assert.equal(writeJson("\ud800"), '"\\ud800"');
    assert.equal(writeJson({ "\udfff": special }), '{"\\udfff":1.0}');
  });

  test("refuses a value that contains itself, and accepts one that stands in two places", () => {
    const shared: Json = [special];
    assert.equal(writeJson([shared, shared]), "[[1.0],[1.0]]");
    const cycle: Json[] = [special];
    cycle.push({ cycle });
    assert.throws(() => writeJson(cycle), TypeError);
  });
});
