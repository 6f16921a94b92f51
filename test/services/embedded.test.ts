// The embedded PostgreSQL where its process, its disk or its user is not as one would wish.

import assert from "node:assert/strict";
import { execFileSync, spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { seededRandom, systemClock } from "@keelson/base";
import { until } from "@keelson/base/testing";
import { isTransient, openDatabase, statement } from "@keelson/database";
import { patience } from "@keelson/database/testing";
import { nothingRunsIn } from "../e2e/keelson-process.ts";
import { endsWithUs } from "../tools/ends-with-us.ts";

const never = new AbortController().signal;
const isRoot = process.getuid?.() === 0;
const program = fileURLToPath(new URL("./programs/embedded-process.ts", import.meta.url));
const nobody = 65534;

const create = statement<undefined>(
  "create",
  (sql) => sql`CREATE TABLE IF NOT EXISTS kept (id integer)`,
);
const insert = statement<number>("insert", (sql, id) => sql`INSERT INTO kept VALUES (${id})`);
const kept = statement<undefined, { id: number }>(
  "kept",
  (sql) => sql`SELECT id FROM kept ORDER BY id`,
);

interface Started {
  readonly child: ChildProcessByStdio<null, Readable, null>;
  readonly said: { readonly url?: string; readonly code?: string; readonly message?: string };
}

async function start(dataDir: string, as: { uid?: number; gid?: number } = {}): Promise<Started> {
  const child = endsWithUs(
    spawn(process.execPath, [program, dataDir], {
      stdio: ["ignore", "pipe", "inherit"],
      cwd: "/",
      ...as,
    }),
  );
  for await (const line of createInterface({ input: child.stdout })) {
    return { child, said: JSON.parse(line) as Started["said"] };
  }
  throw new Error(`PostgreSQL in ${dataDir} ended without a word`);
}

async function end({ child }: Started, signal: NodeJS.Signals): Promise<void> {
  const closed = once(child, "exit");
  child.kill(signal);
  await closed;
}

async function emptyHome(): Promise<{ home: string } & AsyncDisposable> {
  const home = await mkdtemp(join(tmpdir(), "keelson-embedded-"));
  return { home, [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }) };
}

/** A small disk of its own, unmounted afterwards. */
function mount(folder: string, options: string): Disposable {
  execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder]);
  return { [Symbol.dispose]: () => void execFileSync("umount", ["-l", folder]) };
}

suite("embedded PostgreSQL, its process and its disk", () => {
  test(
    "what was committed survives kill -9 of its owner, again and again, and a clean stop leaves no server",
    { timeout: 300_000 },
    async () => {
      await using place = await emptyHome();
      const dataDir = join(place.home, "postgres");
      const random = seededRandom("embedded");
      const committed: number[] = [];
      for (let round = 0; round < 6; round++) {
        const server = await start(dataDir);
        await using database = openDatabase({
          url: server.said.url ?? "",
          name: "test",
          ...patience,
        });
        await database.run(create, undefined, never);
        const writesMax = 1 + random.integer(40);
        for (let i = 0; i < writesMax; i++) {
          await database.run(insert, committed.length, never);
          committed.push(committed.length);
        }
        // Not a moment's grace: the next one finds a server that is still ending, or only its pid file.
        await end(server, round === 5 ? "SIGTERM" : "SIGKILL");
      }
      assert.equal(existsSync(join(dataDir, "postmaster.pid")), false);
      const last = await start(dataDir);
      await using database = openDatabase({ url: last.said.url ?? "", name: "test", ...patience });
      const rows = await database.run(kept, undefined, never);
      assert.deepEqual(
        rows.map(({ id }) => id),
        committed,
      );
      // The server ends with its owner, however that ends.
      await end(last, "SIGKILL");
      const pidFile = join(dataDir, "postmaster.pid");
      await until(() => !existsSync(pidFile), `${pidFile} is gone`);
      await assert.rejects(database.run(kept, undefined, never), (error) => isTransient(error));
    },
  );

  test(
    "killed at any moment of its start it leaves no server behind",
    { skip: process.platform !== "linux" && "reads /proc", timeout: 300_000 },
    async () => {
      await using place = await emptyHome();
      const dataDir = join(place.home, "postgres");
      const random = seededRandom("start");
      for (let round = 0; round < 12; round++) {
        const child = endsWithUs(
          spawn(process.execPath, [program, dataDir], {
            stdio: ["ignore", "pipe", "inherit"],
            cwd: "/",
          }),
        );
        const exited = once(child, "exit");
        const said = child.stdout.toArray();
        await systemClock.sleep(random.integer(2_500), never); // The moment, not a wait for anything.
        child.kill("SIGKILL");
        const [, signal] = (await exited) as [number | null, string | null];
        assert.equal(signal, "SIGKILL", `it ended by itself: ${(await said).join("")}`);
      }
      await nothingRunsIn(place.home);
      const server = await start(dataDir);
      assert.ok(server.said.url, server.said.message);
      await end(server, "SIGTERM");
    },
  );

  test("what a killed start still writes is cleared away", { timeout: 300_000 }, async () => {
    await using place = await emptyHome();
    const dataDir = join(place.home, "postgres");
    const cwd = `${dataDir}.new`;
    await mkdir(cwd);
    // It sees that somebody clears the folder, and goes on for a moment.
    const script = `
      i=0; while [ $i -lt 2000 ]; do i=$((i+1)); : > f$i; done
      : > ready
      while [ -e f1 ] && [ -e f1000 ] && [ -e f2000 ]; do :; done
      i=0; while [ $i -lt 3000 ]; do i=$((i+1)); : > g$i || exit 0; done`;
    const writer = spawn("sh", ["-c", script], { cwd, stdio: "ignore" });
    const written = once(writer, "exit");
    await until(() => existsSync(join(cwd, "ready")), "the files of a start");
    const server = await start(dataDir);
    await written;
    assert.ok(server.said.url, server.said.message);
    await end(server, "SIGTERM");
  });

  test(
    "a read-only folder and a full disk are named",
    { skip: !isRoot && "mounting needs root", timeout: 300_000 },
    async () => {
      await using place = await emptyHome();
      const disk = join(place.home, "disk");
      await mkdir(disk);
      {
        using _mounted = mount(disk, "ro,size=20m");
        const { said, child } = await start(join(disk, "postgres"));
        await once(child, "exit");
        assert.equal(said.code, "data-dir-not-writable");
        assert.match(said.message ?? "", new RegExp(`the data folder ${disk}/postgres cannot be`));
      }
      {
        using _mounted = mount(disk, "size=20m");
        const { said, child } = await start(join(disk, "postgres"));
        await once(child, "exit");
        assert.equal(said.code, "disk-full");
        assert.match(said.message ?? "", /no space is left on the disk of/);
        assert.equal(existsSync(join(disk, "postgres")), false);
      }
    },
  );

  test(
    "it runs as an ordinary user, who may be refused a folder",
    { skip: !isRoot && "needs root to become somebody else", timeout: 300_000 },
    async () => {
      await using place = await emptyHome();
      const as = { uid: nobody, gid: nobody };
      await chmod(place.home, 0o755);
      const own = join(place.home, "own");
      await mkdir(own);
      await chown(own, nobody, nobody);
      const server = await start(join(own, "postgres"), as);
      assert.ok(server.said.url, server.said.message);
      await end(server, "SIGTERM");

      const foreign = await start(join(place.home, "postgres"), as);
      assert.equal(foreign.said.code, "data-dir-not-writable");
    },
  );

  test(
    "as root it runs below a folder that only root may enter",
    { skip: !isRoot && "needs root", timeout: 300_000 },
    async () => {
      await using place = await emptyHome();
      await chmod(place.home, 0o700);
      const dataDir = join(place.home, "project", ".keelson", "postgres");
      for (const id of [1, 2]) {
        const server = await start(dataDir);
        assert.ok(server.said.url, server.said.message);
        await using database = openDatabase({
          url: server.said.url ?? "",
          name: "test",
          ...patience,
        });
        await database.run(create, undefined, never);
        await database.run(insert, id, never);
        await database[Symbol.asyncDispose]();
        await end(server, id === 1 ? "SIGKILL" : "SIGTERM");
      }
      assert.ok(existsSync(dirname(dataDir)));
    },
  );
});
