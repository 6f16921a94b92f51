import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { Guard, ProcessEnded } from "./guarded.ts";
import { until } from "./until.ts";

suite("the guard", () => {
  test("whoever wants a process of a guard that is gone is told so", async (t) => {
    await using guard = new Guard();
    const sleep = { name: "sleep", path: "/bin/sleep", arguments: ["600"] };
    const first = await guard.start(sleep);
    assert.ok(guard.pid !== undefined);
    process.kill(guard.pid, "SIGKILL");
    await until(() => first.hasEnded, t.signal, "the end of the guard");
    await assert.rejects(guard.start(sleep), ProcessEnded);
  });
});
