// Our operator with the account that its chart makes, and nothing else, before a real Kubernetes: an app with everything and
// its preview come, change and go. Nothing is refused, and nothing is granted for which there is no use.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "node:test";
import { fileURLToPath } from "node:url";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { createAppDatabase, leftovers, nothing } from "@keelson/platform/testing";
import { parseAllDocuments } from "yaml";
import { KeelsonProcess, temporaryFolder } from "../e2e/keelson-process.ts";
import { kubeconfigFor } from "../oracle/cluster-files.ts";
import { startOracle, type Oracle } from "../oracle/cluster.ts";
import { oracleTest } from "../oracle/oracle-test.ts";
import { until } from "../tools/until.ts";
import {
  AccountAudit,
  accountName,
  assertRights,
  operatorNamespace as namespace,
  rightsOf,
} from "./chart-account.ts";
import { sharedKeycloak, withoutKeycloak } from "./keycloak-server.ts";
import { sharedS3 } from "./s3-server.ts";

const chart = fileURLToPath(new URL("../../deploy/helm/plattr-operator", import.meta.url));

/** What is granted and not asked for here, and what it is for. */
const unasked: Readonly<Record<string, string>> = {
  "platform.internal previewenvironments delete": "of one whose time is up",
  "platform.internal applications get": "anew, where somebody else has changed it meanwhile",
  "platform.internal applications/finalizers update":
    "no request: asked when a child names its owner",
  "platform.internal previewenvironments/finalizers update": "the same",
};

/** What it has no business with. */
const forbidden: readonly (readonly string[])[] = [
  ["create", "pods"],
  ["create", "pods", "exec"],
  ["get", "pods", "log"],
  ["get", "nodes"],
  ["create", "serviceaccounts", "token"],
  ["create", "clusterrolebindings"],
  ["bind", "clusterroles"],
  ["impersonate", "users"],
  ["create", "customresourcedefinitions"],
  ["create", "applications"],
  ["delete", "applications"],
  ["deletecollection", "secrets"],
  ["get", "leases"], // Of anybody else.
];

suite("the account of the chart", () => {
  oracleTest("suffices for an app with everything, and for nothing else", async (t) => {
    const { signal } = t;
    if (withoutKeycloak !== false) return t.skip(withoutKeycloak);
    await using undo = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), "keelson-rights-"));
    undo.defer(() => rm(folder, { recursive: true, force: true }));
    const audit = await AccountAudit.in(folder);
    // Then whoever names an owner must be allowed to hold it.
    const admission = "--enable-admission-plugins=OwnerReferencesPermissionEnforcement";
    const oracle = undo.use(
      await startOracle(
        {
          controllers: ["*"],
          scheduler: true,
          kwok: true,
          flags: { "kube-apiserver": [...audit.flags, admission] },
        },
        signal,
      ),
    );
    const run = async (program: "kubectl" | "helm", words: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await oracle.run(program, words, signal);
      assert.equal(code, 0, `${program} ${words.join(" ")}: ${stdout}${stderr}`);
      return stdout;
    };
    const apply = async (...objects: readonly object[]): Promise<void> => {
      const file = join(folder, "applied.json");
      await writeFile(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
      await run("kubectl", ["apply", "-f", file]);
    };
    const database = undo.use(
      await createAppDatabase(await sharedThrowawayPostgres("embedded"), { rights: "ordinary" }),
    );
    const secrets = await secretsOf(database.adminUrl);
    const values = await valuesOf();
    await run("kubectl", ["create", "namespace", namespace]);
    await apply(middlewares, ...secrets.map(secretOf));
    await run("kubectl", ["wait", "--for=condition=Established", "crd/middlewares.traefik.io"]);
    await run("helm", ["install", "plattr", chart, "-n", namespace, ...values]);
    const rendered = documentsOf(
      await run("helm", ["template", chart, "-n", namespace, ...values]),
    );

    const token = await run("kubectl", ["create", "token", "plattr-operator", "-n", namespace]);
    const kubeconfig = join(folder, "operator.kubeconfig");
    const access = { url: oracle.url, ca: oracle.ca, token: token.trim() };
    await writeFile(kubeconfig, kubeconfigFor(access));
    const environment = await environmentOf(rendered, { secrets, folder });
    const data = undo.use(await temporaryFolder());
    const start = (name: string): KeelsonProcess =>
      new KeelsonProcess(join(data.path, name), {
        command: "serve",
        flags: ["--roles=operator"],
        environment: { ...environment, KUBECONFIG: kubeconfig, OPERATOR_NAMESPACE: namespace },
      });
    await using operator = start("one");
    await operator.said(/leadership won/);
    await using standby = start("other");
    await standby.said(/"message":"ready"/);
    try {
      await liveThrough({ run, apply, oracle }, signal);
    } catch (error) {
      console.error(operator.output);
      throw error;
    }
    await operator.stop();
    await standby.said(/leadership won/);
    await standby.stop();
    for (const { output } of [operator, standby]) assert.doesNotMatch(output, /forbidden/i);
    assert.deepEqual(await leftovers(database, "shop"), nothing);

    const roles = rendered.filter(({ kind }) => kind === "ClusterRole" || kind === "Role");
    assert.equal(roles.length, 2);
    assertRights(rightsOf(roles.flatMap(({ rules }) => rules)), await audit.asked(), unasked);
    for (const [verb = "", resource = "", part = ""] of forbidden) {
      const what = [verb, resource, `--subresource=${part}`];
      const who = ["--as", accountName, "-n", "default"];
      const { stdout } = await oracle.kubectl(["auth", "can-i", ...what, ...who], signal);
      assert.equal(stdout.trim(), "no", what.join(" "));
    }
  });
});

interface Hands {
  readonly run: (program: "kubectl" | "helm", words: readonly string[]) => Promise<string>;
  readonly apply: (...objects: readonly object[]) => Promise<void>;
  readonly oracle: Oracle;
}

const metadata = { name: "shop", namespace: "default" };
const spec = {
  repository: "https://git.example.com/shop",
  framework: "docker",
  environment: "staging",
  imageRef: "registry.example.com/shop:1",
  database: { enabled: true, migrations: { engine: "raw" } },
  storage: { enabled: true, buckets: [{ name: "uploads" }] },
  auth: { enabled: true, providers: ["google"] },
  redis: { enabled: true },
  search: { enabled: true },
  envVars: [{ name: "SHARED", secretKeyRef: { name: "shared", key: "key" } }],
};
const app = { apiVersion: "platform.internal/v1alpha1", kind: "Application", metadata, spec };
const preview = {
  ...app,
  kind: "PreviewEnvironment",
  metadata: { name: "pr-7", namespace: "default" },
  spec: { applicationRef: "shop", pullRequest: 7, branch: "fix" },
};
const shared = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: {
    name: "shared",
    namespace: "default",
    labels: { "platform.internal/preview": "true" },
  },
  stringData: { key: "value" },
};

/** From nothing to running, a change that takes everything away that can be, and the end. */
async function liveThrough({ run, apply, oracle }: Hands, signal: AbortSignal): Promise<void> {
  const phase = "--for=jsonpath={.status.phase}=Running";
  const running = async (what: string): Promise<void> => {
    await run("kubectl", ["wait", what, phase, "--timeout=120s"]);
  };
  await apply(shared, app, preview);
  await running("app/shop");
  await running("previewenvironment/pr-7");
  const place = ["-n", "preview-shop-pr-7", "-o", "name"];
  const children = await run("kubectl", [
    "get",
    "jobs,secrets,resourcequotas,networkpolicies",
    ...place,
  ]);
  for (const kind of ["job", "secret/shared", "resourcequota", "networkpolicy"]) {
    assert.ok(children.includes(kind), children);
  }
  await run("kubectl", ["set", "image", "deployment/shop", "app=registry.example.com/other:1"]);
  const image = "-o=jsonpath={.spec.template.spec.containers[0].image}";
  await until(
    async () => (await run("kubectl", ["get", "deployment/shop", image])).endsWith("shop:1"),
    signal,
  );
  const { repository, framework, environment, imageRef } = spec;
  await apply({ ...app, spec: { repository, framework, environment, imageRef } });
  const generation = "--for=jsonpath={.status.observedGeneration}=2";
  await run("kubectl", ["wait", "app/shop", generation, "--timeout=120s"]);
  await running("app/shop");
  await run("kubectl", ["delete", "app/shop", "previewenvironment/pr-7", "--timeout=120s"]);
  assert.doesNotMatch(await run("kubectl", ["get", "namespaces", "-o", "name"]), /preview-shop/);
  await until(async () => {
    const { stdout } = await oracle.kubectl(["get", "events", "-o", "yaml"], signal);
    return ["Provisioned", "DriftRepaired", "CleanedUp"].every((one) => stdout.includes(one));
  }, signal);
}

/** A Secret of the operator's namespace. */
interface Given {
  readonly name: string;
  readonly data: Readonly<Record<string, string>>;
}

async function secretsOf(databaseUrl: string): Promise<readonly Given[]> {
  const { accessKeyId, secretAccessKey } = await (await sharedS3()).createAccount("admin");
  const { user, password } = await (await sharedKeycloak()).access();
  return [
    { name: "db", data: { url: databaseUrl } },
    { name: "s3", data: { accessKeyId, secretAccessKey } },
    { name: "app-s3", data: { S3_ACCESS_KEY: accessKeyId, S3_SECRET_KEY: secretAccessKey } },
    { name: "keycloak", data: { user, password } },
    { name: "plattr-idp-google", data: { clientId: "g", clientSecret: "google" } },
  ];
}

function secretOf({ name, data: stringData }: Given): object {
  return { apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, stringData };
}

async function valuesOf(): Promise<readonly string[]> {
  const values = {
    baseDomain: "example.com",
    "database.existingSecret": "db",
    "storage.endpoint": (await sharedS3()).endpoint,
    "storage.existingSecret": "s3",
    "storage.appSecret": "app-s3",
    "keycloak.adminUrl": (await sharedKeycloak()).url,
    "keycloak.existingSecret": "keycloak",
    "ingress.rewrite": "traefik",
  };
  return Object.entries(values).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
}

/** As a cluster with traefik has it. */
const middlewares = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "middlewares.traefik.io" },
  spec: {
    group: "traefik.io",
    scope: "Namespaced",
    names: { plural: "middlewares", singular: "middleware", kind: "Middleware" },
    versions: [
      {
        name: "v1alpha1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        },
      },
    ],
  },
};

interface Rendered {
  readonly kind: string;
  readonly rules: Parameters<typeof rightsOf>[0];
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: readonly { readonly env: readonly Variable[] }[] };
    };
  };
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string; readonly key: string } };
}

function documentsOf(text: string): readonly Rendered[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Rendered | null)
    .filter((one) => one !== null);
}

/** What the Deployment gives to its container, with Secrets as a kubelet reads them. */
async function environmentOf(
  rendered: readonly Rendered[],
  { secrets, folder }: { readonly secrets: readonly Given[]; readonly folder: string },
): Promise<Record<string, string>> {
  const found = rendered.find(({ kind }) => kind === "Deployment");
  const variables = found?.spec.template.spec.containers[0]?.env ?? [];
  const valueOf = ({ value, valueFrom }: Variable): string | undefined => {
    const { name = "", key = "" } = valueFrom?.secretKeyRef ?? {};
    return value ?? secrets.find((secret) => secret.name === name)?.data[key];
  };
  const mounted = join(folder, "url");
  await writeFile(mounted, secrets.find(({ name }) => name === "db")?.data["url"] ?? "");
  const given = variables.flatMap((variable): [string, string][] => {
    const value = valueOf(variable);
    const isOfPod = ["METRICS_ADDR", "TMPDIR"].includes(variable.name);
    return value === undefined || isOfPod ? [] : [[variable.name, value]];
  });
  return { ...Object.fromEntries(given), DB_ADMIN_URL_FILE: mounted };
}
