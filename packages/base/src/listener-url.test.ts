import assert from "node:assert/strict";
import { test } from "node:test";

import { listenerUrl } from "./listener-url.ts";

test("a listener is found where it listens, and by loopback where it listens everywhere", () => {
  for (const [address, url] of [
    ["127.0.0.1", "https://127.0.0.1:1"],
    ["192.0.2.7", "https://192.0.2.7:1"],
    ["fd00::7", "https://[fd00::7]:1"],
    ["::ffff:192.0.2.7", "https://192.0.2.7:1"],
    ["keelson.example.com", "https://keelson.example.com:1"],
    ["0.0.0.0", "https://127.0.0.1:1"],
    ["::ffff:0.0.0.0", "https://127.0.0.1:1"],
    ["::", "https://[::1]:1"],
  ] as const) {
    assert.equal(listenerUrl("https", { address, port: 1 }), url);
  }
});
