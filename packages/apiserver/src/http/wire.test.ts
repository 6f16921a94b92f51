import assert from "node:assert/strict";
import { test } from "node:test";

import { makeServer } from "./wire.ts";

test("no connection holds a small piece back until the one before is acknowledged", () => {
  for (const tls of [undefined, {}]) {
    // Node keeps it there and does not declare it; each connection that it accepts is set so.
    const server = makeServer(tls, () => undefined) as unknown as { readonly noDelay: boolean };
    assert.equal(server.noDelay, true, tls === undefined ? "plain" : "with TLS");
  }
});
