import assert from "node:assert/strict";
import { suite, test } from "node:test";

import * as fc from "fast-check";

import type { Chunk } from "../http/chunk.ts";
import { BytePieces, PiecePool } from "./byte-pieces.ts";

suite("pieces of bytes", () => {
  test("are the bytes of the texts, whatever their sizes and letters", () => {
    const letters = fc.constantFrom("a", "ü", "€", "😀", "\ud800");
    const text = fc
      .tuple(letters, fc.oneof(fc.nat(10), fc.nat(300_000)))
      .map(([letter, count]) => letter.repeat(count));
    const pool = new PiecePool();
    fc.assert(
      fc.property(fc.array(text, { maxLength: 8 }), (texts) => {
        const pieces = new BytePieces(pool);
        const bytes: Buffer[] = [];
        const sent = (chunk: Chunk | undefined): void => {
          if (chunk === undefined || chunk.bytes.length === 0) return;
          bytes.push(Buffer.from(chunk.bytes));
          chunk.framed.fill(0); // Whoever has it next may do so.
          chunk.onWritten?.();
        };
        for (const text of texts) sent(pieces.add(text));
        sent(pieces.take());
        // Compared as bytes: a difference of megabytes is nothing to print.
        assert.ok(
          Buffer.concat(bytes).equals(Buffer.concat(texts.map((text) => Buffer.from(text)))),
        );
      }),
      { numRuns: 50 },
    );
  });

  test("use a buffer again once it is out, and never before", () => {
    const pool = new PiecePool();
    const pieces = new BytePieces(pool);
    const whole = "x".repeat(40_000);
    pieces.add(whole);
    const first = pieces.add(whole);
    const second = pieces.take();
    assert.notEqual(first?.framed.buffer, second?.framed.buffer);
    first?.onWritten?.();
    pieces.add("y");
    assert.equal(pieces.take()?.framed.buffer, first?.framed.buffer);
    assert.equal(second?.bytes.toString(), whole);
  });
});
