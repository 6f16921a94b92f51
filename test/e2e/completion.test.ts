// Completion in the shells themselves. Bash, which every machine has, is tested beside the scripts.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { entry } from "./run-keelson.ts";
import { findShell } from "./shell-programs.ts";

const [zsh, fish] = [findShell("zsh"), findShell("fish")];
const skipOf = (shell: typeof zsh) =>
  "missing" in shell && process.env["CI"] !== "true" ? shell.missing : false;

suite("completion in shells", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "keelson-shells-"));
    const program = join(folder, "keelson");
    await writeFile(program, `#!/bin/sh\nexec "${process.execPath}" "${entry}" "$@"\n`);
    await chmod(program, 0o755);
  });
  after(() => rm(folder, { recursive: true }));

  const run = (shell: typeof zsh, ...words: string[]): string => {
    if ("missing" in shell) assert.fail(shell.missing);
    const PATH = `${folder}:${process.env["PATH"] ?? ""}`;
    const env = { PATH, HOME: folder, ...shell.env };
    return execFileSync(shell.program, words, { encoding: "utf8", env, cwd: folder });
  };

  test("zsh describes what may stand there, or offers files", { skip: skipOf(zsh) }, () => {
    const modules =
      "missing" in zsh || zsh.modules === undefined ? "" : `module_path=(${zsh.modules})`;
    const shown = run(
      zsh,
      "-f",
      "-c",
      `${modules}
compdef() { print "compdef $*" }
_describe() { print -l -- "\${(@P)2}" }
_files() { print files }
source <(keelson completion zsh)
words=(keelson target cr); CURRENT=3; _keelson
words=(keelson get -o y); CURRENT=4; _keelson
words=(keelson apply -f ""); CURRENT=4; _keelson`,
    );
    assert.equal(shown, "compdef _keelson keelson\ncreate:register a cluster\nyaml:\nfiles\n");
  });

  test("fish shows what may stand there, or offers files", { skip: skipOf(fish) }, () => {
    const shown = run(
      fish,
      "--no-config",
      "-c",
      `keelson completion fish | source
complete -C "keelson target cr"
complete -C "keelson get --wat"
complete -C "keelson apply -f kee"`,
    );
    assert.equal(
      shown,
      "create\tregister a cluster\n--watch\tthen show what changes, until Ctrl-C\nkeelson\n",
    );
  });
});
