import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { suite, test } from "node:test";

import { receiveBody, type BodyOutcome } from "./receive-body.ts";

suite("a body", () => {
  test("is kept in few pieces, however small they come", async (t) => {
    const { mock } = t.mock.method(Buffer, "concat");
    const text = "0123456789".repeat(1_000);
    const pieces = Readable.from(Array.from(text, (character) => Buffer.from(character)));
    const body = await new Promise<BodyOutcome>((resolve) => {
      receiveBody(pieces, undefined, resolve);
    });
    assert.equal(Buffer.from(body as Uint8Array).toString(), text);
    const counts = mock.calls.map(({ arguments: [list] }) => list.length);
    assert.ok(Math.max(...counts) <= 256, `${Math.max(...counts)} pieces were kept`);
  });

  test("that comes in one piece is that piece", async () => {
    const piece = Buffer.from("{}");
    const body = await new Promise<BodyOutcome>((resolve) => {
      receiveBody(Readable.from([piece]), undefined, resolve);
    });
    assert.equal(body, piece);
  });
});
