import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { configFile, loadSettings as load, problemsOf } from "../testing/settings.ts";
import { variableOf } from "./setting.ts";
import { settings } from "./settings.ts";
import { shownSettings } from "./show.ts";

suite("rules between settings", () => {
  const gateway = { AUTH_MODE: "gateway", AUTH_GATEWAY_SECRET: "s" };
  const accepted: readonly Record<string, string>[] = [
    {},
    { HOST: "localhost" },
    { HOST: "::1" },
    { HOST: "0.0.0.0", ...gateway },
    { KEELSON_METRICS_ADDRESS: "0.0.0.0" },
    { AUTH_MODE: "dev" },
    { DISABLE_AUTH: "true" },
    { DISABLE_AUTH: "false", ...gateway },
    { AUTH_MODE: "oidc", OIDC_ISSUER: "https://id.example.com", OIDC_AUDIENCE: "keelson" },
    {
      AUTH_MODE: "gateway",
      AUTH_GATEWAY_CLIENT_CA: "ca.pem",
      KEELSON_TLS_CERT_FILE: "cert.pem",
      KEELSON_TLS_KEY_FILE: "key.pem",
    },
    { PORT: "0", METRICS_PORT: "0" },
    { PORT: "8081", METRICS_ENABLED: "false" },
    { PORT: "6443", KEELSON_KUBE_ADDRESS: "127.0.0.2" },
    { KEELSON_STORAGE_DRIVER: "postgresql", KEELSON_POSTGRES_HOST: "db" },
    { KEELSON_STORAGE_DRIVER: "postgresql" },
    { KEELSON_STORAGE_DRIVER: "postgresql", KEELSON_POSTGRES_SCHEMA: "other" },
    { KEELSON_SQLITE_PATH: "ark.db" },
  ];
  for (const environment of accepted) {
    test(`${JSON.stringify(environment)} is accepted`, async () => {
      await load({ environment });
    });
  }

  const refused: readonly (readonly [Record<string, string>, ...RegExp[]])[] = [
    [{ HOST: "0.0.0.0" }, /^HOST 0\.0\.0\.0 can be reached from other machines/],
    [{ HOST: "::" }, /^HOST :: can be reached/],
    [{ HOST: "keelson.example.com" }, /can be reached/],
    [{ AUTH_MODE: "token" }, /^AUTH_MODE token needs a tokens file: set KEELSON_TOKENS_FILE$/],
    [
      { AUTH_MODE: "gateway" },
      /set KEELSON_AUTH_GATEWAY_SECRET or KEELSON_AUTH_GATEWAY_CLIENT_CA$/,
    ],
    [{ AUTH_MODE: "oidc" }, /oidc needs an issuer/, /oidc needs an audience/],
    [
      { AUTH_MODE: "none", KEELSON_TOKENS_FILE: "t" },
      /^KEELSON_TOKENS_FILE is of no use while AUTH_MODE/,
    ],
    [{ AUTH_GATEWAY_SECRET: "s" }, /^AUTH_GATEWAY_SECRET is of no use/],
    [{ DISABLE_AUTH: "true", ...gateway }, /^AUTH_MODE and DISABLE_AUTH disagree/],
    [{ DISABLE_AUTH: "maybe" }, /^DISABLE_AUTH "maybe" must be true or false/],
    [
      { ...gateway, AUTH_GATEWAY_CLIENT_CA: "ca.pem" },
      /^AUTH_GATEWAY_CLIENT_CA cannot be checked without TLS/,
    ],
    [{ KEELSON_TLS_CERT_FILE: "c" }, /^KEELSON_TLS_CERT_FILE needs KEELSON_TLS_KEY_FILE beside it/],
    [{ KEELSON_TLS_KEY_FILE: "c" }, /^KEELSON_TLS_KEY_FILE needs KEELSON_TLS_CERT_FILE beside it/],
    [
      { AUTH_MODE: "oidc", OIDC_ISSUER: "http://id.example.com", OIDC_AUDIENCE: "k" },
      /^OIDC_ISSUER .*https/,
    ],
    [{ PORT: "8081" }, /is 8081, which PORT has already$/],
    [{ PORT: "6443" }, /^KEELSON_KUBE_PORT \(--kube-port\) is 6443, which PORT has already$/],
    [{ METRICS_PORT: "6443" }, /^KEELSON_KUBE_PORT .* is 6443, which METRICS_PORT has already$/],
    [{ CONTROLLER_EMAIL: "nobody" }, /^CONTROLLER_EMAIL "nobody" is no e-mail address/],
    [{ CONTROLLER_IDENTITIES: "a@b=dns" }, /^CONTROLLER_IDENTITIES "a@b" is no e-mail address/],
    [
      { KEELSON_POSTGRES_HOST: "db" },
      /^KEELSON_POSTGRES_HOST is of no use while KEELSON_STORAGE_DRIVER/,
    ],
    [
      {
        KEELSON_STORAGE_DRIVER: "postgresql",
        KEELSON_POSTGRES_HOST: "db",
        POSTGRES_PASSWORD: "x",
        KEELSON_POSTGRES_PASSWORD_FILE: "y",
      },
      /exclude each other/,
    ],
    [{ EVENT_TRANSPORT: "pubsub" }, /^EVENT_TRANSPORT pubsub needs a project/],
    [{ KEELSON_FLEET_BACKOFF_MIN: "10m" }, /^KEELSON_FLEET_BACKOFF_MIN must not exceed/],
    [{ KEELSON_ROLES: "rest" }, /^KEELSON_ROLES is for keelson serve/],
    [
      { KEELSON_ROLES: "rest,cook" },
      /^KEELSON_ROLES .*names "cook", which must be one of rest, worker/,
    ],
    [{ DATABASE_URL: "mysql://x" }, /^DATABASE_URL must be a URL such as postgres:/],
    [
      { DATABASE_URL: "postgres://me:secret@db/keelson?sslmode=required" },
      /^DATABASE_URL has an sslmode that is none of disable, allow, prefer, require, verify-ca, verify-full$/,
    ],
    [
      { DB_ADMIN_URL: "postgres://boss:50%@db/plattr" },
      /^DB_ADMIN_URL cannot be used: the password .* is not percent-encoded right$/,
    ],
    [
      { DB_ADMIN_URL: "postgres://boss@db/plattr?sslmode=yes" },
      /^DB_ADMIN_URL cannot be used: .* has an sslmode that is none of disable, allow, /,
    ],
    [
      { REDIS_ENDPOINT: "rediss://me:secret@cache" },
      /^REDIS_ENDPOINT must have no user and no password/,
    ],
    [{ REDIS_ENDPOINT: "http://cache" }, /^REDIS_ENDPOINT must be a host, .* such as redis:/],
    [{ OPENSEARCH_ENDPOINT: "a:b@search" }, /^OPENSEARCH_ENDPOINT must have no user/],
    [
      { AWS_ENDPOINT_URL: "http://a:b@s3" },
      /^AWS_ENDPOINT_URL must be a URL .* without credentials/,
    ],
    [
      { AWS_ENDPOINT_URL: "http://:b@s3" },
      /^AWS_ENDPOINT_URL must be a URL .* without credentials/,
    ],
    [
      { KEYCLOAK_ADMIN_URL: "https://auth.example.com", KEYCLOAK_ADMIN_USER: "a" },
      /^KEYCLOAK_ADMIN_URL needs KEELSON_KEYCLOAK_ADMIN_PASSWORD beside it$/,
    ],
  ];
  for (const [environment, ...patterns] of refused) {
    test(`${JSON.stringify(environment)} is refused`, async () => {
      const problems = await problemsOf({ environment });
      assert.equal(problems.length, patterns.length, problems.join("\n"));
      for (const [i, pattern] of patterns.entries()) assert.match(String(problems[i]), pattern);
    });
  }

  test("serve needs what replicas share", async () => {
    assert.deepEqual(
      (await problemsOf({ purpose: "serve" })).map((problem) => problem.split(" ")[0]),
      ["KEELSON_ROLES", "KEELSON_DATABASE_URL", "KEELSON_ENCRYPTION_KEY"],
    );
  });
});

suite("where the store is", () => {
  /** A text for each that is not its default. */
  const ofPostgres = {
    KEELSON_POSTGRES_HOST: "db",
    KEELSON_POSTGRES_PORT: "9999",
    KEELSON_POSTGRES_DATABASE: "foo",
    KEELSON_POSTGRES_USERNAME: "me",
    KEELSON_POSTGRES_SCHEMA: "other",
    KEELSON_POSTGRES_SERVER_ROLE: "server",
    KEELSON_POSTGRES_PASSWORD: "hush",
    KEELSON_POSTGRES_PASSWORD_FILE: "file",
    KEELSON_POSTGRES_SSLMODE: "disable",
  };
  const keys = Object.keys(settings).filter((key) => key.startsWith("postgres"));

  test("every setting of the store's PostgreSQL is known here", () => {
    assert.deepEqual(Object.keys(ofPostgres).toSorted(), keys.map(variableOf).toSorted());
  });

  for (const [variable, text] of Object.entries(ofPostgres)) {
    test(`${variable} is refused beside SQLite, also where it says the default`, async () => {
      const standard = shownSettings(await load()).find((row) => row.variable === variable)?.value;
      for (const value of [text, ...(standard === null ? [] : [standard])]) {
        const environment = { [variable]: value, KEELSON_STORAGE_DRIVER: "sqlite" };
        assert.deepEqual(await problemsOf({ environment }), [
          `${variable} is of no use while KEELSON_STORAGE_DRIVER is sqlite: set KEELSON_STORAGE_DRIVER=postgresql, or leave it out`,
        ]);
      }
    });
  }

  const withoutHost = ["SCHEMA", "SERVER_ROLE", "HOST"].map((name) => `KEELSON_POSTGRES_${name}`);
  for (const [variable, text] of Object.entries(ofPostgres)) {
    if (withoutHost.includes(variable)) continue;
    for (const purpose of ["up", "apiserver"] as const) {
      test(`${variable} needs a host, and does not lead to the services' database: ${purpose}`, async () => {
        const environment = {
          [variable]: text,
          KEELSON_STORAGE_DRIVER: "postgresql",
          KEELSON_DATABASE_URL: "postgres://elsewhere/keelson",
        };
        assert.deepEqual(await problemsOf({ environment, purpose }), [
          `${variable} needs KEELSON_POSTGRES_HOST (--postgres-host) beside it: set that, or leave it out where KEELSON_DATABASE_URL says where the store is`,
        ]);
        await load({ environment: { ...environment, KEELSON_POSTGRES_HOST: "db" }, purpose });
      });
    }
  }

  test("a file for SQLite is refused beside PostgreSQL", async () => {
    const environment = { KEELSON_STORAGE_DRIVER: "postgresql" };
    assert.deepEqual(await problemsOf({ environment, flags: { "sqlite-path": "ark.db" } }), [
      "--sqlite-path is of no use while KEELSON_STORAGE_DRIVER is postgresql: set KEELSON_STORAGE_DRIVER=sqlite, or leave it out",
    ]);
  });

  test("an API server alone has no PostgreSQL of its own", async () => {
    const flags = { "storage-driver": "postgresql" };
    assert.deepEqual(await problemsOf({ flags, purpose: "apiserver" }), [
      "--storage-driver is postgresql, which needs a database: set KEELSON_POSTGRES_HOST (--postgres-host) or KEELSON_DATABASE_URL (--database-url)",
    ]);
    const environment = { DATABASE_URL: "postgres://elsewhere/keelson" };
    await load({ flags, environment, purpose: "apiserver" });
    await load({ flags: { ...flags, "postgres-host": "db" }, purpose: "apiserver" });
  });

  test("address and port of the REST API bind nobody who does not serve it, and are refused as flags of an API server alone", async () => {
    const shared = { HOST: "0.0.0.0", PORT: "9000", METRICS_PORT: "9000" };
    const serve = {
      ...shared,
      KEELSON_DATABASE_URL: "postgres://db/keelson",
      KEELSON_ENCRYPTION_KEY: Buffer.alloc(32).toString("base64"),
    };
    await load({ environment: shared, purpose: "apiserver" });
    await load({ environment: serve, flags: { roles: "worker,scheduler" }, purpose: "serve" });
    const problems = await problemsOf({
      environment: serve,
      flags: { roles: "worker,rest" },
      purpose: "serve",
    });
    assert.deepEqual(
      problems.map((problem) => problem.split(" ")[0]),
      ["HOST", "METRICS_PORT"],
    );
    const flags = { address: "0.0.0.0", port: "7443", "secure-port": "6443" };
    assert.deepEqual(await problemsOf({ flags, purpose: "apiserver" }), [
      "--address is of the REST API, which keelson apiserver does not serve: set KEELSON_KUBE_ADDRESS (--kube-address)",
      "--port is of the REST API, which keelson apiserver does not serve: set --secure-port",
    ]);
  });

  const chart = `
storage:
  driver: DRIVER
  sqlite:
    path: /data/ark.db
    persistence: { enabled: true, size: 1Gi }
  postgresql:
    host: "HOST"
    port: 5432
    database: ark
    username: ark
    existingSecret: ""
    sslmode: require
    sslRootCertSecret: ""
`;
  test("the block of the chart is taken whole, whichever driver it names", async () => {
    for (const [driver, host] of [
      ["sqlite", ""],
      ["postgresql", "db"],
      ["postgresql", ""],
    ] as const) {
      await using file = await configFile(chart.replace("DRIVER", driver).replace("HOST", host));
      const environment = host === "" ? { DATABASE_URL: "postgres://db/keelson" } : {};
      const input = { environment, workingFolder: file.path, purpose: "apiserver" } as const;
      assert.equal((await load(input)).storageDriver, driver);
    }
  });

  test("what the file says of the other driver than its own is refused", async () => {
    await using file = await configFile(
      chart.replace("DRIVER", "sqlite").replace("HOST", "").replace(": ark", ": foo"),
    );
    assert.deepEqual(
      (await problemsOf({ workingFolder: file.path })).map((problem) => problem.split(" ")[0]),
      ["storage.postgresql.database"],
    );
  });
});
