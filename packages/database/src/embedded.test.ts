import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import type { LogLevel } from "@keelson/base";
import { RecordingLog, until } from "@keelson/base/testing";
import { openDatabase } from "./database.ts";
import { startEmbeddedPostgres, type EmbeddedPostgres } from "./embedded.ts";
import { PostgresServerError, type PostgresServerErrorCode } from "./server/errors.ts";
import { statement } from "./sql/statement.ts";
import { patience } from "./testing/patience.ts";

const never = new AbortController().signal;
const create = statement<undefined>("create", (sql) => sql`CREATE TABLE kept (id integer)`);
const insert = statement<number>("insert", (sql, id) => sql`INSERT INTO kept VALUES (${id})`);
const kept = statement<undefined, { id: number }>("kept", (sql) => sql`SELECT id FROM kept`);

/** An empty place, removed afterwards. */
async function emptyPlace(): Promise<{ dataDir: string } & AsyncDisposable> {
  const home = await mkdtemp(join(tmpdir(), "keelson-embedded-"));
  return {
    dataDir: join(home, "state", "postgres"),
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }),
  };
}

async function rowsOf(server: EmbeddedPostgres): Promise<number[]> {
  await using database = openDatabase({ url: server.url, name: "test", ...patience });
  return (await database.run(kept, undefined, never)).map(({ id }) => id);
}

async function refusal(
  start: Promise<AsyncDisposable>,
  code: PostgresServerErrorCode,
): Promise<string> {
  const error = await start.then(
    async (server) => {
      await server[Symbol.asyncDispose]();
      return undefined;
    },
    (error: unknown) => error,
  );
  assert.ok(error instanceof PostgresServerError, String(error));
  assert.equal(error.code, code);
  assert.doesNotMatch(error.message, /\n|\.$/);
  return error.message;
}

suite("embedded PostgreSQL", () => {
  test("it starts on nothing, keeps what was written, and leaves only its data when stopped", async () => {
    await using place = await emptyPlace();
    const steps: string[] = [];
    const onProgress = (step: string): void => void steps.push(step);
    {
      await using server = await startEmbeddedPostgres({ ...place, onProgress }, never);
      await using database = openDatabase({ url: server.url, name: "test", ...patience });
      await database.run(create, undefined, never);
      await database.run(insert, 7, never);
      assert.equal((await stat(join(place.dataDir, "keelson-password"))).mode & 0o777, 0o600);
    }
    assert.equal(existsSync(`${place.dataDir}.owner`), false);
    assert.equal(existsSync(join(place.dataDir, "postmaster.pid")), false);
    {
      await using server = await startEmbeddedPostgres({ ...place, onProgress }, never);
      assert.deepEqual(await rowsOf(server), [7]);
    }
    assert.deepEqual(steps, ["initialising", "starting", "starting"]);
  });

  test("one of its two is refused the folder of the other, and both run side by side on two", async () => {
    await using one = await emptyPlace();
    await using other = await emptyPlace();
    await using server = await startEmbeddedPostgres(one, never);
    const message = await refusal(startEmbeddedPostgres(one, never), "data-dir-in-use");
    assert.match(message, new RegExp(`in use by process ${process.pid}$`));
    await using second = await startEmbeddedPostgres(other, never);
    assert.notEqual(server.port, second.port);
  });

  test("a pid file that names a living stranger does not keep it from starting", async () => {
    await using place = await emptyPlace();
    await (await startEmbeddedPostgres(place, never))[Symbol.asyncDispose]();
    // A stranger of the server's own user, as another PostgreSQL would be.
    const { uid, gid } = await stat(place.dataDir);
    const as = process.getuid?.() === 0 ? { uid, gid } : {};
    const stranger = spawn("/bin/sleep", ["60"], { ...as, cwd: "/" });
    try {
      const pidFile = join(place.dataDir, "postmaster.pid");
      await writeFile(pidFile, `${stranger.pid}\n${place.dataDir}\n1\n5432\n\n127.0.0.1\n`);
      await using server = await startEmbeddedPostgres(place, never);
      const [pid] = (await readFile(pidFile, "utf8")).split("\n");
      assert.notEqual(Number(pid), stranger.pid);
      assert.ok(server.port > 0);
    } finally {
      stranger.kill();
    }
  });

  test("a pid file that another is still writing is waited for", async () => {
    await using place = await emptyPlace();
    await (await startEmbeddedPostgres(place, never))[Symbol.asyncDispose]();
    const pidFile = join(place.dataDir, "postmaster.pid");
    await writeFile(pidFile, "");
    const log = new RecordingLog();
    const starting = startEmbeddedPostgres({ ...place, log }, never);
    const isRefused = (): boolean =>
      log.entries.some(({ fields }) => String(fields["said"]).includes("is empty"));
    await Promise.race([starting, until(isRefused, "PostgreSQL found the pid file")]);
    await rm(pidFile); // As one that ends before it has begun does.
    await using server = await starting;
    assert.ok(server.port > 0);
  });

  test("a server that dies is started again, on the same port, with its data", async () => {
    await using place = await emptyPlace();
    await using server = await startEmbeddedPostgres(place, never);
    await using database = openDatabase({ url: server.url, name: "test", ...patience });
    await database.run(create, undefined, never);
    await database.run(insert, 7, never);
    const [pid] = (await readFile(join(place.dataDir, "postmaster.pid"), "utf8")).split("\n");
    process.kill(Number(pid), "SIGKILL");
    let rows: readonly number[] | undefined;
    await until(async () => {
      rows = await rowsOf(server).catch(() => undefined);
      return rows !== undefined;
    }, "the server has come back");
    assert.deepEqual(rows, [7]);
  });

  test("what it says is logged, each word at the level of its weight, and a clean end is no trouble", async () => {
    await using place = await emptyPlace();
    const log = new RecordingLog();
    const said = (level: LogLevel, text: string): boolean =>
      log.entries.some(
        ({ fields, ...entry }) => entry.level === level && String(fields["said"]).includes(text),
      );
    {
      await using server = await startEmbeddedPostgres({ ...place, log }, never);
      const wrong = server.url.replace(/\/keelson$/, "/nowhere");
      await using stranger = openDatabase({ url: wrong, name: "test", ...patience });
      await assert.rejects(stranger.run(kept, undefined, never));
      await using database = openDatabase({ url: server.url, name: "test", ...patience });
      await assert.rejects(database.run(kept, undefined, never));
      await until(
        () => said("error", 'database "nowhere" does not exist'),
        "the refusal was logged",
      );
      await until(() => said("warn", 'relation "kept" does not exist'), "the failure was logged");
      // It ends with one that is still connected, whom it tells so.
      await server[Symbol.asyncDispose]();
      assert.ok(said("debug", "due to administrator command"), JSON.stringify(log.entries));
      assert.ok(!said("error", "due to administrator command"));
    }
  });

  test("it comes back on the port it had, unless somebody has taken it", async () => {
    await using place = await emptyPlace();
    const startedOn = async (): Promise<number> => {
      await using server = await startEmbeddedPostgres(place, never);
      return server.port;
    };
    const port = await startedOn();
    assert.equal(await startedOn(), port);
    const stranger = createServer().listen(port, "127.0.0.1");
    await once(stranger, "listening");
    try {
      assert.notEqual(await startedOn(), port);
    } finally {
      stranger.close();
    }
  });

  test("a taken port is named", async () => {
    await using place = await emptyPlace();
    const holder = createServer().listen(0, "127.0.0.1");
    await once(holder, "listening");
    const { port } = holder.address() as AddressInfo;
    const message = await refusal(startEmbeddedPostgres({ ...place, port }, never), "port-taken");
    assert.match(message, new RegExp(`port ${port} `));
    assert.equal(existsSync(`${place.dataDir}.owner`), false);
    holder.close();
  });

  test("a server that starts and does not answer is told of by its folder", async () => {
    await using place = await emptyPlace();
    const elsewhere = { listen_addresses: "127.0.0.2" };
    const start = startEmbeddedPostgres({ ...place, settings: elsewhere }, never);
    const message = await refusal(start, "start-failed");
    assert.match(
      message,
      /^PostgreSQL started on .*\/postgres and does not answer: .*ECONNREFUSED/,
    );
  });

  test("a folder of something else, or of another version, is left alone", async () => {
    await using place = await emptyPlace();
    await mkdir(place.dataDir, { recursive: true });
    await writeFile(join(place.dataDir, "diary.txt"), "dear");
    await refusal(startEmbeddedPostgres(place, never), "start-failed");
    await writeFile(join(place.dataDir, "PG_VERSION"), "17\n");
    const message = await refusal(startEmbeddedPostgres(place, never), "data-dir-other-version");
    assert.match(message, /belongs to PostgreSQL 17, and ours is 18$/);
    assert.equal(await readFile(join(place.dataDir, "diary.txt"), "utf8"), "dear");
  });

  test("a file in the place of a folder is named", async () => {
    await using place = await emptyPlace();
    await writeFile(join(place.dataDir, "../../state"), "");
    await refusal(startEmbeddedPostgres(place, never), "data-dir-not-writable");
  });
});
