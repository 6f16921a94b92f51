import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Body } from "./body.ts";
import { Change, Filter } from "./change.ts";
import { key, kind, object } from "./testing/bed.ts";

const named = (name: string): Filter =>
  new Filter(kind, "", {
    fields: [{ path: ["metadata", "name"], operator: "Equals", value: name }],
  });

suite("filter", () => {
  test("of one name reads the bodies of no other", () => {
    const change = new Change({
      type: "MODIFIED",
      revision: 2,
      key: key("a"),
      uid: "u",
      body: Body.stored("{", key("a"), (_, cause) => new Error("damaged", { cause })),
      previous: undefined,
    });
    assert.equal(named("b").see(change), undefined);
    assert.throws(() => named("a").see(change), /damaged/);
  });

  test("of one name lets its changes through", () => {
    const body = object("a");
    const change = new Change({
      type: "MODIFIED",
      revision: 2,
      key: key("a"),
      uid: "u",
      body,
      previous: body,
    });
    assert.equal(named("a").see(change), change);
  });
});
