import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { suite, test } from "node:test";

const folder = join(import.meta.dirname, "gate");

suite("the end of the gate", () => {
  test("tells what failed, where and why, what was skipped, and how many", async (t) => {
    await using logs = temporary();
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const runner = spawn(
      process.execPath,
      [
        "--test",
        "--test-force-exit",
        `--test-reporter=${join(folder, "record.ts")}`,
        "--test-reporter-destination=stderr",
        join(folder, "fixtures/mixed.ts"),
      ],
      {
        env: { ...env, NODE_OPTIONS: "", KEELSON_TEST_RECORD: logs.file("some.jsonl") },
        stdio: "ignore",
        signal: t.signal,
      },
    );
    const [code] = (await once(runner, "exit")) as [number];
    writeFileSync(logs.file("stages.tsv"), `some\t3\t${code}\nquiet\t70\t7\ngood\t1\t0\n`);
    writeFileSync(logs.file("quiet.log"), "it began\nand died\n");

    const { said, exitCode } = await summary(logs.path, t.signal);
    assert.equal(exitCode, 1);
    const isOfStack = (line: string): boolean => /^ +at |^ {4}\w+: |^ {2}\}$/.test(line);
    assert.deepEqual(
      said.split("\n").filter((line) => !isOfStack(line) && !/^ +\d+\.\d s {2}some: /.test(line)),
      [
        "",
        "✖ some: around › fails",
        "  test/gate/fixtures/mixed.ts:8",
        "  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:",
        "  ",
        "  1 !== 2",
        "  ",
        "",
        "✖ some: has another inside › that throws",
        "  test/gate/fixtures/mixed.ts:13",
        "  Error: first line",
        "  second line",
        "",
        "✖ some: hangs",
        "  test/gate/fixtures/mixed.ts:18",
        "  test timed out after 50ms",
        "",
        "not run to their end:",
        "  some: hangs › inside  test/gate/fixtures/mixed.ts:19",
        "",
        "✖ quiet ended with 7; its output ends:",
        "  it began",
        "  and died",
        "",
        "skipped:",
        "  some: around › is skipped  test/gate/fixtures/mixed.ts:9",
        "",
        "slowest tests:",
        "",
        "some               3s      1 passed     5 failed     1 skipped  FAILED (1)",
        "quiet             70s      0 passed     0 failed     0 skipped  FAILED (7)",
        "good               1s      0 passed     0 failed     0 skipped  ok",
        "",
        "1 passed, 5 failed, 1 skipped, in 2 min 5 s",
        "",
      ],
    );
  });

  test("is good if every stage is, and in CI only if nothing was skipped", async (t) => {
    await using logs = temporary();
    writeFileSync(logs.file("stages.tsv"), "some\t3\t0\n");
    const passed = { name: "a", isSuite: false, outcome: "passed", ms: 1 };
    writeFileSync(logs.file("some.jsonl"), `${JSON.stringify(passed)}\n`);
    assert.equal((await summary(logs.path, t.signal)).exitCode, 0);
    const skipped = JSON.stringify({ ...passed, outcome: "skipped" });
    writeFileSync(logs.file("some.jsonl"), `${skipped}\n`);
    assert.equal((await summary(logs.path, t.signal)).exitCode, 1);
  });

  test("a stage that never ended, one without tests and one whose exit code hides a failure are faults", async (t) => {
    await using logs = temporary();
    writeFileSync(logs.file("stages.tsv"), "install\t1\t0\nempty\t3\t0\nlying\t3\t0\n");
    const failed = { name: "a", isSuite: false, outcome: "failed", ms: 1 };
    writeFileSync(logs.file("lying.jsonl"), `${JSON.stringify(failed)}\n`);
    writeFileSync(logs.file("gone.log"), "it began\n");
    const { said, exitCode } = await summary(logs.path, t.signal, ["empty", "lying", "gone"]);
    assert.equal(exitCode, 1);
    assert.deepEqual(
      said.split("\n").filter((line) => /^✖|(ok|FAILED.*)$/.test(line)),
      [
        "✖ empty ran no tests; its output ends:",
        "✖ lying ended with 0 though tests failed; its output ends:",
        "✖ gone did not run to its end; its output ends:",
        "install            1s      0 passed     0 failed     0 skipped  ok",
        "empty              3s      0 passed     0 failed     0 skipped  FAILED (0)",
        "lying              3s      0 passed     1 failed     0 skipped  FAILED (0)",
        "gone               0s      0 passed     0 failed     0 skipped  FAILED (no end)",
      ],
    );
  });
});

test("every suite of the workspace is a stage of the gate", () => {
  const root = join(import.meta.dirname, "..");
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const gate = readFileSync(join(root, ".ci/run"), "utf8");
  const [, list = ""] = /^waiting=\(([^)]*)\)$/m.exec(gate) ?? [];
  // `npm test` is the usual word for one of them.
  const run = list.split(/\s+/).map((name) => (name === "test" ? "test:unit" : name));
  assert.equal(scripts["test"], "npm run test:unit");
  assert.deepEqual(
    run.filter((name) => name !== "").toSorted(),
    Object.keys(scripts)
      .filter((name) => name.startsWith("test:"))
      .toSorted(),
  );
});

async function summary(
  logs: string,
  signal: AbortSignal,
  withTests: readonly string[] = [],
): Promise<{ readonly said: string; readonly exitCode: number }> {
  const program = spawn(process.execPath, [join(folder, "summary.ts"), logs, "125", ...withTests], {
    env: { ...process.env, CI: "true" },
    signal,
  });
  const [said, [exitCode]] = await Promise.all([
    text(program.stdout),
    once(program, "exit") as Promise<[number]>,
  ]);
  return { said, exitCode };
}

function temporary() {
  const path = mkdtempSync(join(tmpdir(), "keelson-gate-"));
  return {
    path,
    file: (name: string) => join(path, name),
    [Symbol.asyncDispose]: async () => rmSync(path, { recursive: true, force: true }),
  };
}
