import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { markedTags, parseTags } from "./owner-tags.ts";

const owner = { uid: "0f8c2a1e-6f3b-4e0e-9b59-6d6a3f7f4b11", namespace: "apps", name: "shop" };

suite("the tags of a bucket", () => {
  test("are read as they were written, beside those of others", () => {
    const theirs = [{ Key: "team", Value: "a" }];
    const retained = markedTags([...theirs, { Key: "aws:x", Value: "1" }], {
      owner,
      isRetained: true,
    });
    assert.deepEqual(parseTags(retained), { owner, isRetained: true });
    const again = markedTags(retained, { owner: { ...owner, uid: "1" }, isRetained: false });
    assert.deepEqual(again, [...theirs, { Key: "platform.internal/owner", Value: "1 apps/shop" }]);
    assert.equal(parseTags(theirs), undefined);
    assert.equal(parseTags([{ Key: "platform.internal/owner", Value: "me" }]), undefined);
  });

  test("an owner that is too long for a tag is told so", () => {
    const long = { ...owner, name: "n".repeat(230) };
    assert.throws(() => markedTags([], { owner: long, isRetained: false }), {
      reason: "InvalidSpec",
      message: /would have 272 characters, 16 more than a bucket takes/,
    });
  });
});
