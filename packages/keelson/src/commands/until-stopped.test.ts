import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../testing/leaves-a-connection.ts", import.meta.url));

suite("a server that ends", () => {
  for (const [how, code] of [
    ["in order", 0],
    ["with an error", 1],
  ] as const) {
    test(`${how} does not wait for a connection whose peer says nothing`, async () => {
      // It never ends its half, so the other half stays open.
      const peer = createServer({ allowHalfOpen: true }, (socket) => socket.unref());
      peer.listen(0, "127.0.0.1").unref();
      await once(peer, "listening");
      const { port } = peer.address() as AddressInfo;
      const child = spawn(process.execPath, [program, String(port), how], { stdio: "ignore" });
      assert.deepEqual(await once(child, "exit"), [code, null]);
    });
  }
});
