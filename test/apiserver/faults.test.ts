// Full disks, lost power, clocks that jump, connections that run out: FAULT-4, 5 and 7.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { seededRandom, type JsonObject } from "@keelson/base";
import { startThrowawayPostgres } from "@keelson/database/testing";
import postgres from "postgres";

import { until } from "../tools/until.ts";
import { SqliteLook } from "../simulation/world/look.ts";
import { FakeWallClock, findFaketime } from "./faults/faketime.ts";
import { compileShim, losePower, shimEnvironment } from "./faults/power-loss.ts";
import { configMap } from "./objects.ts";
import { drivers, startOurs, type Ours } from "./ours.ts";
import { concurrency, measure } from "./scenarios/length.ts";

const path = "/api/v1/namespaces/default/configmaps";
const tokens = "/api/v1/namespaces/default/serviceaccounts/default/token";
const tokenRequest = {
  apiVersion: "authentication.k8s.io/v1",
  kind: "TokenRequest",
  spec: { expirationSeconds: 600 },
};
/** Where the clock of FAULT-7 goes, and from where it comes back. */
const hoursAhead = [0, 1, -1, 0, 1, 0];
const rounds = Number(process.env["KEELSON_TEST_ROUNDS"] ?? measure({ gate: 4, full: 60 }));

suite("faults", { concurrency }, () => {
  test("the shim takes back what was not synced, and nothing else", async () => {
    await using folder = temporary();
    const library = compileShim(folder.path);
    const log = join(folder.path, "log");
    const watched = join(folder.path, "watched");
    mkdirSync(watched);
    const script = `
      const fs = require("node:fs");
      const file = fs.openSync(${JSON.stringify(join(watched, "f"))}, "w+");
      fs.writeSync(file, "kept", 0);
      fs.fsyncSync(file);
      fs.writeSync(file, "LOST and more", 0);
      process.kill(process.pid, "SIGKILL");`;
    const child = spawn(process.execPath, ["-e", script], {
      env: { ...process.env, ...shimEnvironment({ library, watched, log }) },
    });
    await once(child, "close");
    assert.equal(readFileSync(join(watched, "f"), "utf8"), "LOST and more");
    assert.equal(losePower(log), 1);
    assert.equal(readFileSync(join(watched, "f"), "utf8"), "kept");
  });

  test("FAULT-4 the power goes: what was acknowledged is there, and the file is whole", async (t) => {
    await using folder = temporary();
    const library = compileShim(folder.path);
    const log = join(folder.path, "log");
    const dataDir = join(folder.path, "data");
    const environment = shimEnvironment({ library, watched: dataDir, log });
    const random = seededRandom("power");
    await using server = await startOurs({ driver: "sqlite", dataDir, environment }, t.signal);
    const acknowledged = new Set<string>();
    let undone = 0;
    // Until something was under way when it went, too.
    for (let round = 0; round < rounds || (undone === 0 && round < 5 * rounds); round += 1) {
      const goal = acknowledged.size + 20 + random.integer(150);
      const writers = Array.from({ length: 6 }, async (_, writer) => {
        for (let index = 0; server.isAlive; index += 1) {
          const name = `r${round}-${writer}-${index}`;
          const status = await create(server, name, t.signal).catch(() => 0);
          if (status === 201) acknowledged.add(name);
          if (acknowledged.size >= goal) return;
        }
      });
      await Promise.race([Promise.all(writers), until(() => acknowledged.size >= goal, t.signal)]);
      await server.stop("SIGKILL");
      await Promise.all(writers);
      undone += losePower(log);
      using look = new SqliteLook(join(dataDir, "apiserver.db"));
      assert.equal(look.integrity(), "ok");
      await server.start(t.signal);
      const left = await names(server, t.signal);
      assert.deepEqual(
        [...acknowledged].filter((name) => !left.has(name)),
        [],
        `lost in round ${round}`,
      );
    }
    t.diagnostic(
      `${acknowledged.size} writes acknowledged, ${undone} unsynced writes to files taken back`,
    );
    assert.ok(undone > 0, "whenever the power went nothing was unsynced: the shim sees no writes");
  });

  const mounting = { skip: process.getuid?.() !== 0 && "mounting needs root" };
  test(
    "FAULT-5 a full disk is said so, loses nothing, and heals without a restart",
    mounting,
    async (t) => {
      await using disk = smallDisk({ megabytes: 24, ballastMegabytes: 12 });
      const dataDir = join(disk.path, "data");
      await using server = await startOurs({ driver: "sqlite", dataDir }, t.signal);
      await fillAndHeal(server, disk, t.signal);
    },
  );

  test(
    "FAULT-5 a full disk of PostgreSQL is said so, loses nothing, and heals without a restart",
    mounting,
    async (t) => {
      await using disk = smallDisk({ megabytes: 40, ballastMegabytes: 14 });
      await using database = await startThrowawayPostgres({ flavour: "embedded" }, t.signal);
      const { uid, gid } = statSync(database.dataDir);
      chownSync(disk.path, uid, gid);
      await using one = await database.createDatabase();
      const sql = postgres(database.url, { max: 1, onnotice: () => undefined });
      // Only the tables: without room for its log PostgreSQL ends.
      await sql.unsafe(`CREATE TABLESPACE small LOCATION '${disk.path}'`);
      await sql.unsafe(`ALTER DATABASE ${one.name} SET TABLESPACE small`);
      await sql.end();
      await using server = await startOurs(
        { driver: "postgresql", databaseUrl: one.url },
        t.signal,
      );
      await fillAndHeal(server, disk, t.signal);
    },
  );

  const faketime = findFaketime();
  for (const driver of drivers)
    test(
      `FAULT-7 the clock jumps an hour and comes back, ${driver}: order stays, history stays, loops and tokens go by the right clock`,
      { skip: "missing" in faketime && faketime.missing },
      async (t) => {
        if ("missing" in faketime) return;
        await using folder = temporary();
        const clock = new FakeWallClock(faketime.library, folder.path);
        const { environment } = clock;
        await using server = await startOurs({ driver, environment }, t.signal);
        const { client } = server;
        const versions: number[] = [];
        const times: number[] = [];
        const write = async (name: string): Promise<void> => {
          const { status, body, text } = await client.send(
            { method: "POST", path, body: configMap(name) },
            t.signal,
          );
          assert.equal(status, 201, text);
          const { metadata } = body as {
            metadata: { resourceVersion: string; creationTimestamp: string };
          };
          versions.push(Number(metadata.resourceVersion));
          times.push(Date.parse(metadata.creationTimestamp));
        };
        const { body } = await client.send({ path }, t.signal);
        const { metadata } = body as { metadata: { resourceVersion: string } };
        const { body: issued } = await client.send(
          { method: "POST", path: tokens, body: tokenRequest },
          t.signal,
        );
        const { token } = (issued as { readonly status: { readonly token: string } }).status;
        using bearer = server.connectAs({ token });
        const answers: number[] = [];
        for (const [index, hours] of hoursAhead.entries()) {
          const isLast = index === hoursAhead.length - 1;
          // Leases of its loops are not by this clock: one who was killed is followed as soon as ever, and not in an hour.
          if (isLast) await server.stop("SIGKILL");
          clock.jump(hours * 3_600);
          if (isLast) await server.start(t.signal);
          for (let turn = 0; turn < 5; turn += 1) await write(`c-${index}-${turn}`);
          await seeLoopsWork(server, `jump-${index}`, t.signal);
          answers.push((await bearer.send({ path: "/version" }, t.signal)).status);
        }
        // A token of ten minutes has ended an hour later, has not begun an hour before, and is good again when the clock is.
        assert.deepEqual(answers, [200, 401, 401, 200, 401, 200]);
        assert.deepEqual(
          versions,
          versions.toSorted((a, b) => a - b),
        );
        const jumped = (times[5] ?? 0) - (times[0] ?? 0);
        assert.ok(jumped > 3_000_000, `the server did not see the clock jump: ${jumped} ms`);
        const seen: string[] = [];
        const stop = new AbortController();
        const watched = client.watch(
          `${path}?watch=1&resourceVersion=${metadata.resourceVersion}`,
          AbortSignal.any([t.signal, stop.signal]),
        );
        for await (const { type, object } of watched) {
          const { name } = object["metadata"] as { name: string };
          if (type === "ADDED" && name.startsWith("c-")) seen.push(name);
          if (seen.length === versions.length) stop.abort();
        }
        assert.deepEqual(
          seen,
          hoursAhead.flatMap((_, index) => [0, 1, 2, 3, 4].map((turn) => `c-${index}-${turn}`)),
        );
        const exact = await client.send(
          { path: `${path}?resourceVersion=${versions[0]}&resourceVersionMatch=Exact` },
          t.signal,
        );
        assert.equal(exact.status, 200, exact.text);
      },
    );

  test("FAULT-5 no connection to be had from PostgreSQL is a 503 that says so, and heals", async (t) => {
    await using database = await startThrowawayPostgres(
      {
        flavour: "embedded",
        settings: { max_connections: "30", superuser_reserved_connections: "3" },
      },
      t.signal,
    );
    await using one = await database.createDatabase();
    await using server = await startOurs({ driver: "postgresql", databaseUrl: one.url }, t.signal);
    assert.equal(await create(server, "before", t.signal), 201);
    const killer = postgres(one.url, { max: 1, onnotice: () => undefined });
    await killer`SELECT 1`;
    const hogs = postgres(one.url, { max: 40, onnotice: () => undefined, connect_timeout: 2 });
    const enough = new AbortController();
    const held = Array.from({ length: 40 }, async () => {
      while (!enough.signal.aborted)
        await hogs`SELECT pg_sleep(60)`.catch(async () => await wait(5));
    });
    let index = 0;
    const refusal = await until(
      async () => {
        // Whatever it lets go of somebody else takes.
        await killer`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name LIKE 'keelson%' AND pid <> pg_backend_pid()`;
        const body = configMap(`during-${(index += 1)}`);
        const answer = await server.client.send({ method: "POST", path, body }, t.signal);
        return answer.status === 503 && /connection|slots/.test(answer.text) ? answer : undefined;
      },
      AbortSignal.any([t.signal, AbortSignal.timeout(120_000)]),
    ).catch(() => undefined);
    enough.abort();
    const over = new AbortController();
    const ended = Promise.all(held).then(() => over.abort());
    // First everybody's queries, then the connections: the driver would tell nobody of what it cuts off.
    await until(
      async () => {
        await killer`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()`;
        return over.signal.aborted;
      },
      AbortSignal.any([t.signal, AbortSignal.timeout(120_000)]),
    );
    await ended;
    await hogs.end({ timeout: 5 });
    await killer.end({ timeout: 5 });
    assert.ok(refusal !== undefined, "nobody ran out of connections");
    assert.ok(refusal.headers["retry-after"] !== undefined, refusal.text);
    await until(
      async () => (await create(server, "after", t.signal)) !== 503,
      AbortSignal.any([t.signal, AbortSignal.timeout(120_000)]),
    );
    assert.ok((await names(server, t.signal)).has("before"));
  });
});

/** A namespace that is deleted goes, and what belongs to an object goes with it. */
async function seeLoopsWork(server: Ours, name: string, signal: AbortSignal): Promise<void> {
  const must = async (method: "POST" | "DELETE", path: string, body?: JsonObject) => {
    const sent = { method, path, ...(body === undefined ? {} : { body }) };
    const { status, text, body: answer } = await server.client.send(sent, signal);
    assert.ok(status < 300, text);
    return answer as { readonly metadata: { readonly uid: string } };
  };
  const isGone = async (path: string): Promise<boolean> =>
    (await server.client.send({ path }, signal)).status === 404;
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
  await must("POST", "/api/v1/namespaces", namespace);
  const maps = `/api/v1/namespaces/${name}/configmaps`;
  const { metadata } = await must("POST", maps, configMap("owner"));
  const ownerReferences = [
    { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: metadata.uid },
  ];
  await must("POST", maps, configMap("owned", {}, { ownerReferences }));
  await must("DELETE", `${maps}/owner`);
  await until(async () => await isGone(`${maps}/owned`), signal);
  await must("DELETE", `/api/v1/namespaces/${name}`);
  await until(async () => await isGone(`/api/v1/namespaces/${name}`), signal);
}

/** Writes until there is no room, makes some, and writes again; nothing that was acknowledged is lost, and nothing else is there. */
async function fillAndHeal(server: Ours, disk: SmallDisk, signal: AbortSignal): Promise<void> {
  const acknowledged = new Set<string>();
  let refused: { readonly status: number; readonly text: string } | undefined;
  for (let index = 0; index < 400 && refused === undefined; index += 1) {
    // Of no pattern: a database may store it as it likes.
    const body = configMap(`big-${index}`, { a: randomBytes(150_000).toString("base64") });
    const { status, text } = await server.client.send({ method: "POST", path, body }, signal);
    if (status === 201) acknowledged.add(`big-${index}`);
    else refused = { status, text };
  }
  assert.equal(refused?.status, 507, refused?.text);
  assert.match(refused.text, /full/);
  assert.deepEqual(await names(server, signal), acknowledged);
  disk.makeRoom();
  await until(
    async () => {
      const { status } = await server.client.send(
        { method: "POST", path, body: configMap("healed") },
        signal,
      );
      return status === 201 || status === 409;
    },
    AbortSignal.any([signal, AbortSignal.timeout(120_000)]),
  );
  assert.deepEqual(await names(server, signal), new Set([...acknowledged, "healed"]));
  assert.ok(server.isAlive);
}

interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  readonly makeRoom: () => void;
}

/** A file system of its own, a part of it taken. */
function smallDisk(sizes: {
  readonly megabytes: number;
  readonly ballastMegabytes: number;
}): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), "keelson-disk-"));
  chmodSync(folder, 0o711); // A database may run as somebody else.
  const disk = join(folder, "disk");
  mkdirSync(disk);
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${sizes.megabytes}m`, "none", disk]);
  const ballast = join(disk, "ballast");
  writeFileSync(ballast, Buffer.alloc(sizes.ballastMegabytes << 20));
  // A tablespace wants an empty folder.
  const path = join(disk, "data");
  mkdirSync(path);
  return {
    path,
    makeRoom: () => rmSync(ballast),
    [Symbol.asyncDispose]: async () => {
      execFileSync("umount", ["-l", disk]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function create(server: Ours, name: string, signal: AbortSignal): Promise<number> {
  return (await server.client.send({ method: "POST", path, body: configMap(name) }, signal)).status;
}

async function names(server: Ours, signal: AbortSignal): Promise<Set<string>> {
  const { status, body, text } = await server.client.send({ path }, signal);
  assert.equal(status, 200, text.slice(0, 300));
  const { items } = body as { items: readonly { metadata: { name: string } }[] };
  return new Set(
    items.map(({ metadata }) => metadata.name).filter((name) => name !== "kube-root-ca.crt"),
  );
}

function temporary(): AsyncDisposable & { readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), "keelson-faults-"));
  return {
    path: folder,
    [Symbol.asyncDispose]: async () =>
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}
