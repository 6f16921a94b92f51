// What tests and benchmarks believe of a process: when it is ready, and what is said of one that is not.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { suite, test } from "node:test";
import { expectAnswer } from "./expect-answer.ts";
import { KeelsonProcess, temporaryFolder } from "./keelson-process.ts";
import { runKeelson } from "./run-keelson.ts";

suite("a process of keelson", () => {
  test("that dies says its last words to each who waits", async () => {
    await using folder = await temporaryFolder();
    await using keelson = new KeelsonProcess(folder.path, { flags: ["--prot", "1"] });
    const waits = [keelson.ready(), keelson.said(/never/)];
    for (const wait of await Promise.allSettled(waits)) {
      assert.equal(wait.status, "rejected");
      assert.match(String(wait.reason), /ended with 2 before it said .*\n.*--prot/s);
    }
    assert.equal(keelson.isAlive, false);
    await assert.rejects(keelson.said(/never/), /--prot/);
  });

  test("is waited for until the signal, which is left alone afterwards", async (t) => {
    await using folder = await temporaryFolder();
    await using keelson = new KeelsonProcess(folder.path, { command: "apiserver" });
    const stop = new AbortController();
    const waiting = keelson.said(/never/, stop.signal);
    const { metrics } = await keelson.ready(stop.signal);
    await expectAnswer(() => fetch(`${metrics}/readyz`), 200, t.signal);
    assert.equal(getEventListeners(stop.signal, "abort").length, 1);
    stop.abort(new Error("enough"));
    await assert.rejects(waiting, /enough/);
    assert.equal(keelson.isAlive, true);
    const { code, output } = await keelson.stop();
    assert.equal(code, 0, output);
    const patience = new AbortController();
    await runKeelson(["version"], { cwd: folder.path }, patience.signal);
    assert.equal(getEventListeners(patience.signal, "abort").length, 0);
  });
});
