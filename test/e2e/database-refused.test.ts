// A PostgreSQL that lets us in and not do what we must: a sentence that names it and says what to do.

import assert from "node:assert/strict";
import { join } from "node:path";
import { suite, test, type TestContext } from "node:test";
import { openDatabase, statement } from "@keelson/database";
import {
  patience,
  sharedThrowawayPostgres,
  type ThrowawayDatabase,
} from "@keelson/database/testing";
import { KeelsonProcess, temporaryFolder, type Ended } from "./keelson-process.ts";
import { runKeelson, type Run } from "./run-keelson.ts";

const script = statement<string>("script", (sql, text) => sql.unsafe<object[]>(text).simple());
const environment = { KEELSON_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64") };

/** A database that role `app` may enter and does not own. */
async function databaseOfAnother(t: TestContext) {
  const server = await sharedThrowawayPostgres("embedded");
  await using stack = new AsyncDisposableStack();
  const database: ThrowawayDatabase = stack.use(await server.createDatabase());
  const admin = stack.use(openDatabase({ url: database.url, name: "test", ...patience }));
  const role = `app_${database.name}`;
  await admin.run(script, `CREATE ROLE ${role} LOGIN PASSWORD 'x'`, t.signal);
  stack.defer(async () => {
    const end = `DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`;
    await admin.run(script, end, new AbortController().signal);
  });
  const own = new URL(database.url);
  own.username = role;
  own.password = "x";
  const folder = stack.use(await temporaryFolder());
  const owned = stack.move();
  return {
    role,
    name: database.name,
    folder: folder.path,
    url: own.href,
    ownersUrl: database.url,
    place: `the PostgreSQL database ${database.name} at 127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** With the code of a database that cannot be used, and a sentence for a person. */
function expectRefusal({ code, output }: Run | Ended, ...says: readonly RegExp[]): void {
  assert.equal(code, 6, output);
  assert.doesNotMatch(output, /^ {4}at /m);
  for (const pattern of says) assert.match(output, pattern);
}

suite("a role of PostgreSQL that may not do what a start must", () => {
  for (const [command, ...flags] of [["up"], ["serve", "--roles", "rest"]] as const) {
    test(`is told of by ${command}, with the database and what lets it`, async (t) => {
      await using it = await databaseOfAnother(t);
      await using keelson = new KeelsonProcess(join(it.folder, "data"), {
        command,
        flags: [...flags, "--database-url", it.url],
        ...(command === "serve" ? { environment } : {}),
      });
      const ended = await keelson.ended;
      expectRefusal(
        ended,
        /permission denied for database/,
        new RegExp(`ALTER DATABASE ${it.name} OWNER TO ${it.role}`),
      );
      assert.ok(ended.output.includes(`keelson: ${it.place} is to hold`), ended.output);
      assert.doesNotMatch(ended.output, /waiting for the database/);
    });
  }

  test("is told of by apiserver, with the command that grants what it needs", async (t) => {
    await using it = await databaseOfAnother(t);
    const run = (command: readonly string[], url: string): Promise<Run> => {
      const words = ["--storage-driver", "postgresql", "--database-url", url];
      return runKeelson(["apiserver", ...command, ...words], { cwd: it.folder }, t.signal);
    };
    expectRefusal(
      await run(["migrate"], it.url),
      new RegExp(`^keelson: ${it.role} may not .* database ${it.name}: permission denied for data`),
      /run "keelson apiserver migrate" as the owner/,
    );
    expectRefusal(
      await run(["migrate", "--postgres-server-role", "nobodyx"], it.ownersUrl),
      new RegExp(`database ${it.name}.*role "nobodyx" does not exist.* --postgres-server-role`),
    );
    const migrated = await run(["migrate"], it.ownersUrl);
    assert.equal(migrated.code, 0, migrated.output);
    const ports = ["--kube-port", "0", "--metrics-port", "0"];
    const start = ["--data-dir", join(it.folder, "data"), ...ports];
    expectRefusal(
      await run(start, it.url),
      new RegExp(
        `^keelson: ${it.role} may not .* database ${it.name}: permission denied for schem`,
      ),
      new RegExp(
        `"keelson apiserver migrate" as the owner.*--postgres-server-role ${it.role}$`,
        "m",
      ),
    );
    const granted = await run(["migrate", "--postgres-server-role", it.role], it.ownersUrl);
    assert.equal(granted.code, 0, granted.output);
    const exported = await run(["export"], it.url);
    assert.equal(exported.code, 0, exported.output);
  });
});
