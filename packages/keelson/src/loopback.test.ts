import assert from "node:assert/strict";
import { test } from "node:test";
import { hostOf } from "./loopback.ts";

test("a listener is found where it listens, and by loopback where it listens everywhere", () => {
  for (const [address, host] of [
    ["127.0.0.1", "127.0.0.1"],
    ["192.0.2.7", "192.0.2.7"],
    ["fd00::7", "fd00::7"],
    ["keelson.example.com", "keelson.example.com"],
    ["0.0.0.0", "127.0.0.1"],
    ["::ffff:0.0.0.0", "127.0.0.1"],
    ["::", "::1"],
  ] as const) {
    assert.equal(hostOf(address), host);
  }
});
