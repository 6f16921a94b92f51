import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { sharedThrowawayPostgres, startThrowawayPostgres } from "@keelson/database/testing";

import type { StepError } from "../steps/step-error.ts";
import { createAppDatabase, MemoryLedger } from "../testing/index.ts";
import { parseConnectionUrl } from "./connection-parts.ts";
import { DatabaseAdmin } from "./database-admin.ts";
import { literal, quoted } from "./identifier.ts";

const never = new AbortController().signal;
const shared = () => sharedThrowawayPostgres("embedded");

suite("connections of the administrator", () => {
  test("a server that is away is unreachable, and no trouble once it is back", async () => {
    await using server = await startThrowawayPostgres({ flavour: "embedded", fsync: false });
    await using database = await createAppDatabase(server, { rights: "ordinary" });
    const admin = database.admin();
    const { names, owner } = database.app();
    const ledger = new MemoryLedger();
    const ensure = () => admin.ensure({ names, owner, ledger, adopts: false }, never);
    const unreachable = ({ reason, message }: StepError): boolean =>
      reason === "Unreachable" && message.startsWith(`PostgreSQL at 127.0.0.1:${server.port}: `);

    await server.stop({ mode: "fast" });
    await assert.rejects(ensure(), unreachable);
    await server.start();
    await ensure();
    // While it is idle.
    await server.restart({ mode: "immediate" });
    assert.deepEqual(await ensure(), []);
    await server.stop({ mode: "fast" });
    await assert.rejects(admin.remove({ owner, ledger }, never), unreachable);
    await server.start();
    await admin.remove({ owner, ledger }, never);
    assert.deepEqual(ledger.contents, []);
  });

  test("a password that was changed is asked for again, and once only", async () => {
    await using database = await createAppDatabase(await shared(), { rights: "ordinary" });
    const { names, owner } = database.app();
    let asked = 0;
    let url = database.adminUrl;
    await using admin = new DatabaseAdmin({
      idleMs: 0,
      adminUrl: () => {
        asked += 1;
        return Promise.resolve(url);
      },
    });
    const ensure = () =>
      admin.ensure({ names, owner, ledger: new MemoryLedger(), adopts: false }, never);
    await ensure();
    assert.equal(asked, 1);

    const next = "n@e/w#%20'\\";
    await database.query(
      `ALTER ROLE ${quoted(database.adminName)} PASSWORD ${literal(next)};
       SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = '${database.adminName}'`,
    );
    await assert.rejects(ensure(), ({ reason, message }: StepError) => {
      assert.ok(!message.includes("a@b") && !message.includes("a%40b"), message);
      return reason === "Refused";
    });
    assert.equal(asked, 2);
    url = database.urlOf(database.adminName, next);
    assert.deepEqual(await ensure(), []);
    assert.equal(asked, 3);
  });

  test("a URL that was written wrong is read again once it is mended", async () => {
    await using database = await createAppDatabase(await shared(), { rights: "ordinary" });
    const app = database.app();
    const wrong = "postgresql://boss:50%@127.0.0.1/plattr";
    let url = wrong;
    await using admin = new DatabaseAdmin({ idleMs: 0, adminUrl: () => Promise.resolve(url) });
    const ensure = () => admin.ensure({ ...app, ledger: new MemoryLedger(), adopts: false }, never);
    await assert.rejects(ensure(), TypeError);
    url = database.adminUrl;
    await ensure();
    // The same of a new password.
    const next = "half-of-50%";
    await database.query(
      `ALTER ROLE ${quoted(database.adminName)} PASSWORD ${literal(next)};
       SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = '${database.adminName}'`,
    );
    url = wrong;
    await assert.rejects(ensure(), TypeError);
    url = database.urlOf(database.adminName, next);
    assert.deepEqual(await ensure(), []);
  });

  test("an administrator who may not is refused, with PostgreSQL's reason", async () => {
    await using database = await createAppDatabase(await shared(), { rights: "ordinary" });
    await database.query(
      `REVOKE CREATE ON DATABASE ${database.name} FROM ${quoted(database.adminName)}`,
    );
    const ensured = database
      .admin()
      .ensure({ ...database.app(), ledger: new MemoryLedger(), adopts: false }, never);
    await assert.rejects(ensured, {
      reason: "Refused",
      message: /refused: permission denied for database/,
    });
  });

  test("whoever waits can be told to stop, and waits for so long only", async () => {
    await using database = await createAppDatabase(await shared(), { rights: "ordinary" });
    const app = database.app();
    const wanted = { ...app, ledger: new MemoryLedger(), adopts: false };
    await database.admin().ensure(wanted, never);
    // Somebody has the role's row, and does not give it back.
    await using _holder = await database.hold(
      `ALTER ROLE ${quoted(app.names.appRole)} CONNECTION LIMIT 7`,
    );
    const setPassword = (admin: DatabaseAdmin, signal: AbortSignal) =>
      admin.setPassword({ ...app, password: "aa" }, signal);
    const stop = new AbortController();
    const stopping = database.admin({
      onStatement: ({ statement, phase }) => {
        if (statement !== "setPassword" || phase !== "before") return;
        setImmediate(() => stop.abort(new Error("enough")));
      },
    });
    await assert.rejects(setPassword(stopping, stop.signal), /enough/);
    await assert.rejects(setPassword(database.admin({ timeoutMs: 2_000 }), never), {
      reason: "Unreachable",
    });
  });
});

suite("the administrator's URL", () => {
  test("says where, who and how", () => {
    assert.deepEqual(
      parseConnectionUrl(
        "postgresql://b%40ss:p%2Fw%23%25@db.example.com:6543/pl%20attr?sslmode=require",
      ),
      {
        host: "db.example.com",
        port: 6543,
        database: "pl attr",
        user: "b@ss",
        password: "p/w#%",
        tls: "require",
      },
    );
    assert.deepEqual(parseConnectionUrl("postgres://boss@[::1]"), {
      host: "::1",
      port: 5432,
      database: "boss",
      user: "boss",
      password: "",
    });
  });

  test("is refused without showing what is in it", () => {
    for (const url of [
      "secret",
      "mysql://a:secret@b/c",
      "postgres://a:secret%@b/c",
      "postgres://a:secret@b/c?sslmode=no",
    ]) {
      assert.throws(
        () => parseConnectionUrl(url),
        (error: Error) => error instanceof TypeError && !error.message.includes("secret"),
      );
    }
  });
});
