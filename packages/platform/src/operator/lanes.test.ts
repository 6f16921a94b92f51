import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Lanes } from "./lanes.ts";

function lanes(workers = 4) {
  const called: string[] = [];
  return { called, lanes: new Lanes<"sql" | "s3">({ workers, call: (key) => called.push(key) }) };
}

suite("lanes", () => {
  test("let in half of the workers, each service by itself", () => {
    const { lanes: all, called } = lanes();
    const places = ["a", "b", "c"].map((key) => all.enter("sql", key));
    assert.deepEqual(
      places.map((place) => place !== undefined),
      [true, true, false],
    );
    assert.ok(all.enter("s3", "c"));
    assert.deepEqual(called, []);
  });

  test("call those who wait in the order of their coming, and keep their place", () => {
    const { lanes: all, called } = lanes();
    const [a, b] = [all.enter("sql", "a"), all.enter("sql", "b")];
    for (const key of ["c", "d"]) {
      using _run = all.begin(key);
      assert.equal(all.enter("sql", key), undefined);
    }
    a?.[Symbol.dispose]();
    assert.deepEqual(called, ["c"]);
    // Who comes meanwhile does not get it.
    assert.equal(all.enter("sql", "e"), undefined);
    using _c = all.enter("sql", "c");
    assert.ok(_c);
    b?.[Symbol.dispose]();
    assert.deepEqual(called, ["c", "d"]);
  });

  test("give away the place of who was called and does not want it", () => {
    const { lanes: all, called } = lanes(2);
    const a = all.enter("sql", "a");
    assert.equal(all.enter("sql", "b"), undefined);
    assert.equal(all.enter("sql", "c"), undefined);
    a?.[Symbol.dispose]();
    all.begin("b")[Symbol.dispose]();
    assert.deepEqual(called, ["b", "c"]);
  });

  test("keep the place of who is called during the run in which it was put off", () => {
    const { lanes: all, called } = lanes(2);
    const a = all.enter("sql", "a");
    const run = all.begin("b");
    assert.equal(all.enter("sql", "b"), undefined);
    assert.equal(all.enter("sql", "c"), undefined);
    a?.[Symbol.dispose]();
    run[Symbol.dispose]();
    assert.deepEqual(called, ["b"]);
    using _again = all.begin("b");
    assert.ok(all.enter("sql", "b"));
  });

  test("with one worker one at a time", () => {
    const { lanes: all } = lanes(1);
    assert.ok(all.enter("sql", "a"));
    assert.equal(all.enter("sql", "b"), undefined);
  });
});
