// What only a file can show: its lock, its mode, its plans, and SQL clients beside the server.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, mkdtemp, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { suite, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { systemClock } from "@keelson/base";
import * as fc from "fast-check";
import type { Row } from "../backend.ts";
import { Conflict, Corrupt, Locked, SchemaMismatch } from "../errors.ts";
import { Store } from "../store.ts";
import { everywhere, key, object, signal, summary, take } from "../testing/bed.ts";
import { SqliteBackend } from "./backend.ts";
import { openCheckpointer } from "./checkpointer-connection.ts";
import { openWriter } from "./connection.ts";
import { toStoreError } from "./errors.ts";
import { migrate } from "./migrate.ts";
import { built, statements } from "./statements.ts";

async function folder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const home = await mkdtemp(join(tmpdir(), "keelson-sqlite-"));
  return {
    path: join(home, "store.db"),
    [Symbol.asyncDispose]: () => rm(home, { recursive: true }),
  };
}

async function open(path: string): Promise<Store> {
  const backend = new SqliteBackend({ path, clock: systemClock });
  return Store.open({ backend, limits: { compactionEveryMs: undefined } }, signal);
}

suite("SQLite backend", () => {
  test("what was committed goes back into the file while nobody waits for it", async () => {
    await using home = await folder();
    const store = await open(home.path);
    // Fewer pages than those at which whoever commits would do it.
    for (let n = 0; n < 250; n++) await store.create(key(`n${n}`), object(`n${n}`), signal);
    const alone = join(dirname(home.path), "without-its-log.db");
    const inFile = async (): Promise<number> => {
      await copyFile(home.path, alone);
      using database = new DatabaseSync(alone);
      const { objects } = database.prepare("SELECT count(*) AS objects FROM resources").get() as {
        objects: number;
      };
      return objects;
    };
    // A copy of a file that is being written may be none.
    while ((await inFile().catch(() => 0)) < 200) await setImmediate();
    await store[Symbol.asyncDispose]();
    assert.equal(await inFile(), 250);
  });

  test("a second server on the file is refused and told why; the first goes on", async () => {
    await using home = await folder();
    await using store = await open(home.path);
    await store.create(key("a"), object("a"), signal);
    const isLocked = (error: unknown): boolean =>
      error instanceof Locked &&
      error.message.includes(home.path) &&
      error.message.includes("another process");
    assert.throws(() => new SqliteBackend({ path: home.path, clock: systemClock }), isLocked);

    const program = `
      import { SqliteBackend } from ${JSON.stringify(new URL("./backend.ts", import.meta.url).href)};
      import { systemClock } from "@keelson/base";
      try { new SqliteBackend({ path: ${JSON.stringify(home.path)}, clock: systemClock }); console.log("opened"); }
      catch (error) { console.log(error.code); }`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--input-type=module", "-e", program],
      { cwd: import.meta.dirname },
    );
    assert.equal(stdout.trim(), "Locked");
    assert.equal((await store.get(key("a"), signal)).key.name, "a");
  });

  test("of many writers at once, whose batches wait in the thread, each is heard once and in order", async () => {
    await using home = await folder();
    const backend = new SqliteBackend({ path: home.path, clock: systemClock });
    let [underWay, most] = [0, 0];
    const commit = backend.commit.bind(backend);
    backend.commit = async (batch) => {
      most = Math.max(most, (underWay += 1));
      return await commit(batch).finally(() => (underWay -= 1));
    };
    await using store = await Store.open(
      { backend, limits: { compactionEveryMs: undefined } },
      signal,
    );
    while (!backend.commitsAside(8)) await setImmediate(); // It starts.
    const from = await store.head(signal);
    using watch = await store.watch(everywhere, { from }, signal);
    const acknowledged: { readonly revision: number; readonly text: string }[] = [];
    const heard = (type: string, { key: { name }, revision }: Row): Row["revision"] => {
      acknowledged.push({ revision, text: `${type} ${name} ${revision}` });
      return revision;
    };
    heard("ADDED", await store.create(key("shared"), object("shared"), signal));
    /** One object of its own, and one that all of them change. */
    const write = async (writer: number): Promise<void> => {
      const own = key(`own-${writer}`);
      let revision = heard("ADDED", await store.create(own, object(own.name), signal));
      for (let turn = 0; turn < 12; turn += 1) {
        const change = { body: object(own.name, { turn }), expect: { revision } };
        revision = heard("MODIFIED", await store.update(own, change, signal));
        const expect = { revision: await store.revisionOf(key("shared"), signal) };
        const body = object("shared", { writer, turn });
        const changing = store.update(key("shared"), { body, expect }, signal);
        await changing.then(
          (row) => heard("MODIFIED", row),
          (error) => assert.ok(error instanceof Conflict), // Somebody else was faster.
        );
      }
    };
    await Promise.all(Array.from({ length: 64 }, (_, writer) => write(writer)));
    assert.ok(most > 1, "no batch ever waited behind another");
    const told = await take(watch, acknowledged.length);
    const inOrder = acknowledged.toSorted((a, b) => a.revision - b.revision);
    assert.deepEqual(
      told.map(summary),
      inOrder.map(({ text }) => text),
    );
    assert.deepEqual(
      told.map(({ revision }) => revision),
      told.map((_, index) => from + 1 + index),
    );
  });

  test("the lock is free once its holder has closed", async () => {
    await using home = await folder();
    await (await open(home.path))[Symbol.asyncDispose]();
    await using store = await open(home.path);
    assert.equal(await store.head(signal), 1);
  });

  test("a link to the file is the same file", async () => {
    await using home = await folder();
    await using _store = await open(home.path);
    await symlink(home.path, `${home.path}.link`);
    assert.throws(
      () => new SqliteBackend({ path: `${home.path}.link`, clock: systemClock }),
      Locked,
    );
  });

  test("a process that is killed frees the lock, and its writes are there", async () => {
    await using home = await folder();
    const program = `
      import { SqliteBackend, Store, Body } from ${JSON.stringify(new URL("../index.ts", import.meta.url).href)};
      import { systemClock } from "@keelson/base";
      const { signal } = new AbortController();
      const backend = new SqliteBackend({ path: ${JSON.stringify(home.path)}, clock: systemClock });
      const store = await Store.open({ backend }, signal);
      await store.create({ kind: "Query", namespace: "", name: "a" }, Body.of({ metadata: { uid: "u" } }), signal);
      process.kill(process.pid, "SIGKILL");`;
    const run = promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], {
      cwd: import.meta.dirname,
    });
    await assert.rejects(run, { signal: "SIGKILL" });
    await using store = await open(home.path);
    assert.equal((await store.get({ kind: "Query", namespace: "", name: "a" }, signal)).uid, "u");
  });

  test("every commit is synchronised to the disk, and so is what is put back from the log", () => {
    for (const connect of [openWriter, openCheckpointer]) {
      using database = connect(":memory:");
      const pragma = (name: string): unknown =>
        Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
      assert.deepEqual([pragma("synchronous"), pragma("fullfsync")], [2, 1], connect.name);
    }
  });

  test("nobody else may read the files", async () => {
    await using home = await folder();
    await using store = await open(home.path);
    await store.create(key("a"), object("a"), signal);
    for (const suffix of ["", "-wal", "-shm", ".lock"]) {
      assert.equal(
        (await stat(home.path + suffix)).mode & 0o777,
        0o600,
        `${suffix} of the database`,
      );
    }
  });

  test("a SQL client may look in while the server writes", async () => {
    await using home = await folder();
    await using store = await open(home.path);
    await store.create(key("a"), object("a", { spec: { input: "hi" } }), signal);
    using client = new DatabaseSync(home.path, { readOnly: true });
    client.exec("BEGIN");
    const select = client.prepare("SELECT name, spec ->> '$.input' AS input FROM resources");
    assert.deepEqual({ ...select.get() }, { name: "a", input: "hi" });
    await store.create(key("b"), object("b"), signal);
    assert.equal(select.all().length, 1);
    client.exec("COMMIT");
    assert.equal(select.all().length, 2);
  });

  test("the file is sound", async () => {
    await using home = await folder();
    await (async () => {
      await using store = await open(home.path);
      for (let n = 0; n < 50; n += 1) await store.create(key(`n${n}`), object(`n${n}`), signal);
    })();
    using client = new DatabaseSync(home.path);
    assert.deepEqual(
      { ...client.prepare("PRAGMA integrity_check").get() },
      { integrity_check: "ok" },
    );
    assert.deepEqual({ ...client.prepare("PRAGMA journal_mode").get() }, { journal_mode: "wal" });
  });

  test("a file of a newer version is refused", async () => {
    await using home = await folder();
    await (await open(home.path))[Symbol.asyncDispose]();
    (() => {
      using client = new DatabaseSync(home.path);
      client.exec("UPDATE meta SET schema_version = 99");
    })();
    assert.throws(
      () => new SqliteBackend({ path: home.path, clock: systemClock }),
      (error) => error instanceof SchemaMismatch && error.found === 99,
    );
  });

  test("something that is no database is named as damaged", async () => {
    await using home = await folder();
    await writeFile(home.path, "this is not a database, whatever its name says".repeat(100));
    assert.throws(() => new SqliteBackend({ path: home.path, clock: systemClock }), {
      code: "Corrupt",
    });
  });

  test("a full disk is Full, anything else the file can suffer has its name too", () => {
    using database = new DatabaseSync(":memory:");
    database.exec("CREATE TABLE t (x); PRAGMA max_page_count = 3");
    const fill = (): void => {
      for (;;) database.prepare("INSERT INTO t VALUES (zeroblob(4000))").run();
    };
    assert.throws(
      () => {
        try {
          fill();
        } catch (error) {
          throw toStoreError(error);
        }
      },
      { code: "Full" },
    );
    const named = [
      [5, "Unavailable"],
      [6, "Unavailable"],
      [8, "Unavailable"],
      [10, "Unavailable"],
      [522, "Unavailable"],
      [11, "Corrupt"],
      [26, "Corrupt"],
      [13, "Full"],
    ] as const;
    for (const [errcode, code] of named) {
      assert.equal(
        (toStoreError(Object.assign(new Error("planted"), { errcode })) as { code: string }).code,
        code,
      );
    }
    const bug = new TypeError("a bug of ours");
    assert.equal(toStoreError(bug), bug);
  });

  test("what SQLite takes for JSON and we cannot decode is found in a list too", async () => {
    await using home = await folder();
    await (async () => {
      await using store = await open(home.path);
      await store.create(key("a"), object("a"), signal);
    })();
    using client = new DatabaseSync(home.path, { timeout: 5000 });
    const damage = client.prepare("UPDATE objects SET object = ?");
    const isDecodable = async (text: string | Uint8Array): Promise<boolean> => {
      damage.run(text);
      await using store = await open(home.path);
      const read = async (run: () => Promise<unknown>): Promise<boolean> => {
        try {
          await run();
          return true;
        } catch (error) {
          assert.ok(error instanceof Corrupt, String(error));
          assert.equal(error.key?.name, "a");
          return false;
        }
      };
      const isListed = await read(() => store.list({ ...everywhere, namespace: "" }, {}, signal));
      assert.equal(await read(() => store.get(key("a"), signal)), isListed, String(text));
      return isListed;
    };
    const whole = '{"a":1,"b":[1,{"c":null}],"d":"x\\u00e9\\n","e":-1.5e+3,"f":"é"}';
    assert.ok(await isDecodable(whole));
    const marks = "{~}~[~]~,~:~\"~\\~'~\t~\0~\u001f~\ufeff~ ~😀";
    const words = "~\\u12~01~1.~NaN~tru~/*x*/~0x1~.5~a:~1E400~\\x41";
    const bits = fc.constantFrom(...marks.split("~"), ...words.split("~"));
    const cut = fc.record({ at: fc.nat(whole.length), length: fc.nat(3), bit: bits });
    await fc.assert(
      fc.asyncProperty(fc.array(cut, { minLength: 1, maxLength: 2 }), async (cuts) => {
        const text = cuts.reduce(
          (text, { at, length, bit }) => text.slice(0, at) + bit + text.slice(at + length),
          whole,
        );
        await isDecodable(text);
      }),
      {
        numRuns: 60,
        examples: [
          [[{ at: whole.length, length: 0, bit: "\0" }]],
          [[{ at: whole.length, length: 0, bit: "\0}" }]],
          [[{ at: 0, length: whole.length, bit: "[1]" }]],
        ],
      },
    );
    assert.ok(!(await isDecodable(Buffer.from(whole))));
  });

  suite("plans", () => {
    const everywhere = { isNamespaced: false, isBounded: true, isNamed: false };
    const namespaced = { isNamespaced: true, isBounded: true, isNamed: false };
    const label = [{ key: "app", operator: "In" as const, values: ["x"] }];
    /** What must not happen on a hot path: a walk over a table, or a sort. */
    const slow = /^SCAN (objects|changes)|USE TEMP B-TREE/;
    const hot: readonly (readonly [string, string, RegExp])[] = [
      [
        "get",
        statements.selectObject,
        /USING INDEX resources_key \(api_group=\? AND kind=\? AND namespace=\? AND name=\?\)/,
      ],
      ["update", statements.updateObject, /USING INDEX resources_key/],
      ["replacement", statements.insertReplacement, /USING INDEX resources_key/],
      ["delete", statements.deleteObject, /USING INDEX resources_key/],
      ["log", statements.selectLog, /USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\)/],
      ["history", statements.selectHistory, /USING INDEX changes_key/],
      ["state before", statements.selectFirstChangeAfter, /USING INDEX changes_key/],
      ["cut", statements.deleteChanges, /USING INTEGER PRIMARY KEY/],
      ["end of a cut", statements.selectCut, /USING INTEGER PRIMARY KEY/],
      [
        "page",
        built.selectRows({ ...everywhere, isBounded: false }, []),
        /USING INDEX resources_key \(api_group=\? AND kind=\? AND \(namespace,name\)>\(\?,\?\)\)/,
      ],
      [
        "page of a namespace",
        built.selectRows(namespaced, []),
        /USING INDEX resources_key \(api_group=\? AND kind=\? AND namespace=\? AND name>\? AND name<\?\)/,
      ],
      ["page with labels", built.selectRows(everywhere, label), /USING INDEX resources_key/],
      ["keys of a page", built.selectKeys(namespaced), /USING COVERING INDEX resources_key/],
      ["size", statements.selectSize, /SEARCH changes[\s\S]*SEARCH changes/],
      ["end of a stretch", built.selectNthKey(everywhere), /USING COVERING INDEX resources_key/],
      [
        "deleted keys",
        built.selectDeletedKeys(everywhere),
        /USING (COVERING )?INDEX changes_deleted/,
      ],
    ];
    test("a SQL client finds an object by its key", () => {
      using database = new DatabaseSync(":memory:");
      migrate(database);
      const text = `SELECT spec, status, finalizers FROM resources
        WHERE api_group = ? AND kind = ? AND namespace = ? AND name = ?`;
      const [step] = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all();
      assert.match(String(step?.["detail"]), /^SEARCH objects USING INDEX resources_key/);
    });

    for (const name of ["insertObject", "updateObject", "insertReplacement"] as const) {
      test(`${name} does not look into the body`, () => {
        using database = new DatabaseSync(":memory:");
        migrate(database);
        const steps = database.prepare(`EXPLAIN ${statements[name]}`).all();
        const calls = steps.filter(({ opcode }) => String(opcode).includes("Func"));
        assert.deepEqual(calls, []);
      });
    }

    for (const [what, text, plan] of hot) {
      test(`${what} uses its index`, () => {
        using database = new DatabaseSync(":memory:");
        migrate(database);
        const steps = database
          .prepare(`EXPLAIN QUERY PLAN ${text}`)
          .all()
          .map((row) => String(row["detail"]));
        assert.match(steps.join("\n"), plan);
        assert.ok(!steps.some((step) => slow.test(step)), steps.join("\n"));
      });
    }
  });
});
