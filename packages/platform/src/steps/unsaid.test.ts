import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { unsaid } from "./unsaid.ts";

suite("what strangers repeat", () => {
  for (const [what, words, shown] of [
    ["nothing of ours", "realm shop exists", "realm shop exists"],
    ["a secret", "no p@ss w/#% here", "no ***** here"],
    ["a secret in a URL", "?password=p%40ss%20w%2F%23%25&a=b", "?password=*****&a=b"],
    ["a secret in a form", "password=p%40ss+w%2F%23%25&a=b", "password=*****&a=b"],
    ["a secret in JSON", '{"secret":"say \\"it\\""}', '{"secret":"*****"}'],
    [
      "a token",
      "authorization: Bearer eyJhbGci.eyJ-_9.x= sent",
      "authorization: Bearer ***** sent",
    ],
    ["a signature", "SignedHeaders=host, Signature=0af9", "SignedHeaders=host, Signature=*****"],
  ] as const) {
    test(`${what}: ${shown}`, () => {
      assert.equal(unsaid(words, ["p@ss w/#%", 'say "it"', "", "e"]), shown);
    });
  }
});
