import assert from "node:assert/strict";
import { suite, test } from "node:test";

import * as fc from "fast-check";

import { Chunk } from "../http/chunk.ts";
import { JoinedEvents, runsOf } from "./joined-events.ts";

suite("several events in one piece", () => {
  test("are put together once for all who get the same, and not for who gets others", () => {
    const joined = new JoinedEvents<object>();
    const [a, b, c] = [{ text: "a" }, { text: "b" }, { text: "c" }];
    const encode = (item: object): Chunk => Chunk.of((item as { text: string }).text);
    const first = joined.join([a, b], encode);
    assert.equal(first.bytes.toString(), "ab");
    assert.equal(first.framed.toString(), "00000002\r\nab\r\n");
    assert.equal(joined.join([b, c], encode).bytes.toString(), "bc");
    assert.equal(joined.join([a, b], encode), first);
    assert.equal(joined.join([b, a], encode).bytes.toString(), "ba");
    for (let number = 0; number < 8; number += 1) joined.join([{ text: `${number}` }, c], encode);
    assert.notEqual(joined.join([a, b], encode), first);
  });

  test("come in runs that are not too long, all of them, in order", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(30)), (sizes) => {
        const runs = [...runsOf(sizes, (size) => size, 40)];
        assert.deepEqual(runs.flat(), sizes);
        for (const run of runs) {
          assert.ok(run.length > 0);
          assert.ok(run.length === 1 || run.reduce((sum, size) => sum + size, 0) <= 40);
        }
      }),
    );
  });
});
