import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { isOwnedBy, ownerText, parseOwner } from "./owner.ts";

const owner = { uid: "0f8c2a1e-6f3b-4e0e-9b59-6d6a3f7f4b11", namespace: "staging", name: "my-app" };

suite("owners", () => {
  test("are read as they were written", () => {
    assert.deepEqual(parseOwner(ownerText(owner)), owner);
  });

  test("what nobody of ours has written has none", () => {
    const texts = [undefined, "", "somebody", "a b", "a b/c d", "A b/c", ` ${ownerText(owner)}`];
    assert.deepEqual(
      texts.map((text) => parseOwner(text)),
      texts.map(() => undefined),
    );
  });

  test("an object of the same name is another one", () => {
    assert.equal(isOwnedBy(owner, owner), true);
    assert.equal(isOwnedBy({ ...owner, uid: "1" }, owner), false);
    assert.equal(isOwnedBy(undefined, owner), false);
  });
});
