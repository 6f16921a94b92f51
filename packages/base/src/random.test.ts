import assert from "node:assert/strict";
import { suite, test } from "node:test";

import * as fc from "fast-check";

import { seededRandom, systemRandom } from "./random.ts";

for (const [name, random] of [
  ["systemRandom", systemRandom],
  ["seededRandom", seededRandom("suite")],
] as const) {
  suite(name, () => {
    test("floats are in [0, 1) and spread evenly", () => {
      const tenths = Array.from({ length: 10 }, () => 0);
      for (let i = 0; i < 100_000; i++) {
        const float = random.float();
        assert.ok(float >= 0 && float < 1);
        const tenth = Math.floor(float * 10);
        tenths[tenth] = (tenths[tenth] ?? 0) + 1;
      }
      // Ten standard deviations: it fails once in the age of the universe, or when it is broken.
      for (const count of tenths) assert.ok(Math.abs(count - 10_000) < 950, tenths.join());
    });

    test("integers are below their bound, which must be a positive integer", () => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (below) => {
          const integer = random.integer(below);
          assert.ok(Number.isSafeInteger(integer) && integer >= 0 && integer < below);
        }),
      );
      for (const below of [0, -1, 1.5, NaN, 2 ** 53]) {
        assert.throws(() => random.integer(below), RangeError);
      }
    });

    test("UUIDs are of version 4 and differ", () => {
      const uuids = Array.from({ length: 1_000 }, () => random.uuid());
      for (const uuid of uuids) {
        assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      }
      assert.equal(new Set(uuids).size, uuids.length);
    });

    test("bytes come in any number", () => {
      for (const length of [0, 1, 3, 4, 5, 65_536, 65_537, 200_000]) {
        const bytes = random.bytes(length);
        assert.equal(bytes.length, length);
        if (length > 1_000) assert.ok(bytes.subarray(-1_000).some((byte) => byte !== 0));
      }
    });

    test("a pick is one of the items, and there must be one", () => {
      const picked = new Set(Array.from({ length: 200 }, () => random.pick(["a", "b", "c"])));
      assert.deepEqual([...picked].sort(), ["a", "b", "c"]);
      assert.throws(() => random.pick([]), RangeError);
    });

    test("a shuffle is a new array with the same items, in every order", () => {
      const items = Object.freeze([1, 2, 3]);
      const orders = new Set(Array.from({ length: 500 }, () => random.shuffle(items).join("")));
      assert.deepEqual([...orders].sort(), ["123", "132", "213", "231", "312", "321"]);
    });
  });
}

suite("seededRandom", () => {
  test("a seed decides the sequence, in this release and the next", () => {
    const draw = (seed: number | string): unknown => {
      const random = seededRandom(seed);
      return [random.float(), random.integer(1_000), random.uuid(), [...random.bytes(3)]];
    };
    assert.deepEqual(draw(42), draw("42"));
    assert.deepEqual(draw(42), [
      0.5072739785326508,
      107,
      "71d1871c-3f94-4859-ba01-10f4c29243f2",
      [116, 24, 141],
    ]);
  });

  test("neighbouring seeds have nothing in common", () => {
    const first = Array.from({ length: 10_000 }, (_, seed) => seededRandom(seed).float());
    assert.equal(new Set(first).size, first.length);
    const mean = first.reduce((sum, float) => sum + float, 0) / first.length;
    assert.ok(Math.abs(mean - 0.5) < 0.02, `${mean}`);
  });
});
