// Starting and stopping as a user sees it: what is said, what the exit code tells, what is left behind.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, open, readFile, stat, writeFile } from "node:fs/promises";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { suite, test } from "node:test";
import { onAbort } from "@keelson/base";
import { openDatabase, isMigrated, sharedMigrations, statement } from "@keelson/database";
import { patience } from "@keelson/database/testing";
import { readRunFile } from "@keelson/keelson";
import { expectAnswer } from "./expect-answer.ts";
import { KeelsonProcess, leftBehind, nothingRunsIn, temporaryFolder } from "./keelson-process.ts";
import { entry, runKeelson } from "./run-keelson.ts";

const breakNumbering = statement<undefined>(
  "breakNumbering",
  (sql) => sql`ALTER TABLE lifecycle.outbox RENAME TO lost`,
);

suite("keelson up", () => {
  test("starts, serves, tells where it is, and leaves nothing behind", async (t) => {
    await using folder = await temporaryFolder();
    const dataDir = join(folder.path, "new", "data");
    await using first = new KeelsonProcess(dataDir);
    const { rest = "", metrics = "", database: databaseUrl = "", ...run } = await first.ready();

    assert.match(first.output, /making the database \(only the first time\)/);
    assert.match(
      first.output,
      /REST API +http:\/\/127\.0\.0\.1:\d+ +\(no authentication, this machine only\)/,
    );
    assert.equal(run.pid, first.pid);
    if (process.platform === "linux") {
      // It began once more as itself, with what it may take of memory.
      const words = await readFile(`/proc/${first.pid}/cmdline`, "utf8");
      assert.match(words, /--max-semi-space-size=16/);
    }
    assert.equal(run.version, "0.1.0");
    assert.ok(Number.isFinite(Date.parse(run.startedAt)));
    assert.equal((await stat(join(dataDir, "run.json"))).mode & 0o777, 0o600);
    const [, password = ""] = /:([0-9a-f]+)@/.exec(databaseUrl) ?? [];
    assert.ok(
      password.length >= 32 && !first.output.includes(password),
      "the password is not shown",
    );

    for (const [url, status, pattern] of [
      [`${rest}/livez`, 200, /^ok$/m],
      [`${rest}/readyz`, 200, /^ok$/m],
      [`${rest}/readyz?verbose`, 200, /\[\+\]database ok\n\[\+\]store ok/],
      [`${rest}/health`, 200, /"status":"healthy".*"service":"cls-backend".*"transport":"local"/],
      [`${rest}/health/live`, 200, /alive/],
      [`${rest}/health/ready`, 200, /"status":"ready"/],
      [`${rest}/api/v1/info`, 200, /"version":"0\.1\.0".*"api_version":"v1"/],
      [`${rest}/api/v1/nothing`, 404, /RESOURCE_NOT_FOUND/],
      [`${rest}/metrics`, 404, /RESOURCE_NOT_FOUND/],
      [`${metrics}/metrics`, 200, /keelson_component_up\{component="database"\} 1/],
      [`${metrics}/readyz`, 200, /^ok$/m],
      [`${metrics}/api/v1/info`, 404, /RESOURCE_NOT_FOUND/],
    ] as const) {
      const ask = async (): Promise<Response> => await fetch(url, { signal: t.signal });
      assert.match(await expectAnswer(ask, status, t.signal), pattern, url);
    }
    await using database = openDatabase({ url: databaseUrl, name: "test", ...patience });
    assert.equal(await isMigrated(database, [sharedMigrations], t.signal), true);
    await database[Symbol.asyncDispose]();

    const { code, output } = await first.stop("SIGTERM");
    assert.equal(code, 0, output);
    assert.deepEqual(leftBehind(dataDir), []);
    await nothingRunsIn(dataDir);

    await using second = new KeelsonProcess(dataDir);
    await second.ready();
    assert.doesNotMatch(second.output, /making the database/);
    assert.equal((await second.stop("SIGINT")).code, 0);
    assert.deepEqual(leftBehind(dataDir), []);
  });

  test("ends where a part of it cannot go on: half of it is worse than none", async (t) => {
    await using folder = await temporaryFolder();
    await using keelson = new KeelsonProcess(folder.path);
    const { database: url = "" } = await keelson.ready();
    await using database = openDatabase({ url, name: "test", ...patience });
    await database.run(breakNumbering, undefined, t.signal);
    const { code, output } = await keelson.ended;
    assert.notEqual(code, 0);
    assert.match(output, /outbox/);
    assert.deepEqual(leftBehind(folder.path), []);
  });

  const notLinux = process.platform !== "linux" && "only Linux has a /dev/full";
  test(
    "runs and stops in order where the disk is full that its output goes to",
    { skip: notLinux },
    async (t) => {
      await using folder = await temporaryFolder();
      await using full = await open("/dev/full", "w");
      const ports = ["--port", "0", "--kube-port", "0", "--metrics-port", "0"];
      const child = spawn(process.execPath, [entry, "up", "--data-dir", folder.path, ...ports], {
        stdio: ["ignore", full.fd, "pipe"],
        cwd: folder.path,
        env: { PATH: process.env["PATH"] ?? "" },
      });
      using _killed = onAbort(t.signal, () => child.kill("SIGKILL"));
      const ready = '"message":"ready"';
      let said = "";
      const ended = once(child, "close") as Promise<[number | null]>;
      for await (const piece of child.stderr?.setEncoding("utf8") ?? []) {
        const wasReady = said.includes(ready);
        said += String(piece);
        if (!wasReady && said.includes(ready)) child.kill("SIGTERM");
      }
      assert.deepEqual((await ended)[0], 0, said);
      assert.match(said, /"message":"stopped"/);
      assert.deepEqual(leftBehind(folder.path), []);
    },
  );

  test("does not share its data folder, which the first one keeps", async (t) => {
    await using folder = await temporaryFolder();
    await using first = new KeelsonProcess(folder.path);
    const { rest = "" } = await first.ready();
    await using second = new KeelsonProcess(folder.path);
    const { code, output } = await second.ended;
    assert.equal(code, 4);
    assert.equal(
      output,
      `keelson: the data folder ${folder.path} is in use by process ${first.pid}: stop it, or choose another folder with --data-dir\n`,
    );
    await expectAnswer(() => fetch(`${rest}/readyz`), 200, t.signal);
    assert.equal((await readRunFile(folder.path))?.pid, first.pid);
    assert.equal((await first.stop()).code, 0);
    assert.deepEqual(leftBehind(folder.path), []);
  });

  test("of two that start at once one wins", async () => {
    await using folder = await temporaryFolder();
    const both = [new KeelsonProcess(folder.path), new KeelsonProcess(folder.path)];
    await using _one = both[0];
    await using _other = both[1];
    const loser = await Promise.race(both.map(async (one) => ({ one, ended: await one.ended })));
    assert.equal(loser.ended.code, 4, loser.ended.output);
    const winner = both.find((one) => one !== loser.one);
    await winner?.ready();
    assert.equal((await winner?.stop())?.code, 0);
  });

  test("names a port that is taken, and stops what it had started", async () => {
    await using folder = await temporaryFolder();
    const taken = createServer();
    taken.listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    try {
      for (const [flag, what] of [
        ["--port", "the REST API"],
        ["--metrics-port", "metrics"],
        ["--database-port", "PostgreSQL"],
      ] as const) {
        await using keelson = new KeelsonProcess(folder.path, { flags: [flag, String(port)] });
        const { code, output } = await keelson.ended;
        assert.equal(code, 3, output);
        assert.match(
          output,
          new RegExp(`keelson: port ${port} on 127.0.0.1 is taken, so ${what} cannot listen`),
        );
        assert.doesNotMatch(output, /\n +at /, "no stack");
        assert.deepEqual(leftBehind(folder.path), []);
        await nothingRunsIn(folder.path);
      }
    } finally {
      taken.close();
    }
  });

  test("names a data folder that is no folder", async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, "file");
    await writeFile(file, "");
    for (const dataDir of [file, join(file, "below")]) {
      await using keelson = new KeelsonProcess(dataDir);
      const { code, output } = await keelson.ended;
      assert.equal(
        output,
        `keelson: the data folder ${dataDir} is not a folder: choose another with --data-dir\n`,
      );
      assert.equal(code, 5);
    }
  });

  const notRoot = process.getuid?.() !== 0 && "only root can become somebody else";
  test("names a data folder that it may not write to", { skip: notRoot }, async () => {
    await using folder = await temporaryFolder();
    await chmod(folder.path, 0o755);
    const dataDir = join(folder.path, "data");
    await mkdir(dataDir, { mode: 0o755 });
    await using keelson = new KeelsonProcess(dataDir, { uid: 65_534 });
    const { code, output } = await keelson.ended;
    assert.equal(
      output,
      `keelson: the data folder ${dataDir} may not be written to by this user: choose another with --data-dir\n`,
    );
    assert.equal(code, 5);
  });

  test("is not taken for absent by somebody who may not look", { skip: notRoot }, async (t) => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "run.json");
    await writeFile(path, "{}", { mode: 0o600 });
    const words = ["target", "list", "--data-dir", folder.path];
    const { code, output } = await runKeelson(words, { cwd: "/", uid: 65_534 }, t.signal);
    assert.equal(
      output,
      `keelson: ${path} cannot be read (EACCES): ask as the user who runs the server, or name it with --server or KEELSON_SERVER\n`,
    );
    assert.equal(code, 1);
  });

  test("names the file of a store that it may not use", { skip: notRoot }, async (t) => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "apiserver.db");
    await writeFile(path, "", { mode: 0o644 });
    const words = ["apiserver", "restore", "--sqlite-path", path];
    const { code, output } = await runKeelson(words, { cwd: "/", uid: 65_534 }, t.signal);
    assert.equal(
      output,
      `keelson: ${path} cannot be used (EPERM): let this user read and write it, its .lock and its folder, or name another file with --sqlite-path\n`,
    );
    assert.equal(code, 2);
  });

  test("names the file of a store that has no room to begin", { skip: notRoot }, async () => {
    // So little that the schema has no room; and so much that it is the first objects that have none.
    for (const kilobytes of [64, 400]) {
      await using folder = await temporaryFolder();
      const path = join(folder.path, "data", "apiserver.db");
      using _disk = mountedDisk(folder.path, `size=${kilobytes}k`);
      await using keelson = new KeelsonProcess(join(folder.path, "data"), { command: "apiserver" });
      const { code, output } = await keelson.ended;
      assert.match(output, /make room, or name another with --sqlite-path\n$/);
      const [said] = output.split("\n").filter((line) => line.startsWith("keelson: "));
      assert.ok(said?.startsWith(`keelson: the file ${path}: the disk is full: `), output);
      assert.doesNotMatch(output, /^ {4}at /m);
      assert.equal(code, 6);
    }
  });

  test("runs as another user than root", { skip: notRoot }, async () => {
    await using folder = await temporaryFolder();
    await chmod(folder.path, 0o777);
    const dataDir = join(folder.path, "data");
    await using keelson = new KeelsonProcess(dataDir, { uid: 65_534 });
    await keelson.ready();
    assert.equal((await keelson.stop()).code, 0);
    assert.deepEqual(leftBehind(dataDir), []);
  });

  test(
    "that root starts once leaves a folder that its user goes on with",
    { skip: notRoot },
    async () => {
      await using folder = await temporaryFolder();
      await chmod(folder.path, 0o777);
      const dataDir = join(folder.path, "data");
      const kubeconfig = join(dataDir, "kubeconfig");
      const uid = 65_534;
      for (const as of [{ uid }, {}, { uid }]) {
        await using keelson = new KeelsonProcess(dataDir, as);
        await keelson.ready();
        assert.equal((await keelson.stop()).code, 0);
        assert.equal((await stat(kubeconfig)).uid, uid);
      }
    },
  );

  test("refuses what is wrong with its configuration, all at once", async () => {
    await using folder = await temporaryFolder();
    await using keelson = new KeelsonProcess(folder.path, {
      flags: ["--address", "0.0.0.0", "--log-level", "loud"],
      environment: { METRICS_PORT: "9", KEELSON_PROT: "1", SHUTDOWN_GRACE: "soon" },
    });
    const { code, output } = await keelson.ended;
    assert.equal(code, 2);
    assert.deepEqual(
      output.split("\n").map((line) => line.trim().split(" ")[0]),
      ["keelson:", "KEELSON_PROT", "SHUTDOWN_GRACE", "--log-level", "--address", ""],
    );
    assert.match(output, /callers are not authenticated: set KEELSON_AUTH_MODE/);
    assert.deepEqual(leftBehind(folder.path), []);
  });

  test("refuses flags that nobody knows, and roles by their name", async () => {
    await using folder = await temporaryFolder();
    await using up = new KeelsonProcess(folder.path, { flags: ["--prot", "1"] });
    const usage = await up.ended;
    assert.equal(usage.code, 2);
    assert.match(usage.output, /^keelson: unknown option '--prot': did you mean --port\?\n$/);
    await using serve = new KeelsonProcess(folder.path, {
      command: "serve",
      flags: ["--roles", "rest,cook"],
    });
    const roles = await serve.ended;
    assert.equal(roles.code, 2);
    assert.match(
      roles.output,
      /--roles "rest,cook" names "cook", which must be one of rest, worker, scheduler, operator/,
    );
  });

  test("quits at the second Ctrl-C while a request holds up the stop", async () => {
    await using folder = await temporaryFolder();
    await using keelson = new KeelsonProcess(folder.path);
    const { rest = "" } = await keelson.ready();
    const socket = await heldRequest(rest);

    const began = performance.now();
    keelson.send("SIGINT");
    await keelson.said(/Ctrl-C again quits at once/);
    keelson.send("SIGINT"); // The same one once more, as npm passes it on: it counts as one.
    assert.equal((await fetch(`${rest}/readyz`).catch(() => undefined))?.status ?? 503, 503);
    // Whoever is impatient presses again and again.
    const pressing = setInterval(() => keelson.send("SIGINT"), 100);
    const { code } = await keelson.ended;
    clearInterval(pressing);
    // Not by the grace, which ends it with another code; nor by the one that came twice.
    assert.equal(code, 130);
    const elapsedMs = performance.now() - began;
    assert.ok(elapsedMs > 700, `${elapsedMs} ms`);
    await nothingRunsIn(folder.path);
    assert.deepEqual(
      leftBehind(folder.path).filter((name) => !name.startsWith("postgres")),
      [],
    );
    socket.destroy();
  });

  test("cuts off what does not end within the grace period, and still stops in order", async () => {
    await using folder = await temporaryFolder();
    await using keelson = new KeelsonProcess(folder.path, { flags: ["--shutdown-grace", "40s"] });
    const { rest = "" } = await keelson.ready();
    const socket = await heldRequest(rest);
    const closed = once(socket, "close");
    const { code, output } = await keelson.stop("SIGTERM");
    assert.equal(code, 0, output);
    await closed;
    assert.deepEqual(leftBehind(folder.path), []);
  });

  test("takes over after kill -9, and nobody believes what was left", async () => {
    await using folder = await temporaryFolder();
    await using first = new KeelsonProcess(folder.path);
    await first.ready();
    await first.stop("SIGKILL");
    assert.ok(leftBehind(folder.path).includes("run.json"));
    assert.equal(await readRunFile(folder.path), undefined);

    // Somebody else has the same number by now: the start of the process tells them apart.
    const path = join(folder.path, "run.json");
    const stale = JSON.parse(await readFile(path, "utf8")) as object;
    await writeFile(path, JSON.stringify({ ...stale, pid: process.pid }));
    await writeFile(
      join(folder.path, "claims", `${process.pid}.json`),
      JSON.stringify({ pid: process.pid, start: "long ago" }),
    );
    assert.equal(await readRunFile(folder.path), undefined);

    await using second = new KeelsonProcess(folder.path);
    await second.ready();
    assert.equal((await second.stop()).code, 0);
    assert.deepEqual(leftBehind(folder.path), []);
  });
});

/** A small disk of its own at the folder, unmounted afterwards. */
function mountedDisk(folder: string, options: string): Disposable {
  execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder]);
  return { [Symbol.dispose]: () => void execFileSync("umount", ["-l", folder]) };
}

/** A request that has begun and never ends, on a connection that was answered before. */
async function heldRequest(rest: string): Promise<Socket> {
  const socket = connect(Number(new URL(rest).port), "127.0.0.1");
  socket.on("error", () => undefined);
  const request = [
    "POST /livez HTTP/1.1",
    "Host: localhost",
    "Content-Type: application/json",
    "Content-Length: 9",
  ];
  socket.write(`GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n${request.join("\r\n")}\r\n\r\n{`);
  await once(socket, "data");
  return socket;
}
