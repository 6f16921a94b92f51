import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { suite, test } from "node:test";
import { promisify } from "node:util";

import { isAlive } from "./is-alive.ts";
import { until } from "./until.ts";

suite("a child of a test", () => {
  test("goes with whoever ends without it, and holds no output", async (t) => {
    const program = `
      const { spawn } = await import("node:child_process");
      const { endsWithUs } = await import(${JSON.stringify(import.meta.resolve("./ends-with-us.ts"))});
      const child = endsWithUs(spawn("/bin/sleep", ["600"], { stdio: "inherit" }));
      console.log(child.pid);
      process.exit();`;
    const args = ["--input-type=module", "-e", program];
    // Resolves only when nobody holds the output any more.
    const { stdout } = await promisify(execFile)(process.execPath, args, { signal: t.signal });
    const pid = Number(stdout);
    assert.ok(pid > 0);
    await until(() => !isAlive(pid), t.signal, "the end of the child");
  });
});
