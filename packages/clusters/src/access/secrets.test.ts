import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Json } from "@keelson/base";
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

  const users = (...all: readonly (readonly [user: string, token: string, more?: object])[]) => ({
    users: all.map(([user, token, more]) => ({ user, token, ...more })),
  });
  const stored = users(["a", "of a"], ["b", "of b"], ["c", "of c"]);
  for (const [what, sent, expected] of [
    [
      "that were moved",
      users(["c", marker], ["a", marker], ["b", marker]),
      ["of c", "of a", "of b"],
    ],
    ["beside one that is gone", users(["b", marker], ["c", marker]), ["of b", "of c"]],
    [
      "beside a new one",
      users(["new", "of new"], ["a", marker], ["b", marker], ["c", marker]),
      ["of new", "of a", "of b", "of c"],
    ],
    [
      "of which one was changed in its place",
      users(["a", marker], ["b", marker, { more: 1 }], ["c", marker]),
      ["of a", "of b", "of c"],
    ],
    [
      "with new secrets",
      users(["c", "newer"], ["b", marker], ["a", marker]),
      ["newer", "of b", "of a"],
    ],
  ] as const) {
    test(`items of a list ${what} have their own secrets`, () => {
      const { spec, problems } = restore(sent, stored);
      assert.deepEqual(problems, []);
      const { users } = spec as { readonly users: readonly { readonly token: string }[] };
      assert.deepEqual(
        users.map(({ token }) => token),
        expected,
      );
    });
  }

  test("an item that was changed is known by its name, if it has one", () => {
    const before = {
      list: [
        { name: "x", token: "of x" },
        { name: "y", token: "of y" },
      ],
    };
    const sent = { list: [{ name: "y", token: marker, more: [1] }] };
    assert.deepEqual(restore(sent, before), {
      spec: { list: [{ name: "y", token: "of y", more: [1] }] },
      problems: [],
    });
  });

  test("where nobody can tell which of several is meant, that is a problem, unless they are the same", () => {
    const one = { token: [marker], list: [{ password: marker }, { password: marker }, { n: 1 }] };
    const different = { token: ["t", "u"], list: [{ password: "p" }] };
    assert.deepEqual(
      restore(one, different).problems.map(({ field }) => field),
      ["spec.token[0]"],
    );
    assert.deepEqual(restore({ token: [marker] }, { token: ["t", "t"] }), {
      spec: { token: ["t"] },
      problems: [],
    });
  });

  test("long and deep lists take no longer than they are long", () => {
    const many = Array.from({ length: 100_000 }, () => ({ token: "t" }));
    const long = { long: many.with(7, { token: marker }).with(9, { token: "u" }) };
    // Of one length and with another number of items that are alike: each stays in its place.
    const others = { long: [...many.slice(1), { token: "t", more: 1 }] };
    assert.deepEqual(restore(long, others).problems, []);
    let deep: Json = { token: "t", text: "x".repeat(500_000) };
    for (let depth = 0; depth < 500; depth++) deep = [deep];
    const before = { deep };
    assert.deepEqual(restore(redact(before), before), { spec: before, problems: [] });
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
