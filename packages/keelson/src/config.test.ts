import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import type { ConfigInput } from "./config.ts";
import { ConfigError } from "./config/config-error.ts";
import { variableOf } from "./config/setting.ts";
import { settings } from "./config/settings.ts";
import { settingsTable, shownSettings, withoutPassword } from "./config/show.ts";
import { loadSettings as load } from "./testing/settings.ts";

async function problemsOf(input: Partial<ConfigInput>): Promise<readonly string[]> {
  const error = await load(input).then(
    () => assert.fail("the configuration was accepted"),
    (error: unknown) => error,
  );
  assert.ok(error instanceof ConfigError);
  return error.message.split("\n  ").slice(1);
}

/** A folder with a configuration file. */
async function withFile(content: string): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "keelson-config-"));
  await writeFile(join(path, "keelson.config.yaml"), content);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

suite("the configuration", () => {
  test("is what the design says when nothing is given", async () => {
    const {
      address,
      port,
      metricsAddress,
      metricsPort,
      kubePort,
      dataDir,
      shutdownGrace,
      authMode,
    } = await load();
    assert.deepEqual(
      { address, port, metricsAddress, metricsPort, kubePort, dataDir, shutdownGrace, authMode },
      {
        address: "127.0.0.1",
        port: 8080,
        metricsAddress: "127.0.0.1",
        metricsPort: 8081,
        kubePort: 6443,
        dataDir: "/nowhere/.keelson",
        shutdownGrace: 30_000,
        authMode: "none",
      },
    );
  });

  test("reads the targets of the file, and tells what is wrong with each", async () => {
    await using folder = await withFile(`
targets:
  - cluster_id: prod
    kubeconfig: ./prod.kubeconfig
    context: admin
    labels: { env: prod }
  - cluster_id: test
    paused: true
    kubeconfig:
      current-context: x
`);
    const { targets } = await load({ workingFolder: folder.path });
    assert.deepEqual(targets, [
      {
        clusterId: "prod",
        kubeconfig: { file: join(folder.path, "prod.kubeconfig") },
        context: "admin",
        labels: { env: "prod" },
        paused: undefined,
      },
      {
        clusterId: "test",
        kubeconfig: { text: '{"current-context":"x"}' },
        context: undefined,
        labels: undefined,
        paused: true,
      },
    ]);
    await using wrong = await withFile(`
targets:
  - cluster_id: -x
    kubeconfig: a
  - cluster_id: prod
  - cluster_id: prod
    kubeconfig: a
    labels: { n: 1 }
    colour: red
`);
    const problems = await problemsOf({ workingFolder: wrong.path });
    assert.deepEqual(
      problems.map((text) => text.split(" in ")[0]),
      ["targets[0].cluster_id", "targets[1].kubeconfig", "targets[2].colour", "targets[2].labels"],
    );
  });

  test("lets one cluster be served by a worker of serve alone", async () => {
    const flags = { "cluster-id": "prod" };
    assert.match((await problemsOf({ flags })).join(), /--cluster-id is for keelson serve/);
    const needs = { "database-url": "postgres://a/b", "encryption-key": "A".repeat(43) + "=" };
    const serve = { ...flags, ...needs, roles: "rest" };
    assert.match(
      (await problemsOf({ flags: serve, purpose: "serve" })).join(),
      /--cluster-id is for the worker/,
    );
    const worker = await load({ flags: { ...serve, roles: "worker" }, purpose: "serve" });
    assert.equal(worker.clusterId, "prod");
    assert.deepEqual(worker.encryptionKey, ["A".repeat(43) + "="]);
  });

  test("knows the proxies of the environment, in capitals before small letters", async () => {
    const environment = { HTTPS_PROXY: "http://a:1", https_proxy: "http://b:1", no_proxy: "local" };
    const { proxies } = await load({ environment });
    assert.deepEqual(proxies, { httpsProxy: "http://a:1", httpProxy: "", noProxy: "local" });
  });

  test("is frozen through and through", async () => {
    const config = await load({ flags: { "cors-origins": "http://a.localhost" } });
    assert.throws(() => Object.assign(config, { port: 1 }), TypeError);
    assert.throws(() => Object.assign(config.sources.port, { name: "x" }), TypeError);
    assert.throws(() => (config.corsOrigins as string[]).push("x"), TypeError);
  });

  test("derives defaults from what was given", async () => {
    const token = await load({ environment: { KEELSON_TOKENS_FILE: "tokens.json" } });
    assert.deepEqual(
      [token.authMode, token.sources.authMode.name, token.corsOrigins, token.tokensFile],
      ["token", "a tokens file is given", ["*"], "/nowhere/tokens.json"],
    );
    const none = await load();
    assert.deepEqual([none.authMode, none.corsOrigins], ["none", undefined]);
    const moved = await load({ flags: { "data-dir": "/var/lib/keelson" } });
    assert.equal(moved.sqlitePath, "/var/lib/keelson/apiserver.db");
    assert.equal((await load({ isTerminal: true })).logFormat, "text");
    const cloud = await load({ environment: { GOOGLE_CLOUD_PROJECT: "p" } });
    assert.equal(cloud.eventTransport, "pubsub");
  });

  test("names every problem at once", async () => {
    assert.deepEqual(
      await problemsOf({
        flags: { port: "eighty", "shutdown-grace": "30" },
        environment: {
          METRICS_PORT: "70000",
          LOG_LEVEL: "loud",
          KEELSON_ADRESS: "127.0.0.1",
          KEELSON_BODY_LIMIT: "5MiB",
          KEELSON_BATCH_BODY_LIMIT: "4MiB",
          KEELSON_FLEET_CALL_TIMEOUT: "1m",
        },
      }),
      [
        "KEELSON_ADRESS is no setting: did you mean KEELSON_ADDRESS?",
        '--port "eighty" must be a port from 0 to 65535, 0 for any free one',
        'METRICS_PORT "70000" must be a port from 0 to 65535, 0 for any free one',
        '--shutdown-grace "30" must be a duration with its unit, such as 500ms, 30s, 5m or 90d',
        'LOG_LEVEL "loud" must be one of debug, info, warn, error',
        "KEELSON_FLEET_CALL_TIMEOUT must be less than KEELSON_FLEET_LEASE (--fleet-lease)",
        "KEELSON_BODY_LIMIT must not exceed KEELSON_BATCH_BODY_LIMIT",
      ],
    );
  });

  test("says nothing about rules over values that could not be read", async () => {
    assert.deepEqual(
      await problemsOf({ environment: { AUTH_MODE: "gatewy", AUTH_GATEWAY_SECRET: "s" } }),
      ['AUTH_MODE "gatewy" must be one of none, token, gateway, oidc'],
    );
  });

  test("never repeats a secret", async () => {
    const [problem, ...others] = await problemsOf({
      environment: { KEELSON_ENCRYPTION_KEY: "hush" },
    });
    assert.deepEqual(
      [problem, others],
      ["KEELSON_ENCRYPTION_KEY must be 32 bytes in base64: openssl rand -base64 32", []],
    );
  });

  const addresses = Object.entries(settings).filter(([, { kind }]) =>
    ["url", "endpoint"].includes(kind.name),
  );
  for (const [key, setting] of addresses) {
    test(`${variableOf(key)} never shows a password, taken or refused`, async () => {
      for (const scheme of ["https", "redis", "postgres", "ftp"]) {
        for (const user of ["me", ""]) {
          const environment = { [variableOf(key)]: `${scheme}://${user}:hush@x.example.com/` };
          const said = await load({ environment }).then(
            (config) => JSON.stringify(shownSettings(config)),
            (error: unknown) => String(error),
          );
          assert.doesNotMatch(said, /hush/, setting.kind.name);
        }
      }
    });
  }

  test("leaves what Kubernetes sets beside a Service alone, and explains a port of it", async () => {
    await load({
      environment: {
        KEELSON_SERVICE_HOST: "10.0.0.1",
        KEELSON_SERVICE_PORT_REST: "80",
        KEELSON_PORT_8080_TCP_ADDR: "10.0.0.1",
        KEELSON_REST_PORT: "tcp://10.0.0.1:80",
        KEELSON_TEST_ANYTHING: "1",
      },
    });
    const [problem] = await problemsOf({ environment: { KEELSON_PORT: "tcp://10.0.0.1:80" } });
    assert.match(String(problem), /^KEELSON_PORT .*enableServiceLinks: false/);
  });
});

suite("where models may be", () => {
  const ranges = `
    # the office
    10.1.0.0/16
    192.168.7.1   # the machine below the desk
    fd00::/8
  `;
  const domains = `
# ours
*.Example.com
api.openai.com.
#example.org
`;

  test("an entry a line, with comments", async () => {
    const { allowedPrivateIpRanges, whitelistedModelDomains } = await load({
      environment: { ALLOWED_PRIVATE_IP_RANGES: ranges, WHITELISTED_MODEL_DOMAINS: domains },
    });
    assert.deepEqual(allowedPrivateIpRanges, ["10.1.0.0/16", "192.168.7.1", "fd00::/8"]);
    assert.deepEqual(whitelistedModelDomains, ["example.com", "api.openai.com"]);
  });

  test("nothing but comments is no entry", async () => {
    const { whitelistedModelDomains } = await load({
      environment: { WHITELISTED_MODEL_DOMAINS: "# example.com" },
    });
    assert.deepEqual(whitelistedModelDomains, []);
  });

  test("what is no entry is a problem", async () => {
    for (const range of [
      "10.0.0.0/33",
      "10.0.0/8",
      "fe80::1%eth0",
      "fd00::/129",
      "example.com",
      "10.0.0.0/8/8",
    ]) {
      const [problem] = await problemsOf({ environment: { ALLOWED_PRIVATE_IP_RANGES: range } });
      assert.match(
        String(problem),
        /^ALLOWED_PRIVATE_IP_RANGES .* which must be a network such as/,
      );
    }
    for (const domain of ["https://x.com", "a b.com", "x.com/v1", "x.com:443", "a.*.com", "*"]) {
      const [problem] = await problemsOf({ environment: { WHITELISTED_MODEL_DOMAINS: domain } });
      assert.match(String(problem), /^WHITELISTED_MODEL_DOMAINS .* which must be a domain such as/);
    }
  });
});

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
      "--storage-driver postgresql needs a database: set KEELSON_POSTGRES_HOST (--postgres-host) or KEELSON_DATABASE_URL (--database-url)",
    ]);
    const environment = { DATABASE_URL: "postgres://elsewhere/keelson" };
    await load({ flags, environment, purpose: "apiserver" });
    await load({ flags: { ...flags, "postgres-host": "db" }, purpose: "apiserver" });
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
      await using file = await withFile(chart.replace("DRIVER", driver).replace("HOST", host));
      const environment = host === "" ? { DATABASE_URL: "postgres://db/keelson" } : {};
      const input = { environment, workingFolder: file.path, purpose: "apiserver" } as const;
      assert.equal((await load(input)).storageDriver, driver);
    }
  });

  test("what the file says of the other driver than its own is refused", async () => {
    await using file = await withFile(
      chart.replace("DRIVER", "sqlite").replace("HOST", "").replace(": ark", ": foo"),
    );
    assert.deepEqual(
      (await problemsOf({ workingFolder: file.path })).map((problem) => problem.split(" ")[0]),
      ["storage.postgresql.database"],
    );
  });
});

suite("the configuration file", () => {
  test("takes the storage block of the chart, and paths relative to itself", async () => {
    const content = `
port: 9000
dataDir: data
corsOrigins: [http://a.localhost, http://b.localhost]
controllerIdentities:
  dns@example.com: dns
storage:
  driver: sqlite
  sqlite:
    path: ark.db
    persistence: { enabled: true, size: 1Gi }
  postgresql:
    host: ""
    port: 5432
    existingSecret: ""
`;
    await using file = await withFile(content);
    const folder = file.path;
    const config = await load({
      workingFolder: "/nowhere",
      flags: { config: `${folder}/keelson.config.yaml` },
    });
    assert.deepEqual(
      [
        config.port,
        config.dataDir,
        config.corsOrigins,
        config.controllerIdentities,
        config.sqlitePath,
      ],
      [
        9000,
        join(folder, "data"),
        ["http://a.localhost", "http://b.localhost"],
        { "dns@example.com": "dns" },
        join(folder, "ark.db"),
      ],
    );
    assert.equal(config.configFile, join(folder, "keelson.config.yaml"));
    const variable = { KEELSON_CONFIG: join(folder, "keelson.config.yaml") };
    assert.equal((await load({ environment: variable })).port, 9000);
  });

  test("names what it does not know, and what is no value", async () => {
    await using folder = await withFile(
      "prot: 1\nstorage:\n  drivr: sqlite\nport: {a: {b: 1}}\nlogLevel: [a, [b]]\n",
    );
    const file = join(folder.path, "keelson.config.yaml");
    assert.deepEqual(await problemsOf({ workingFolder: folder.path }), [
      `prot in ${file} is no setting: did you mean port?`,
      `storage.drivr in ${file} is no setting: did you mean storage.driver?`,
      `port in ${file} must be a text, a number, a list of them or pairs`,
      `logLevel in ${file} must be a text, a number, a list of them or pairs`,
    ]);
  });

  test("must exist when it is named, and be a map in YAML", async () => {
    assert.deepEqual(await problemsOf({ flags: { config: "missing.yaml" } }), [
      "/nowhere/missing.yaml does not exist",
    ]);
    for (const [content, pattern] of [
      ["port: 1\nport: 2\n", /is not YAML: .*unique/],
      ["a: [", /is not YAML/],
      ["- a\n", /must be a map of settings$/],
    ] as const) {
      await using folder = await withFile(content);
      const [problem] = await problemsOf({ workingFolder: folder.path });
      assert.match(String(problem), pattern);
    }
    await using empty = await withFile("");
    assert.equal((await load({ workingFolder: empty.path })).port, 8080);
  });
});

suite("what is shown of the configuration", () => {
  test("tells value and source, and masks secrets", async () => {
    const config = await load({
      flags: { port: "0" },
      environment: {
        DATABASE_URL: "postgres://app:hunter2@db:5432/keelson?password=hunter2",
        AUTH_MODE: "gateway",
        AUTH_GATEWAY_SECRET: "hunter2",
        KEELSON_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
        SHUTDOWN_GRACE: "90s",
      },
    });
    const shown = new Map(shownSettings(config).map((row) => [row.setting, row]));
    assert.deepEqual(shown.get("port"), {
      setting: "port",
      flag: "--port",
      variable: "KEELSON_PORT",
      value: "0",
      source: "flag --port",
    });
    assert.equal(
      shown.get("databaseUrl")?.value,
      "postgres://app:*****@db:5432/keelson?password=*****",
    );
    assert.equal(
      withoutPassword("postgres://50%:hunter2@db/keelson"),
      "postgres://50%:*****@db/keelson",
    );
    assert.equal(shown.get("authGatewaySecret")?.value, "*****");
    assert.equal(shown.get("shutdownGrace")?.value, "90s");
    assert.equal(shown.get("kubePort")?.source, "default");
    assert.equal(shown.get("corsOrigins")?.source, "default: a credential is needed anyway");
    assert.equal(shown.get("tokensFile")?.value, null);

    const table = settingsTable(config);
    assert.match(table, /^ {2}KEELSON_SHUTDOWN_GRACE +90s +variable SHUTDOWN_GRACE$/m);
    for (const secret of ["hunter2", Buffer.alloc(32, 7).toString("base64")]) {
      assert.ok(!table.includes(secret));
      assert.ok(!JSON.stringify([...shown.values()]).includes(secret));
    }
  });
});
