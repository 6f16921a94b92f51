import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
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

test("a store that is not there is neither exported nor said to be restored, and none is made", async (t) => {
  const cwd = await mkdtemp(join(tmpdir(), "keelson-export-"));
  t.after(() => rm(cwd, { recursive: true }));
  const folder = join(cwd, "elsewhere");
  await mkdir(folder);
  const options = { cwd, env: { PATH: process.env["PATH"] ?? "" }, encoding: "utf8" } as const;
  const path = join(folder, "apiserver.db");
  const fix = "name the folder it is in with --data-dir, or the file with --sqlite-path";
  for (const verb of ["export", "restore"]) {
    const words = [entry, "apiserver", verb, "--data-dir", "elsewhere"];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, options);
    assert.deepEqual(
      [status, stdout, stderr],
      [2, "", `keelson: there is no store at ${path} (ENOENT): ${fix}\n`],
    );
    assert.deepEqual(await readdir(folder), []);
  }
});

test("an import into a folder that cannot be made says so", async (t) => {
  const cwd = await mkdtemp(join(tmpdir(), "keelson-import-"));
  t.after(() => rm(cwd, { recursive: true }));
  await writeFile(join(cwd, "file"), "");
  const options = { cwd, env: { PATH: process.env["PATH"] ?? "" }, encoding: "utf8" } as const;
  const words = [entry, "apiserver", "import", "-", "--sqlite-path", "file/below/apiserver.db"];
  const { status, stderr } = spawnSync(process.execPath, words, { ...options, input: "" });
  const path = join(cwd, "file/below/apiserver.db");
  const fix = "make its folder, or name another file with --sqlite-path";
  assert.deepEqual([status, stderr], [2, `keelson: ${path} cannot be used (ENOTDIR): ${fix}\n`]);
});

test("what a cluster says no with is told in a sentence", async (t) => {
  const cwd = await mkdtemp(join(tmpdir(), "keelson-export-"));
  t.after(() => rm(cwd, { recursive: true }));
  let status = { code: 0, reason: "", message: "" };
  const cluster = createServer((_request, response) => {
    const body = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", ...status };
    response.writeHead(status.code, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  }).listen(0, "127.0.0.1");
  await once(cluster, "listening");
  t.after(() => cluster.close());
  const { port } = cluster.address() as AddressInfo;
  const kubeconfig = join(cwd, "kubeconfig");
  await writeFile(
    kubeconfig,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "a", cluster: { server: `http://127.0.0.1:${port}` } }],
      users: [{ name: "a", user: { token: "a" } }],
      contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
      "current-context": "a",
    }),
  );
  const lines = join(cwd, "lines");
  const agent = { apiVersion: "ark.mckinsey.com/v1alpha1", kind: "Agent", metadata: { name: "a" } };
  await writeFile(lines, JSON.stringify({ ...agent, spec: {} }));
  const run = async (...words: readonly string[]) => {
    const typed = [entry, "apiserver", ...words, "--kubeconfig", kubeconfig];
    const child = spawn(process.execPath, typed, { cwd, env: { PATH: process.env["PATH"] ?? "" } });
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
    return [code, said] as const;
  };
  for (const [code, reason, told] of [
    [401, "Unauthorized", "it does not know us: the credentials are wrong or expired"],
    [403, "Forbidden", "agents is forbidden"],
    [
      404,
      "NotFound",
      "the cluster serves no Agent of ark.mckinsey.com/v1alpha1: install the kinds of Ark there first",
    ],
  ] as const) {
    status = { code, reason, message: "agents is forbidden" };
    assert.deepEqual(await run("import", lines), [
      1,
      `keelson: the cluster of ${kubeconfig}: ${told}\n`,
    ]);
  }
});

test("keys that a command has left which was killed are gone with the next one, and no younger ones", async (t) => {
  const temporary = await mkdtemp(join(tmpdir(), "keelson-export-"));
  t.after(() => rm(temporary, { recursive: true }));
  for (const [name, ageSeconds] of [
    ["keelson-transfer-old", 7_200],
    ["keelson-transfer-young", 60],
    ["keelson-else", 7_200],
  ] as const) {
    const folder = join(temporary, name);
    await mkdir(folder);
    await writeFile(join(folder, "ca.key"), "");
    const seconds = Date.now() / 1000 - ageSeconds;
    await utimes(folder, seconds, seconds);
  }
  const env = { PATH: process.env["PATH"] ?? "", TMPDIR: temporary };
  const words = [entry, "apiserver", "import", "-", "--data-dir", join(temporary, "data")];
  execFileSync(process.execPath, words, { env, input: "" });
  const left = await readdir(temporary);
  assert.deepEqual(left.toSorted(), ["data", "keelson-else", "keelson-transfer-young"]);
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
