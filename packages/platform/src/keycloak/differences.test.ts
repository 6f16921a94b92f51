import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { differences, isNone } from "./differences.ts";

const desired = {
  enabled: true,
  redirectUris: ["https://a/*"],
  webOrigins: ["https://a", "https://b"],
  attributes: { pkce: "S256", other: "x" },
};

suite("differences", () => {
  test("are none where everything is so, whatever else is there", () => {
    const found = {
      ...desired,
      webOrigins: ["https://b", "https://a"],
      attributes: { ...desired.attributes, theirs: "1" },
      id: "1",
    };
    assert.equal(isNone(differences(desired, found)), true);
  });

  test("are the fields that differ, and of members those", () => {
    const found = {
      enabled: "true",
      redirectUris: ["https://a/*", "*"],
      webOrigins: ["https://a"],
      attributes: { pkce: "plain", other: "x" },
    };
    assert.deepEqual(differences(desired, found), {
      enabled: true,
      redirectUris: ["https://a/*"],
      webOrigins: ["https://a", "https://b"],
      attributes: { pkce: "S256" },
    });
    assert.deepEqual(differences(desired, {}), desired);
  });
});
