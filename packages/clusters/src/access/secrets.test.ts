import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { marker, redact, restore } from "./secrets.ts";

const spec = {
  platform: { type: "gcp" },
  PASSWORD: "p",
  list: [{ clientSecret: "c", name: "n" }],
  token: { nested: ["t", 1, null], plain: true },
  tokens: "not a secret key",
};

suite("secrets of a spec", () => {
  test("every text under a secret key is hidden, at any depth and in any case", () => {
    assert.deepEqual(redact(spec), {
      platform: { type: "gcp" },
      PASSWORD: marker,
      list: [{ clientSecret: marker, name: "n" }],
      token: { nested: [marker, 1, null], plain: true },
      tokens: "not a secret key",
    });
  });

  test("what was shown comes back as what is stored, and new values count", () => {
    const sent = { ...redact(spec), PASSWORD: "new" };
    assert.deepEqual(restore(sent, spec), { spec: { ...spec, PASSWORD: "new" }, problems: [] });
  });

  test("a marker for which nothing is stored is a problem that names its field", () => {
    assert.deepEqual(restore({ a: [{ password: marker }], note: marker }, spec).problems, [
      {
        field: "spec.a[0].password",
        message: "stands for no stored value: send the value itself",
      },
    ]);
  });
});
