import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const entry = fileURLToPath(new URL("../../bin/keelson.js", import.meta.url));

test("an export ends quietly where nobody reads on", async (t) => {
  const cwd = await mkdtemp(join(tmpdir(), "keelson-export-"));
  t.after(() => rm(cwd, { recursive: true }));
  const options = { cwd, env: { PATH: process.env["PATH"] ?? "" } };
  // More than a pipe holds, so that it cannot be done before somebody has left.
  const prompt = "x".repeat(2_000);
  const input = Array.from({ length: 200 }, (_, n) =>
    JSON.stringify({
      apiVersion: "ark.mckinsey.com/v1alpha1",
      kind: "Agent",
      metadata: { name: `agent-${n}`, namespace: "default" },
      spec: { prompt },
    }),
  ).join("\n");
  const words = [entry, "apiserver", "import", "-"];
  assert.equal(
    execFileSync(process.execPath, words, { ...options, input, encoding: "utf8" }),
    "agents 200 of 200 (200 created)\n",
  );

  const child = spawn(process.execPath, [entry, "apiserver", "export"], {
    ...options,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = text(child.stderr);
  const closed = once(child, "close") as Promise<[number | null]>;
  await once(child.stdout, "data");
  child.stdout.destroy();
  const [code] = await closed;
  assert.deepEqual([code, await said], [0, ""]);
});

test("an import that could not bring in all of an object counts it as missing, until it can", async (t) => {
  const cwd = await mkdtemp(join(tmpdir(), "keelson-import-"));
  t.after(() => rm(cwd, { recursive: true }));
  const memory = (name: string, more: object, metadata: object = {}): string =>
    JSON.stringify({
      apiVersion: "ark.mckinsey.com/v1alpha1",
      kind: "Memory",
      metadata: { name, namespace: "default", ...metadata },
      spec: { address: { value: "http://one" } },
      ...more,
    });
  const owner = { apiVersion: "ark.mckinsey.com/v1alpha1", kind: "Memory", name: "b", uid: "1" };
  const bring = (...lines: readonly string[]) => {
    const options = { cwd, env: { PATH: process.env["PATH"] ?? "" }, encoding: "utf8" } as const;
    const words = [entry, "apiserver", "import", "-"];
    const run = spawnSync(process.execPath, words, { ...options, input: lines.join("\n") });
    return { code: run.status, stdout: run.stdout, stderr: run.stderr };
  };
  const owned = memory("a", {}, { ownerReferences: [owner] });
  const first = bring(owned, memory("c", { status: { phase: "none" } }), memory("d", {}));
  assert.deepEqual(
    [first.code, first.stdout],
    [1, "memories 1 of 3 (3 created, 2 incomplete)\n"],
    first.stderr,
  );
  assert.match(first.stderr, /Memory default\/a is owned by Memory b, who is not there/);
  assert.match(first.stderr, /Memory default\/c is incomplete: .*status\.phase/);

  const second = bring(owned, memory("b", {}), memory("c", { status: { phase: "ready" } }));
  assert.deepEqual(second, { code: 0, stdout: "memories 3 of 3 (1 created)\n", stderr: "" });
});

test("an export of a store that is not there is refused, and makes none", async (t) => {
  const cwd = await mkdtemp(join(tmpdir(), "keelson-export-"));
  t.after(() => rm(cwd, { recursive: true }));
  const words = [entry, "apiserver", "export", "--data-dir", "elsewhere"];
  const options = { cwd, env: { PATH: process.env["PATH"] ?? "" }, encoding: "utf8" } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, words, options);
  const path = join(cwd, "elsewhere", "apiserver.db");
  const fix = "name the folder it is in with --data-dir, or the file with --sqlite-path";
  assert.deepEqual(
    [status, stdout, stderr],
    [2, "", `keelson: there is no store at ${path} (ENOENT): ${fix}\n`],
  );
  assert.deepEqual(await readdir(cwd), []);
});

test("one Ctrl-C ends an import that waits for its input, and nothing is brought in", async (t) => {
  const cwd = await mkdtemp(join(tmpdir(), "keelson-import-"));
  t.after(() => rm(cwd, { recursive: true }));
  const child = spawn(process.execPath, [entry, "apiserver", "import", "-"], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  const ended = once(child, "close", { signal: t.signal }) as Promise<[number | null]>;
  // More than a pipe holds: it has begun to read.
  await new Promise((resolve) => child.stdin.write("\n".repeat(1_000_000), resolve));
  child.stdin.on("error", () => undefined);
  child.kill("SIGINT");
  const [[code], said] = await Promise.all([ended, text(child.stderr)]);
  assert.deepEqual([code, said, await readdir(cwd)], [130, "", []]);
});

test("an import says why a file cannot be read", async (t) => {
  const cwd = await mkdtemp(join(tmpdir(), "keelson-import-"));
  t.after(() => rm(cwd, { recursive: true }));
  const options = { cwd, env: { PATH: process.env["PATH"] ?? "" }, encoding: "utf8" } as const;
  for (const [file, reason] of [
    ["nowhere.jsonl", "cannot be read (ENOENT)"],
    [".", "is a folder"],
  ] as const) {
    const words = [entry, "apiserver", "import", file];
    const { status, stderr } = spawnSync(process.execPath, words, options);
    assert.deepEqual([status, stderr], [2, `keelson: ${file} ${reason}\n`]);
  }
});
