import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { DatabaseAway } from "@keelson/apiserver";
import { TaskFailed } from "@keelson/base";
import {
  DatabaseTimeout,
  DatabaseUnavailable,
  PermissionDenied,
  PostgresServerError,
  StatementFailed,
} from "@keelson/database";
import { Full, NotFound } from "@keelson/store";
import { TokensFileError } from "./rest/identity/tokens-file-error.ts";
import { TlsFilesError } from "./rest/tls-files.ts";
import { StartError } from "./start-error.ts";
import {
  databaseAwayFailure,
  refusedFailure,
  startFailure,
  storeFailure,
} from "./start-failure.ts";

const postgres = {
  storageDriver: "postgresql",
  sqlitePath: "/data/apiserver.db",
  databaseUrl: undefined,
  postgresHost: undefined,
  postgresPort: 5432,
  postgresDatabase: "ark",
} as const;

suite("a database that goes away during the start", () => {
  const cause = new Error("the database does not answer (ECONNREFUSED)");
  const away = new DatabaseAway("the first roles", 30_000, cause);
  const messageFor = (config: Parameters<typeof databaseAwayFailure>[1]): string => {
    const error = databaseAwayFailure(away, config);
    assert.ok(error instanceof StartError);
    assert.equal(error.code, "DATABASE_UNAVAILABLE");
    assert.match(error.message, /ECONNREFUSED.*: see that it runs.*start again$/);
    return error.message;
  };

  test("is named, without its password, with what was waited for and what to do", () => {
    assert.match(
      messageFor({ ...postgres, databaseUrl: "postgres://me:secret@db.example:6543/keelson" }),
      /^the PostgreSQL database keelson at db\.example:6543 .* the first roles .* for 30 s/,
    );
    assert.match(
      messageFor({ ...postgres, postgresHost: "pg" }),
      /^the PostgreSQL database ark at pg:5432 /,
    );
    assert.match(messageFor(postgres), /^the embedded PostgreSQL /);
    const sqlite = { ...postgres, storageDriver: "sqlite" } as const;
    assert.match(messageFor(sqlite), /^the file \/data\/apiserver\.db /);
  });

  test("is nothing else", () => {
    const other = new Error("another");
    assert.equal(databaseAwayFailure(other, postgres), other);
  });
});

suite("what the store says of its database", () => {
  const full = new Full("the disk is full: database or disk is full");
  const roles = new AggregateError(
    [new Error("ClusterRole admin could not be made", { cause: full })],
    "some roles could not be made",
  );

  test("is found among several failures and their causes, and told with its place", () => {
    const sqlite = { ...postgres, storageDriver: "sqlite" } as const;
    for (const [config, message] of [
      [
        sqlite,
        `the file /data/apiserver.db: ${full.message}: make room, or name another with --sqlite-path`,
      ],
      [postgres, `the embedded PostgreSQL: ${full.message}: make room`],
    ] as const) {
      const error = storeFailure(roles, config);
      assert.ok(error instanceof StartError);
      assert.deepEqual([error.code, error.message], ["DATABASE_UNAVAILABLE", message]);
    }
    const error = startFailure(roles);
    assert.ok(error instanceof StartError);
    assert.deepEqual([error.code, error.message], ["DATABASE_UNAVAILABLE", full.message]);
  });

  test("is left to its stack where a part failed that ran, or where it is of an object", () => {
    const key = { kind: "ConfigMap", namespace: "", name: "a" };
    for (const error of [new TaskFailed("loop", full), new NotFound(key)]) {
      assert.equal(startFailure(error), error);
      assert.equal(storeFailure(error, postgres), error);
    }
  });
});

test("a database that lets us make nothing is named, with the command that lets us, as psql takes it", () => {
  const databaseUrl = "postgres://my%20app:secret@db:6543/My-db";
  const told = refusedFailure(new PermissionDenied("the database does not let us"), {
    databaseUrl,
  });
  assert.ok(told instanceof StartError);
  assert.equal(told.code, "DATABASE_UNAVAILABLE");
  assert.match(told.message, /^the PostgreSQL database My-db at db:6543 is to hold /);
  assert.match(told.message, /\(ALTER DATABASE "My-db" OWNER TO "my app"\), or name another with/);
  assert.doesNotMatch(told.message, /secret/);
});

test("a database that does not do what a start asks is named, with what the server says of it", () => {
  const databaseUrl = "postgres://me:secret@db:6543/keelson";
  const said = new Error("prepared statement does not exist");
  for (const [error, why] of [
    [new StatementFailed("appliedMigrations failed", { cause: said }), said.message],
    [new DatabaseTimeout("lockMigrations took too long"), "lockMigrations took too long"],
  ] as const) {
    const told = refusedFailure(error, { databaseUrl });
    assert.ok(told instanceof StartError);
    assert.deepEqual(
      [told.code, told.message],
      [
        "DATABASE_UNAVAILABLE",
        "the PostgreSQL database keelson at db:6543 is to hold the services' data, and cannot be used: " +
          `${why}: its log says more, or name another with --database-url`,
      ],
    );
  }
  const away = new DatabaseUnavailable("the database is away");
  assert.equal(refusedFailure(away, { databaseUrl }), away);
});

test("a port that PostgreSQL cannot have is told with the flag that chooses it", () => {
  const taken = new PostgresServerError("port-taken", "port 1 on 127.0.0.1 is taken");
  const told = startFailure(taken);
  assert.ok(told instanceof StartError);
  assert.equal(told.code, "PORT_TAKEN");
  assert.match(
    told.message,
    /^port 1 .*: stop what .* with --database-port \(0 for any free one\)$/,
  );
});

suite("a file that a setting names", () => {
  test("is told with the settings that name it", () => {
    for (const [error, setting] of [
      [
        new TlsFilesError("/no.pem cannot be read (ENOENT)"),
        /: --tls-cert-file, --tls-key-file and/,
      ],
      [new TokensFileError("the tokens file /no cannot be read (ENOENT)"), / with --tokens-file$/],
    ] as const) {
      const told = startFailure(error);
      assert.ok(told instanceof StartError);
      assert.equal(told.code, "USAGE");
      assert.match(told.message, setting);
    }
  });
});
