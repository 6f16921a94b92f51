import assert from "node:assert/strict";
import { suite, test } from "node:test";

import * as fc from "fast-check";

import { BytePieces } from "./byte-pieces.ts";

suite("pieces of bytes", () => {
  test("are the bytes of the texts, whatever their sizes and letters", () => {
    const letters = fc.constantFrom("a", "ü", "€", "😀", "\ud800");
    const text = fc
      .tuple(letters, fc.oneof(fc.nat(10), fc.nat(300_000)))
      .map(([letter, count]) => letter.repeat(count));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 8 }), (texts) => {
        const pieces = new BytePieces();
        const taken = texts.map((text) => pieces.add(text));
        taken.push(pieces.take());
        const chunks = taken.filter((piece) => piece !== undefined);
        const bytes = chunks.map((chunk) => chunk.bytes);
        assert.ok(bytes.every(({ length }) => length > 0));
        // Compared as bytes: a difference of megabytes is nothing to print.
        assert.ok(
          Buffer.concat(bytes).equals(Buffer.concat(texts.map((text) => Buffer.from(text)))),
        );
      }),
      { numRuns: 50 },
    );
  });
});
