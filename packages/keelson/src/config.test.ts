import assert from "node:assert/strict";
import { join } from "node:path";
import { suite, test } from "node:test";
import { variableOf } from "./config/setting.ts";
import { settings } from "./config/settings.ts";
import { shownSettings } from "./config/show.ts";
import { configFile, loadSettings as load, problemsOf } from "./testing/settings.ts";

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
    await using folder = await configFile(`
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
    await using wrong = await configFile(`
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
