import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, mkdtempDisposable, stat, truncate, writeFile } from "node:fs/promises";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { suite, test } from "node:test";
import { noMetrics, silentLog, systemClock, systemRandom } from "@keelson/base";
import { RecordingLog } from "@keelson/base/testing";
import { openDatabase, statement } from "@keelson/database";
import { patience, sharedThrowawayPostgres } from "@keelson/database/testing";
import { Body, type Store } from "@keelson/store";
import { loadConfig, type Config } from "./config.ts";
import { migrateStore, openStore } from "./open-store.ts";
import { StartError, type StartErrorCode } from "./start-error.ts";

const never = new AbortController().signal;
const shared = { clock: systemClock, random: systemRandom, log: silentLog, metrics: noMetrics };
const script = (text: string) =>
  statement<undefined>("script", (sql) => sql.unsafe<object[]>(text).simple());

test("a store of its own schema is migrated by one role and served by another, whose password is any text", async () => {
  const server = await sharedThrowawayPostgres("embedded");
  await using owned = await server.createDatabase();
  await using database = openDatabase({ url: owned.url, name: "test", ...patience });
  const role = `serves%41_${process.pid}`;
  const password = "100%/?#[@:é";
  const owner = new URL(owned.url);
  const configFor = (username: string, password: string): Promise<Config> =>
    loadConfig({
      flags: {
        "storage-driver": "postgresql",
        "postgres-host": "127.0.0.1",
        "postgres-port": String(server.port),
        "postgres-database": owned.name,
        "postgres-schema": "other",
        "postgres-server-role": role,
        "postgres-username": username,
        "postgres-sslmode": "disable",
      },
      environment: { POSTGRES_PASSWORD: password },
      workingFolder: "/nowhere",
      purpose: "apiserver",
      isTerminal: false,
    });
  await database.run(
    script(`CREATE ROLE "${role}" LOGIN PASSWORD '${password}'`),
    undefined,
    never,
  );
  try {
    const databaseUrl = () => "";
    await migrateStore({ config: await configFor(owner.username, owner.password), databaseUrl });
    const config = await configFor(role, password);
    await using store = await openStore(
      { ...shared, config, databaseUrl, migrates: false, patienceMs: 0 },
      never,
    );
    const key = { kind: "ConfigMap", namespace: "default", name: "a" };
    const { namespace, name } = key;
    const metadata = { name, namespace, uid: "1" };
    const body = Body.of({ apiVersion: "v1", kind: key.kind, metadata });
    await store.create(key, body, never);

    const rows = await database.run(
      script("SELECT schemaname AS schema FROM pg_tables WHERE tablename = 'resources'"),
      undefined,
      never,
    );
    assert.deepEqual([...rows], [{ schema: "other" }]);
  } finally {
    await database.run(script(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`), undefined, never);
  }
});

test("a schema in which somebody else has made tables of our names is told of in a sentence", async () => {
  const server = await sharedThrowawayPostgres("embedded");
  await using owned = await server.createDatabase();
  await using database = openDatabase({ url: owned.url, name: "test", ...patience });
  await database.run(script("CREATE SCHEMA ark CREATE TABLE resources (id int)"), undefined, never);
  const config = await loadConfig({
    flags: { "storage-driver": "postgresql", "database-url": owned.url },
    environment: {},
    workingFolder: "/nowhere",
    purpose: "apiserver",
    isTerminal: false,
  });
  const databaseUrl = () => owned.url;
  const opened = { config, databaseUrl, migrates: true, patienceMs: 0 };
  for (const begin of [
    () => migrateStore(opened),
    () => openStore({ ...shared, ...opened }, never),
  ]) {
    await assert.rejects(begin(), {
      name: "StartError",
      code: "DATABASE_UNAVAILABLE",
      message:
        `the PostgreSQL database ${owned.name} at 127.0.0.1:${server.port}: relation "resources" already exists: ` +
        "see what somebody else has made in schema ark, or name another with --postgres-schema",
    });
  }
});

test("the file of the password is read for each connection, so that one that was replaced counts without a restart", async () => {
  const server = await sharedThrowawayPostgres("embedded");
  await using owned = await server.createDatabase();
  await using database = openDatabase({ url: owned.url, name: "test", ...patience });
  const run = (text: string): Promise<unknown> => database.run(script(text), undefined, never);
  await using folder = await mkdtempDisposable(join(tmpdir(), "keelson-password-"));
  const file = join(folder.path, "password");
  await writeFile(file, "first\n");
  const role = `rotates_${process.pid}`;
  const config = await loadConfig({
    flags: {
      "storage-driver": "postgresql",
      "postgres-host": "127.0.0.1",
      "postgres-port": String(server.port),
      "postgres-database": owned.name,
      "postgres-username": role,
      "postgres-password-file": file,
      "postgres-sslmode": "disable",
    },
    environment: {},
    workingFolder: "/nowhere",
    purpose: "apiserver",
    isTerminal: false,
  });
  await run(
    `CREATE ROLE ${role} LOGIN PASSWORD 'first'; GRANT CREATE ON DATABASE ${owned.name} TO ${role}`,
  );
  try {
    const databaseUrl = () => "";
    const opened = { config, databaseUrl, migrates: true, patienceMs: 0 };
    await using store = await openStore({ ...shared, ...opened }, never);
    await run(`ALTER ROLE ${role} PASSWORD 'second';
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`);
    const pinged = (): Promise<string> =>
      store.ping(never).then(
        () => "it answers",
        (error: unknown) => String(error),
      );
    await until(pinged, /does not let us in/);
    await writeFile(file, "second\n");
    await until(pinged, /it answers/);
  } finally {
    await run(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  }
});

/** Waits for a fact. */
async function until(say: () => Promise<string>, fact: RegExp): Promise<void> {
  const deadlineMs = systemClock.monotonic() + 60_000;
  for (;;) {
    const said = await say();
    if (fact.test(said)) return;
    assert.ok(systemClock.monotonic() < deadlineMs, said);
    await systemClock.sleep(5, never);
  }
}

suite("a PostgreSQL that is not there yet", () => {
  const configOf = (url: string): Promise<Config> =>
    loadConfig({
      flags: { "storage-driver": "postgresql", "database-url": url },
      environment: {},
      workingFolder: "/nowhere",
      purpose: "apiserver",
      isTerminal: false,
    });

  test("is waited for, with a line that says so", async () => {
    const server = await sharedThrowawayPostgres("embedded");
    await using owned = await server.createDatabase();
    let isThere = false;
    const way = createServer((socket) => {
      if (!isThere) return void socket.resetAndDestroy();
      const database = connect(server.port, "127.0.0.1");
      socket.pipe(database).pipe(socket);
      for (const one of [socket, database]) one.on("error", () => undefined);
    });
    way.listen(0, "127.0.0.1");
    await once(way, "listening");
    const { port } = way.address() as AddressInfo;
    const url = new URL(owned.url);
    url.port = String(port);
    const config = await configOf(url.href);
    const databaseUrl = () => url.href;
    const log = new RecordingLog();
    const stored = { config, databaseUrl, migrates: true, patienceMs: 60_000 };
    const opening = openStore({ ...shared, log, ...stored }, never);
    try {
      const isTold = (): boolean => log.messages("warn").includes("waiting for the database");
      const deadlineMs = systemClock.monotonic() + 60_000;
      while (!isTold() && systemClock.monotonic() < deadlineMs) {
        await Promise.race([opening, systemClock.sleep(5, never)]);
      }
      assert.ok(isTold(), "it was not waited for");
      isThere = true;
      await using store = await opening;
      await store.ping(never);
    } finally {
      way.close();
    }
  });

  test("is named when patience ends, without its password, with the setting that chooses it", async () => {
    const url = "postgres://me:secret@127.0.0.1:9/keelson";
    const config = await configOf(url);
    const stored = { config, databaseUrl: () => url, migrates: false, patienceMs: 300 };
    await assert.rejects(openStore({ ...shared, ...stored }, never), (error) => {
      assert.ok(error instanceof StartError, String(error));
      assert.equal(error.code, "DATABASE_UNAVAILABLE");
      assert.match(
        error.message,
        /^the PostgreSQL database keelson at 127\.0\.0\.1:9 .*ECONNREFUSED.*--database-url$/,
      );
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
  });
});

suite("a SQLite file that cannot be the store", () => {
  const openAt = async (path: string): Promise<Store> => {
    const config = await loadConfig({
      flags: { "sqlite-path": path },
      environment: {},
      workingFolder: "/nowhere",
      purpose: "apiserver",
      isTerminal: false,
    });
    const stored = { config, databaseUrl: () => "", migrates: true, patienceMs: 0 };
    return await openStore({ ...shared, ...stored }, never);
  };
  const damaged =
    /^the file PATH: .*damaged.*: bring it back .*, or name another with --sqlite-path$/;
  const cases: Readonly<
    Record<
      string,
      {
        readonly make: (path: string) => Promise<void>;
        readonly code: StartErrorCode;
        readonly says: RegExp;
      }
    >
  > = {
    "of something else": {
      make: (path) => writeFile(path, "something else ".repeat(1_000)),
      code: "DATABASE_UNAVAILABLE",
      says: damaged,
    },
    "cut off in the middle": {
      make: async (path) => {
        await (await openAt(path))[Symbol.asyncDispose]();
        await truncate(path, Math.floor((await stat(path)).size / 8192) * 4096);
      },
      code: "DATABASE_UNAVAILABLE",
      says: damaged,
    },
    "that is a folder": {
      make: (path) => mkdir(path, { mode: 0o755 }),
      code: "DATABASE_UNAVAILABLE",
      says: /^the file PATH: .*it is none: let this user .*, or name another with --sqlite-path$/,
    },
    "of another program": {
      make: async (path) => {
        using client = new DatabaseSync(path);
        client.exec("CREATE TABLE objects (color)");
      },
      code: "USAGE",
      says: /^PATH is no store of ours: .*objects.*: name another file with --sqlite-path$/,
    },
    "of another program with a name in common": {
      make: async (path) => {
        using client = new DatabaseSync(path);
        client.exec("CREATE TABLE meta (color)");
      },
      code: "USAGE",
      says: /^PATH is no store of ours: .*schema_version: name another file with --sqlite-path$/,
    },
    "of a newer version": {
      make: async (path) => {
        await (await openAt(path))[Symbol.asyncDispose]();
        using client = new DatabaseSync(path);
        client.exec("UPDATE meta SET schema_version = 99");
      },
      code: "DATABASE_UNAVAILABLE",
      says: /^the file PATH: .* 99.*: use the newer version, or name another with --sqlite-path$/,
    },
    "below a file": {
      make: (path) => writeFile(join(path, ".."), ""),
      code: "USAGE",
      says: /^PATH cannot be used \(ENOTDIR\): make its folder, or name another file with --sqlite-path$/,
    },
    "in no folder": {
      make: async () => undefined,
      code: "USAGE",
      says: /^PATH cannot be used \(ENOENT\): make its folder, or name another file with --sqlite-path$/,
    },
  };
  for (const [what, { make, code, says }] of Object.entries(cases)) {
    test(`${what} is named, with what to do`, async () => {
      await using folder = await mkdtempDisposable(join(tmpdir(), "keelson-sqlite-"));
      const isBelow = what.startsWith("below") || what.startsWith("in no");
      const path = join(folder.path, ...(isBelow ? ["between"] : []), "apiserver.db");
      await make(path);
      await assert.rejects(openAt(path), (error) => {
        assert.ok(error instanceof StartError, String(error));
        assert.match(error.message.replace(path, "PATH"), says);
        assert.equal(error.code, code);
        return true;
      });
    });
  }

  test("keeps the mode of what is no file", async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "keelson-sqlite-"));
    const { mode } = await stat(folder.path);
    await assert.rejects(openAt(folder.path));
    assert.equal((await stat(folder.path)).mode, mode);
  });
});
