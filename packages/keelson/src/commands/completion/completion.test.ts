import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { scripts } from "./scripts.ts";

const entry = fileURLToPath(new URL("../../../bin/keelson.js", import.meta.url));

suite("completion", () => {
  let folder: string;
  let env: Record<string, string>;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "keelson-completion-"));
    const program = join(folder, "keelson");
    await writeFile(program, `#!/bin/sh\nexec "${process.execPath}" "${entry}" "$@"\n`);
    await chmod(program, 0o755);
    env = { PATH: `${folder}:${process.env["PATH"] ?? ""}` };
  });
  after(() => rm(folder, { recursive: true }));

  const run = (program: string, ...words: string[]): string =>
    execFileSync(program, words, { encoding: "utf8", env, cwd: folder });
  const offered = (...words: string[]): readonly string[] =>
    run(join(folder, "keelson"), "complete", "--", ...words)
      .split("\n")
      .slice(0, -1)
      .map((line) => line.split("\t")[0] ?? "");

  test("offers commands, verbs, flags, values and kinds where they may stand", () => {
    assert.deepEqual(offered("ta"), ["target"]);
    assert.deepEqual(offered("target", ""), ["create", "get", "delete", "pause", "resume", "help"]);
    assert.deepEqual(offered("get", "--wa"), ["--watch"]);
    assert.deepEqual(offered("get", "-o", "y"), ["yaml"]);
    assert.deepEqual(offered("cluster", "list", "--output=j"), ["--output=json"]);
    assert.deepEqual(offered("get", "deploy"), ["deployments"]);
    assert.deepEqual(offered("resource", "history", "cronj"), ["cronjobs"]);
    assert.deepEqual(offered("completion", ""), ["bash", "zsh", "fish"]);
    assert.ok(!offered("").includes("complete"));
    assert.ok(offered("up", "--kube-p").includes("--kube-port"));
    assert.deepEqual(offered("up", "--log-level", ""), ["debug", "info", "warn", "error"]);
    assert.deepEqual(offered("serve", "--roles", "w"), ["worker"]);
    assert.deepEqual(offered("up", "--redis-tls="), ["--redis-tls=true", "--redis-tls=false"]);
  });

  test("offers nothing where a file or a name of one's own stands", () => {
    assert.deepEqual(offered("apply", "-f", ""), []);
    assert.deepEqual(offered("target", "create", "x"), []);
  });

  test("bash asks, and falls back to files", () => {
    const complete = (...words: string[]): string =>
      run(
        "bash",
        "--norc",
        "-c",
        `${scripts.bash}
COMP_WORDS=(keelson "$@"); COMP_CWORD=$#
_keelson
printf '%s\\n' "\${COMPREPLY[@]}"
complete -p keelson`,
        "bash",
        ...words,
      );
    const registered = "complete -o default -F _keelson keelson\n";
    assert.equal(complete("target", "cr"), `create\n${registered}`);
    assert.equal(complete("get", "--wat"), `--watch\n${registered}`);
    assert.equal(complete("apply", "-f", ""), `\n${registered}`);
    // It takes a word apart at `=`, and puts what is chosen behind that.
    assert.equal(complete("get", "--output", "=", "y"), `yaml\n${registered}`);
    assert.match(complete("get", "--output", "="), /^table\nwide\njson\n/);
    assert.equal(complete("get", "--output", "=", "json", "--wat"), `--watch\n${registered}`);
  });
});
