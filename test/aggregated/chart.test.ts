// The chart with the real Helm: what it renders, what the cluster says to it, and that what it makes is enough to serve.

import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "node:test";
import { fileURLToPath } from "node:url";
import { connect } from "node:tls";

import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { parseAllDocuments } from "yaml";

import { KeelsonProcess } from "../e2e/keelson-process.ts";
import { runKeelson } from "../e2e/run-keelson.ts";
import { kubeconfigFor } from "../oracle/cluster-files.ts";
import { startOracle, type Oracle } from "../oracle/cluster.ts";
import { oracleTest } from "../oracle/oracle-test.ts";
import { until } from "../tools/until.ts";
import { expectStatus } from "./asking.ts";
import { certManagerDefinitions } from "./cert-manager.ts";
import {
  containersOf,
  environmentOf,
  placedBelow,
  type Container,
  type Secrets,
} from "./chart-containers.ts";

const chart = fileURLToPath(new URL("../../deploy/helm/ark-apiserver", import.meta.url));
const namespace = "ark-system";
/** Where the chart keeps the certificate that it made. */
const tlsSecret = "ark-apiserver-tls";
const postgresql = {
  "storage.driver": "postgresql",
  "storage.postgresql.host": "db.example.com",
  "storage.postgresql.existingSecret": "db",
};

/** What the server is told, and what either driver is. */
const served = {
  aggregated: "true",
  dataDir: "/var/lib/keelson",
  kubeAddress: "0.0.0.0",
  kubePort: "6443",
  metricsAddress: "0.0.0.0",
  metricsPort: "8081",
  tlsCertFile: "/etc/ark-apiserver/tls/tls.crt",
  tlsKeyFile: "/etc/ark-apiserver/tls/tls.key",
};
const onSqlite = { storageDriver: "sqlite", sqlitePath: "/data/ark.db" };
const onPostgresql = {
  storageDriver: "postgresql",
  postgresHost: "db.example.com",
  postgresPort: "5432",
  postgresDatabase: "ark",
  postgresUsername: "ark",
  postgresPasswordFile: "/etc/ark-apiserver/postgresql-password/password",
  postgresSslmode: "require",
};
const ownPostgresql = {
  postgresPort: "6543",
  postgresDatabase: "objects",
  postgresUsername: "me",
  postgresSslmode: "prefer",
};

suite("the chart", () => {
  oracleTest("renders, installs, upgrades and goes", async (t) => {
    const { signal } = t;
    await using oracle = await startOracle({}, signal);
    const helm = async (words: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await oracle.run("helm", words, signal);
      assert.equal(code, 0, `helm ${words.join(" ")}: ${stdout}${stderr}`);
      return stdout;
    };

    await t.test("lint finds nothing", async () => {
      assert.match(await helm(["lint", "--strict", chart]), /0 chart\(s\) failed/);
    });

    for (const [what, values, sentence] of [
      ["no host", { "storage.driver": "postgresql" }, /storage\.postgresql\.host must say/],
      [
        "no password",
        { "storage.driver": "postgresql", "storage.postgresql.host": "db" },
        /storage\.postgresql\.existingSecret must name the Secret/,
      ],
      [
        "an authority that nobody names",
        { ...postgresql, "storage.postgresql.sslmode": "verify-full" },
        /sslRootCertSecret must name/,
      ],
      ["a driver that is none", { "storage.driver": "mysql" }, /storage\/driver/],
      ["a value that is none", { "storage.sqlite.pth": "/data/x" }, /additional properties 'pth'/],
      [
        "two who make the certificate",
        { "certManager.enabled": "true", "tls.existingSecret": "x" },
        /exclude each other/,
      ],
      [
        "a certificate whose authority nobody knows",
        { "tls.existingSecret": "x" },
        /tls\.caBundle/,
      ],
    ] as const) {
      await t.test(`${what} fails with a sentence`, async () => {
        const { code, stderr } = await oracle.run("helm", template(values), signal);
        assert.notEqual(code, 0);
        assert.match(stderr, sentence);
      });
    }

    await expectStatus(
      oracle.client,
      { method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: namespace } } },
      201,
      signal,
    );
    for (const [what, values, count] of [
      ["SQLite", {}, 11],
      ["SQLite without persistence", { "storage.sqlite.persistence.enabled": "false" }, 10],
      ["PostgreSQL", { ...postgresql, "storage.postgresql.sslRootCertSecret": "ca" }, 10],
      ["a certificate of one's own", { "tls.existingSecret": "own", "tls.caBundle": "PEM" }, 10],
    ] as const) {
      await t.test(`the cluster takes every object: ${what}`, async () => {
        const text = await helm(template(values));
        const objects = documentsOf(text);
        assert.equal(objects.length, count, objects.map(({ kind }) => kind).join());
        await taken(oracle, text, signal);
        assert.doesNotMatch(text, /insecureSkipTLSVerify/);
      });
    }

    await t.test("SQLite has one replica, made anew and never beside itself", async () => {
      const { spec } = deploymentIn(await helm(template({ replicas: "3" })));
      assert.deepEqual([spec["replicas"], spec["strategy"]], [1, { type: "Recreate" }]);
    });

    for (const [what, values, expected] of [
      ["SQLite", {}, { "ark-apiserver": { ...served, ...onSqlite } }],
      [
        "PostgreSQL",
        { ...postgresql, "storage.postgresql.sslRootCertSecret": "ca" },
        {
          migrate: { dataDir: served.dataDir, ...onPostgresql },
          "ark-apiserver": { ...served, ...onPostgresql },
        },
      ],
      [
        "values of one's own",
        {
          ...postgresql,
          "storage.postgresql.port": "6543",
          "storage.postgresql.database": "objects",
          "storage.postgresql.username": "me",
          "storage.postgresql.sslmode": "prefer",
          allowedPrivateIpRanges: "10.0.0.0/8",
          whitelistedModelDomains: "example.com",
        },
        {
          migrate: { dataDir: served.dataDir, ...onPostgresql, ...ownPostgresql },
          "ark-apiserver": {
            ...served,
            ...onPostgresql,
            ...ownPostgresql,
            allowedPrivateIpRanges: "10.0.0.0/8",
            whitelistedModelDomains: "example.com",
          },
        },
      ],
    ] as const) {
      await t.test(`the executable takes what its containers are told: ${what}`, async () => {
        const containers = containersOf(deploymentIn(await helm(template(values))));
        const settings: [string, unknown][] = [];
        for (const container of containers) {
          settings.push([container.name, await settingsOf(container, oracle.folder, signal)]);
        }
        assert.deepEqual(Object.fromEntries(settings), expected);
        const [server] = containers.filter(({ name }) => name === "ark-apiserver");
        assert.deepEqual(
          server?.ports?.map(({ containerPort }) => String(containerPort)),
          [served.kubePort, served.metricsPort],
        );
      });
    }

    await t.test("a word that it does not know is refused", async () => {
      for (const container of containersOf(deploymentIn(await helm(template(postgresql))))) {
        for (const [index, word] of container.args.entries()) {
          if (!word.startsWith("--")) continue;
          const args = container.args.with(index, word.replace("--", "--x-"));
          const asking = settingsOf({ ...container, args }, oracle.folder, signal);
          await assert.rejects(asking, /unknown option/, word);
        }
      }
    });

    await t.test("cert-manager makes the certificate and brings it where it belongs", async () => {
      const text = await helm(template({ "certManager.enabled": "true" }));
      await establishCertManager(oracle, signal);
      await taken(oracle, text, signal);
      const misspelt = text.replace("secretName: ark-apiserver-ca", "secret: ark-apiserver-ca");
      await assert.rejects(taken(oracle, misspelt, signal), /spec\.secret/);
      const objects = documentsOf(text);
      const certificates = objects.filter(({ kind }) => kind === "Certificate");
      assert.deepEqual(
        certificates.map(({ spec }) => spec["secretName"]),
        ["ark-apiserver-ca", tlsSecret],
      );
      for (const service of objects.filter(({ kind }) => kind === "APIService")) {
        assert.equal(service.spec["caBundle"], undefined);
        assert.deepEqual(service.metadata.annotations, {
          "cert-manager.io/inject-ca-from": `${namespace}/ark-apiserver-tls`,
        });
      }
    });

    await t.test(
      "installed, what it made suffices to serve; an upgrade keeps the certificate",
      () => lifeOfARelease(oracle, helm, signal),
    );
  });
});

/** The cluster would take what is rendered, and knows every field of it. */
async function taken(oracle: Oracle, rendered: string, signal: AbortSignal): Promise<void> {
  const file = join(oracle.folder, "rendered.yaml");
  writeFileSync(file, rendered);
  const words = ["apply", "--dry-run=server", "--validate=strict", "-f", file];
  const { code, stderr } = await oracle.kubectl(words, signal);
  assert.equal(code, 0, stderr);
}

/** The kinds of cert-manager, without those who would act on them. */
async function establishCertManager({ client }: Oracle, signal: AbortSignal): Promise<void> {
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  for (const body of await certManagerDefinitions(signal)) {
    await expectStatus(client, { method: "POST", path, body }, 201, signal);
  }
  for (const plural of ["certificates", "issuers"]) {
    const collection = `/apis/cert-manager.io/v1/${plural}`;
    await until(
      async () => (await client.send({ path: collection }, signal)).status === 200,
      signal,
    );
  }
}

async function lifeOfARelease(
  oracle: Oracle,
  helm: (words: readonly string[]) => Promise<string>,
  signal: AbortSignal,
): Promise<void> {
  const place = ["-n", namespace];
  await helm(["install", "ark", chart, ...place]);
  const before = await madeCertificate(oracle, signal);
  assert.equal(before.bundles.length, 2);
  for (const bundle of before.bundles) assert.equal(bundle, before.secret["ca.crt"]);

  const tls = Object.fromEntries(
    Object.entries(before.secret).map(([key, value]) => [
      key,
      Buffer.from(value, "base64").toString(),
    ]),
  );
  await servedWith(
    oracle,
    { rendered: await helm(template({})), secrets: { [tlsSecret]: tls } },
    signal,
  );
  const server = await sharedThrowawayPostgres("embedded");
  await using database = await server.createDatabase();
  const { username, password } = new URL(database.url);
  const values = {
    ...postgresql,
    "storage.postgresql.host": "127.0.0.1",
    "storage.postgresql.port": String(server.port),
    "storage.postgresql.database": database.name,
    "storage.postgresql.username": username,
    "storage.postgresql.sslmode": "disable",
  };
  const rendered = await helm(template(values));
  const secrets = { [tlsSecret]: tls, db: { password } };
  await servedWith(oracle, { rendered, secrets }, signal);

  await helm(["upgrade", "ark", chart, ...place, "--set", "resources.limits.memory=2Gi"]);
  assert.deepEqual(await madeCertificate(oracle, signal), before);
  await helm(["uninstall", "ark", ...place]);
  const left = await oracle.kubectl(
    [
      "get",
      "all,sa,pvc,secret",
      "-n",
      namespace,
      "-l",
      "app.kubernetes.io/instance=ark",
      "-o",
      "name",
    ],
    signal,
  );
  assert.deepEqual(left.stdout.trim().split("\n").sort(), [
    "persistentvolumeclaim/ark-apiserver",
    "secret/ark-apiserver-tls",
  ]);
  const { stdout } = await oracle.kubectl(["get", "apiservices", "-o", "name"], signal);
  assert.doesNotMatch(stdout, /ark\.mckinsey\.com/);
  // A new installation finds what the old one left.
  await helm(["install", "ark", chart, ...place, "--take-ownership"]);
  assert.deepEqual((await madeCertificate(oracle, signal)).secret, before.secret);
}

/** Runs the containers with the account, the rights and the certificate that the chart has made, and nothing else. */
async function servedWith(
  oracle: Oracle,
  { rendered, secrets }: { readonly rendered: string; readonly secrets: Secrets },
  signal: AbortSignal,
): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "keelson-chart-")));
  try {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/ark-apiserver/token`;
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    const answer = await expectStatus(oracle.client, { method: "POST", path, body }, 201, signal);
    const { token } = (answer.body as { status: { token: string } }).status;
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(kubeconfig, kubeconfigFor({ url: oracle.url, ca: oracle.ca, token }));

    const containers = containersOf(deploymentIn(rendered));
    for (const container of containers.slice(0, -1)) {
      const { words, environment } = placedBelow(folder, container, secrets);
      const { code, output } = await runKeelson(words, { cwd: folder, environment }, signal);
      assert.equal(code, 0, output);
    }
    const server = containers.at(-1);
    assert.ok(server !== undefined);
    const { words, environment } = placedBelow(folder, server, secrets);
    const [command, ...flags] = words;
    assert.equal(command, "apiserver");
    await using keelson = new KeelsonProcess(join(folder, served.dataDir), {
      command,
      // The ports of a Pod are its own, those of this machine are not.
      flags: [...flags, "--kube-port=0", "--metrics-port=0"],
      cwd: folder,
      environment: { ...environment, KUBECONFIG: kubeconfig },
    });
    const { kubernetes = "" } = await keelson.ready(signal);
    const servername = `ark-apiserver.${namespace}.svc`;
    const port = Number(new URL(kubernetes).port);
    await new Promise<void>((resolve, reject) => {
      const options = { host: "127.0.0.1", port, ca: secrets[tlsSecret]?.["ca.crt"], servername };
      const socket = connect(options, () => {
        socket.destroy();
        resolve();
      });
      socket.once("error", reject);
    });
    await keelson.stop();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What the executable makes of the words and variables of a container: each setting that has not its default. */
async function settingsOf(
  container: Container,
  cwd: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const flags = container.args.filter((word) => word.startsWith("--"));
  const commands = container.args.slice(0, -flags.length);
  assert.deepEqual(
    commands,
    container.name === "migrate" ? ["apiserver", "migrate"] : ["apiserver"],
  );
  const environment = environmentOf(container);
  const words = ["config", "-o", "json", ...flags];
  const { code, stdout, stderr } = await runKeelson(words, { cwd, environment }, signal);
  if (code !== 0) throw new Error(stderr);
  const { settings } = JSON.parse(stdout) as {
    settings: readonly { setting: string; value: string; source: string }[];
  };
  const said = settings.filter(({ source }) => !source.startsWith("default"));
  return Object.fromEntries(said.map(({ setting, value }) => [setting, value]));
}

async function madeCertificate({ client }: Oracle, signal: AbortSignal) {
  const path = `/api/v1/namespaces/${namespace}/secrets/${tlsSecret}`;
  const { body } = await expectStatus(client, { path }, 200, signal);
  const services = "/apis/apiregistration.k8s.io/v1/apiservices";
  const list = await expectStatus(client, { path: services }, 200, signal);
  const { items } = list.body as { items: readonly Rendered[] };
  return {
    secret: (body as { data: Record<string, string> }).data,
    bundles: items
      .filter(({ spec }) => spec["group"] === "ark.mckinsey.com")
      .map(({ spec }) => spec["caBundle"]),
  };
}

function template(values: Readonly<Record<string, string>>): readonly string[] {
  const set = Object.entries(values).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
  return ["template", "ark", chart, "-n", namespace, ...set];
}

function deploymentIn(text: string): Rendered {
  const found = documentsOf(text).find(({ kind }) => kind === "Deployment");
  assert.ok(found !== undefined, "there is no Deployment");
  return found;
}

interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: Readonly<Record<string, unknown>>;
}

function documentsOf(text: string): readonly Rendered[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Rendered | null)
    .filter((one) => one !== null);
}
