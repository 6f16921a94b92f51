// `npm start` in a terminal, and what a Ctrl-C there does.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { readRunFile } from "@keelson/keelson";
import { expectAnswer } from "./expect-answer.ts";
import { leftBehind, nothingRunsIn, temporaryFolder } from "./keelson-process.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const isMissing = spawnSync("script", ["--version"]).error !== undefined;

suite("npm start in a terminal", { skip: isMissing && "script(1) gives the terminal" }, () => {
  test("shows the banner, and one Ctrl-C stops everything in order", async (t) => {
    await using folder = await temporaryFolder();
    const dataDir = join(folder.path, "data");
    const command = `npm start -- --data-dir ${dataDir} --port 0 --kube-port 0 --metrics-port=0`;
    // Terminals send Ctrl-C to npm and to us, and npm passes it on: we get it twice.
    const terminal = spawn("script", ["--quiet", "--return", "--command", command, "/dev/null"], {
      cwd: root,
      stdio: ["pipe", "pipe", "inherit"],
    });
    let shown = "";
    const ended = once(terminal, "close");
    const ready = new Promise<void>((resolve) => {
      terminal.stdout.setEncoding("utf8").on("data", (text: string) => {
        shown += text;
        if (/Stop +Ctrl-C/.test(shown)) resolve();
      });
    });
    await Promise.race([ready, ended]);
    const { rest = "" } = (await readRunFile(dataDir)) ?? {};
    assert.ok(rest !== "", shown);
    assert.match(shown, new RegExp(`REST API +${rest}`));
    await expectAnswer(() => fetch(`${rest}/readyz`), 200, t.signal);

    terminal.stdin.write("\x03");
    await ended;
    assert.match(shown, /stopping[^]*stopped/);
    assert.doesNotMatch(shown, /quitting/);
    assert.deepEqual(leftBehind(dataDir), []);
    await nothingRunsIn(dataDir);
  });
});
