import assert from "node:assert/strict";
import { test } from "node:test";
import { sessionTarget } from "./server-address.ts";

test("a primary is looked for, or one that takes writes if the URL asks for it, and never anything else", () => {
  const targets = ["", "any", "standby", "read-only", "primary", "read-write"].map((asked) =>
    sessionTarget(`postgres://me@a,b/ark?target_session_attrs=${asked}`),
  );
  assert.deepEqual(targets, [...Array.from({ length: 5 }, () => "primary"), "read-write"]);
  assert.equal(sessionTarget("postgres://me@a:1,b:2/ark"), "primary");
});
