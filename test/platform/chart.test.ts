// The chart of the operator with the real Helm: what it renders, and what the cluster says to it.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "node:test";
import { fileURLToPath } from "node:url";
import { platformDefinitions } from "@keelson/platform";
import { parseAllDocuments } from "yaml";

import { startOracle, type Oracle } from "../oracle/cluster.ts";
import { oracleTest } from "../oracle/oracle-test.ts";
import { until } from "../tools/until.ts";

const chart = fileURLToPath(new URL("../../deploy/helm/plattr-operator", import.meta.url));
const namespace = "plattr-system";
const domain = { baseDomain: "example.com" };
const everything = {
  ...domain,
  "database.existingSecret": "db",
  "database.host": "pooler.example.com",
  "database.port": "6432",
  "storage.endpoint": "http://s3.example.com:9000",
  "storage.existingSecret": "s3",
  "storage.appSecret": "app-s3",
  "keycloak.adminUrl": "https://auth.example.com",
  "keycloak.existingSecret": "keycloak",
  "ingress.rewrite": "traefik",
  "previews.tlsSecret": "wildcard",
};

suite("the chart of the operator", () => {
  oracleTest("P70: renders restricted pods and installs its kinds first", async (t) => {
    const { signal } = t;
    const whole = { controllers: ["*"], scheduler: true, kwok: true } as const;
    await using oracle = await startOracle(whole, signal);
    const helm = async (words: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await oracle.run("helm", words, signal);
      assert.equal(code, 0, `helm ${words.join(" ")}: ${stdout}${stderr}`);
      return stdout;
    };
    const kubectl = async (words: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await oracle.kubectl(words, signal);
      assert.equal(code, 0, `kubectl ${words.join(" ")}: ${stderr}`);
      return stdout + stderr;
    };

    await t.test("lint finds nothing", async () => {
      const lint = await helm(["lint", "--strict", chart, "--set", "baseDomain=example.com"]);
      assert.match(lint, /0 chart\(s\) failed/);
    });

    for (const [what, values, sentence] of [
      ["no domain", {}, /baseDomain must say below which domain/],
      [
        "a Keycloak without a password",
        { ...domain, "keycloak.adminUrl": "https://a" },
        /keycloak\.existingSecret must name/,
      ],
      [
        "an administrator in two places",
        { ...domain, "database.existingSecret": "db", "database.secretArn": "arn:aws:x" },
        /the administrator's URL is in one place/,
      ],
      [
        "apps with role and keys",
        { ...domain, "storage.appRoleArnTemplate": "a", "storage.appSecret": "b" },
        /apps have a role or keys/,
      ],
      ["a tag that moves", { ...domain, "image.tag": "latest" }, /image\/tag/],
      ["a value that is none", { ...domain, "database.url": "x" }, /additional properties 'url'/],
    ] as const) {
      await t.test(`${what} fails with a sentence`, async () => {
        const { code, stderr } = await oracle.run("helm", template(values), signal);
        assert.notEqual(code, 0);
        assert.match(stderr, sentence);
      });
    }

    await kubectl(["create", "namespace", namespace]);
    const enforce = "pod-security.kubernetes.io/enforce=restricted";
    await kubectl(["label", "namespace", namespace, enforce]);

    for (const [what, values] of [
      ["with a domain alone", domain],
      ["with everything", everything],
    ] as const) {
      await t.test(
        `the cluster takes every object, and its pods are restricted: ${what}`,
        async () => {
          const text = await helm(template(values));
          const file = join(oracle.folder, "rendered.yaml");
          writeFileSync(file, text);
          await kubectl(["apply", "--dry-run=server", "--validate=strict", "-f", file]);
          const deployment = find(documentsOf(text), "Deployment");
          await takesPod(oracle, deployment, signal);
          // Without what makes it restricted the namespace refuses it.
          const spec = { ...deployment.spec.template.spec, securityContext: {} };
          const careless = { ...deployment.spec, template: { ...deployment.spec.template, spec } };
          await assert.rejects(
            takesPod(oracle, { ...deployment, spec: careless }, signal),
            /restricted/,
          );
        },
      );
    }

    await t.test("secrets are named and never shown, the tag is that of the chart", async () => {
      const objects = documentsOf(await helm(template(everything)));
      assert.deepEqual(
        objects.filter(({ kind }) => kind === "Secret"),
        [],
      );
      const { replicas, template: pods } = find(objects, "Deployment").spec;
      const [container] = pods.spec.containers;
      assert.deepEqual(
        [replicas, find(objects, "PodDisruptionBudget").spec["minAvailable"], container?.image],
        [2, 1, "keelson:0.1.0"],
      );
      const given = new Map(container?.env.map(({ name, ...value }) => [name, value]));
      const secret = (name: string, key: string) => ({
        valueFrom: { secretKeyRef: { name, key } },
      });
      for (const [name, value] of [
        ["AWS_ACCESS_KEY_ID", secret("s3", "accessKeyId")],
        ["AWS_SECRET_ACCESS_KEY", secret("s3", "secretAccessKey")],
        ["KEYCLOAK_ADMIN_USER", secret("keycloak", "user")],
        ["KEYCLOAK_ADMIN_PASSWORD", secret("keycloak", "password")],
        ["DB_ADMIN_URL_FILE", { value: "/etc/plattr-operator/database/url" }],
        ["METRICS_ADDR", { value: "0.0.0.0:9090" }],
        ["BASE_DOMAIN", { value: "example.com" }],
        ["MIGRATION_IMAGE", { value: "keelson:0.1.0" }],
      ] as const) {
        assert.deepEqual(given.get(name), value, name);
      }
    });

    await t.test("the operator knows every variable that it is given", async () => {
      const arn = { ...domain, "database.secretArn": "arn:aws:secretsmanager:eu:1:secret:aurora" };
      const names: string[] = [];
      for (const values of [everything, arn]) {
        const { spec } = find(documentsOf(await helm(template(values))), "Deployment");
        const { containers } = spec.template.spec;
        names.push(...containers.flatMap(({ env }) => env.map(({ name }) => name)));
      }
      assert.ok(names.includes("DB_SECRET_ARN"));
      const known = readFileSync(
        new URL("../../docs/reference/settings.md", import.meta.url),
        "utf8",
      );
      const others = /^(AWS_ACCESS_KEY_ID|AWS_SECRET_ACCESS_KEY|TMPDIR)$/; // Of the SDK, and of Node.
      const unknown = names.filter((name) => !known.includes(name) && !others.test(name));
      assert.deepEqual(unknown, []);
    });

    await t.test("installed, its kinds are there, and stay when it goes", async () => {
      await helm(["install", "plattr", chart, "-n", namespace, "--set", "baseDomain=example.com"]);
      const names = platformDefinitions().map(
        ({ metadata }) => (metadata as { name: string }).name,
      );
      await kubectl(["wait", "--for=condition=Established", ...names.map((name) => `crd/${name}`)]);
      const crds = readFileSync(join(chart, "crds/platform.internal.yaml"), "utf8");
      assert.deepEqual(
        parseAllDocuments(crds).map((one) => one.toJS() as unknown),
        platformDefinitions(),
      );
      await helm(["uninstall", "plattr", "-n", namespace]);
      // Apps outlive the operator.
      await kubectl(["get", "apps", "-A"]);
    });
  });
});

/** A pod as the Deployment would make it. */
async function takesPod(oracle: Oracle, { spec }: Deployment, signal: AbortSignal): Promise<void> {
  const { metadata, spec: pod } = spec.template;
  const { serviceAccountName: _account, ...rest } = pod; // It is not there before the installation.
  const file = join(oracle.folder, "pod.json");
  const object = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...metadata, name: "one", namespace },
    spec: rest,
  };
  writeFileSync(file, JSON.stringify(object));
  // Its controller makes the default account a moment after the namespace.
  const account = ["get", "serviceaccount", "default", "-n", namespace];
  await until(async () => (await oracle.kubectl(account, signal)).code === 0, signal);
  const { code, stderr } = await oracle.kubectl(["create", "--dry-run=server", "-f", file], signal);
  if (code !== 0) throw new Error(stderr);
}

function template(values: Readonly<Record<string, string>>): readonly string[] {
  const set = Object.entries(values).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
  return ["template", "plattr", chart, "-n", namespace, ...set];
}

interface Rendered {
  readonly kind: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

interface Deployment {
  readonly spec: {
    readonly replicas: number;
    readonly template: {
      readonly metadata: object;
      readonly spec: {
        readonly serviceAccountName?: string;
        readonly securityContext: object;
        readonly containers: readonly {
          readonly image: string;
          readonly env: readonly ({ readonly name: string } & Readonly<Record<string, unknown>>)[];
        }[];
      };
    };
  };
}

function find(objects: readonly Rendered[], kind: "Deployment"): Deployment;
function find(objects: readonly Rendered[], kind: string): Rendered;
function find(objects: readonly Rendered[], kind: string): unknown {
  const found = objects.filter((object) => object.kind === kind);
  assert.equal(found.length, 1, kind);
  return found[0];
}

function documentsOf(text: string): readonly Rendered[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Rendered | null)
    .filter((one) => one !== null);
}
