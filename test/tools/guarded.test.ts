import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { suite, test } from "node:test";

import { Guard, ProcessEnded } from "./guarded.ts";
import { isAlive } from "./is-alive.ts";
import { until } from "./until.ts";

const sleep = { name: "sleep", path: "/bin/sleep", arguments: ["600"] };

suite("the guard", () => {
  test("whoever wants a process of a guard that is gone is told so", async (t) => {
    await using guard = new Guard();
    const first = await guard.start(sleep);
    assert.ok(guard.pid !== undefined);
    process.kill(guard.pid, "SIGKILL");
    await until(() => first.hasEnded, t.signal, "the end of the guard");
    await assert.rejects(guard.start(sleep), ProcessEnded);
  });

  test("a guard that hangs is told of, and killed", async (t) => {
    const guard = new Guard({ patienceMs: 50 });
    const { pid, folder } = guard;
    assert.ok(pid !== undefined);
    process.kill(pid, "SIGSTOP");
    await assert.rejects(guard.start(sleep), /the guard .* does not answer: sleep was not started/);
    await guard[Symbol.asyncDispose]();
    await until(() => !isAlive(pid), t.signal, "the end of the guard");
    assert.ok(!existsSync(folder));
  });
});
