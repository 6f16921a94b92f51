// What an operator says: its lines at level debug, its metrics, and all that it writes into the cluster but Secrets. No
// secret is in it, however its services fail, and even if what stands before them repeats all that was said to it.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { KeelsonProcess, temporaryFolder } from "../e2e/keelson-process.ts";
import { clusterSuite } from "../tools/test-cluster.ts";
import { kubeconfigFor } from "../oracle/cluster-files.ts";
import { TcpProxy } from "../tools/tcp-proxy.ts";
import { until } from "../tools/until.ts";
import { sharedKeycloak, withoutKeycloak } from "./keycloak-server.ts";
import {
  applications,
  namespace,
  newName,
  OperatorBed,
  seenIn,
  type Seen,
} from "./operator-bed.ts";
import { sharedS3, withoutS3 } from "./s3-server.ts";
import { TaleBearer, taleSign, type Mood, type Told } from "./tale-bearer.ts";

const secretKind = { apiVersion: "v1", kind: "Secret" };
const previewKind = { ...applications, kind: "PreviewEnvironment" };
const skip = withoutKeycloak || withoutS3;

/** One of the ways in which all services fail together. */
interface Trouble {
  readonly name: string;
  readonly keycloak: (request: Told) => Mood;
  readonly store: Mood;
  readonly isDatabaseAway?: boolean;
}

const isLogin = ({ path }: Told): boolean => path.endsWith("/token");
const isProvider = ({ method, path }: Told): boolean =>
  method === "POST" && path.includes("/identity-provider/");

const troubles: readonly Trouble[] = [
  {
    name: "nobody is believed",
    keycloak: (request) => (isLogin(request) ? 401 : "pass"),
    store: 403,
    isDatabaseAway: true,
  },
  {
    name: "everything breaks",
    keycloak: (request) => (isLogin(request) ? "pass" : 500),
    store: 500,
  },
  { name: "somebody else answers", keycloak: () => 200, store: 200 },
  { name: "there is noise", keycloak: () => "garbage", store: "garbage" },
  {
    name: "what is asked is bad",
    keycloak: (request) => (isProvider(request) ? 400 : "pass"),
    store: 400,
  },
];

clusterSuite("what an operator says", () => {
  test("has no secret in it, whatever fails", { skip }, async (t) => {
    const { signal } = t;
    await using bed = await OperatorBed.prepare({ hasStorage: true, hasLogin: true }, signal);
    await using services = await Services.before(bed);
    const google = newSecret();
    await write(bed, "plattr-idp-google", { clientId: "g", clientSecret: google }, signal);
    const [name, own, shared] = [newName(), newSecret(), newSecret()];
    await write(bed, `${name}-env`, { API_KEY: own }, signal);
    const labels = { "platform.internal/preview": "true" };
    await write(bed, `${name}-shared`, { key: shared }, signal, labels);
    const token = newSecret();
    await using process = await startProcess(bed, { services, token });
    const spec = {
      imageRef: "registry.example.com/shop:1",
      database: { enabled: true },
      storage: { enabled: true, buckets: [{ name: "uploads" }] },
      auth: { enabled: true, providers: ["google"] },
      redis: { enabled: true },
      search: { enabled: true },
      envVars: [{ name: "SHARED", secretKeyRef: { name: `${name}-shared`, key: "key" } }],
    };

    const shown: string[] = [];
    const look = async (): Promise<void> => {
      shown.push(JSON.stringify(await readable(bed, signal)), await process.metrics());
    };
    for (const trouble of troubles) {
      services.suffer(trouble);
      const before = services.tales;
      const { generation } = (await bed.apply(name, { ...spec, branch: trouble.name })).metadata;
      const told = await bed.until(name, (seen) =>
        ["StorageReady", "AuthReady"].every((type) => isFailed(seen, type, Number(generation))),
      );
      if (services.isTelling) {
        await until(() => services.tales > before, signal);
        assert.match(JSON.stringify(told.messages), new RegExp(taleSign)); // Tales arrive.
      }
      await look();
    }

    services.suffer(undefined);
    await bed.apply(name, spec);
    await bed.until(name, ({ phase }) => phase === "Running");
    const previews = await bed.resource(previewKind);
    const ref = { namespace, name: `${name}-7` };
    const wanted = { applicationRef: name, pullRequest: 7, branch: "b" };
    await previews.create({ ...previewKind, metadata: ref, spec: wanted }, {}, signal);
    await until(async () => {
      const found = await previews.find(ref, signal);
      return found !== undefined && seenIn(found).phase === "Running";
    }, signal);
    await look();
    const secrets = [
      own,
      shared,
      google,
      token,
      ...(await services.secrets()),
      ...(await passwords(bed, signal)),
    ];

    const [, broken] = troubles;
    services.suffer(broken);
    await previews.delete(ref, signal);
    await bed.delete(name);
    await bed.until(name, ({ conditions }) =>
      conditions.some((one) => one.endsWith("CleanupFailed")),
    );
    await look();
    services.suffer(undefined);
    await bed.untilGone(name);
    await until(async () => (await previews.find(ref, signal)) === undefined, signal);
    await until(async () => (await bed.events(name)).includes("CleanedUp"), signal);
    await look();

    await process.stop();
    shown.push(process.output);
    assert.match(process.output, /"level":"warn".*"a step failed"/);
    assert.match(process.output, /"a clean-up failed"/);
    for (const text of shown) {
      for (const secret of secrets) {
        for (const form of formsOf(secret)) assert.equal(excerpt(text, form), undefined);
      }
      // Of a token and of a signature that nobody knows beforehand.
      const [carried = ""] = /eyJ[\w-]{20}|Signature=[0-9a-f]{8}/.exec(text) ?? [];
      assert.equal(carried && excerpt(text, carried), "");
    }
  });
});

/** Whoever stands before Keycloak, the store and PostgreSQL. */
class Services implements AsyncDisposable {
  readonly keycloak: TaleBearer;
  readonly store: TaleBearer;
  readonly postgres: TcpProxy;
  readonly databaseUrl: string;
  readonly #bed: OperatorBed;
  #trouble: Trouble | undefined;

  private constructor(
    bed: OperatorBed,
    parts: { keycloak: TaleBearer; store: TaleBearer; postgres: TcpProxy },
  ) {
    const { keycloak, store, postgres } = parts;
    this.#bed = bed;
    this.keycloak = keycloak;
    this.store = store;
    this.postgres = postgres;
    const url = new URL(bed.database.adminUrl);
    url.port = String(postgres.port);
    this.databaseUrl = url.href;
  }

  static async before(bed: OperatorBed): Promise<Services> {
    const keycloak = await TaleBearer.before((await sharedKeycloak()).port, "json");
    const store = await TaleBearer.before((await sharedS3()).port, "xml");
    const postgres = await TcpProxy.to(Number(new URL(bed.database.adminUrl).port));
    return new Services(bed, { keycloak, store, postgres });
  }

  get tales(): number {
    return this.keycloak.tales + this.store.tales;
  }

  get isTelling(): boolean {
    return Number(this.#trouble?.store) >= 400;
  }

  suffer(trouble: Trouble | undefined): void {
    this.#trouble = trouble;
    const { keycloak = (): Mood => "pass", store = "pass", isDatabaseAway = false } = trouble ?? {};
    this.keycloak.mood = keycloak;
    this.store.mood = () => store;
    this.postgres.isRefusing = isDatabaseAway;
    if (isDatabaseAway) this.postgres.cut();
  }

  /** What the operator knows of them. */
  async secrets(): Promise<readonly string[]> {
    const { password } = await (await sharedKeycloak()).access();
    const { secretAccessKey = "" } = (await this.#bed.settings.storage?.keys?.()) ?? {};
    return [password, secretAccessKey, decodeURIComponent(new URL(this.databaseUrl).password)];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.keycloak[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
    await this.postgres[Symbol.asyncDispose]();
  }
}

async function startProcess(
  bed: OperatorBed,
  { services, token }: { readonly services: Services; readonly token: string },
) {
  await using setup = new AsyncDisposableStack();
  const folder = setup.use(await temporaryFolder()).path;
  const way = setup.use(await bed.proxy());
  const kubeconfig = join(folder, "kubeconfig");
  const url = way.accessAt(way.port).server;
  await writeFile(kubeconfig, kubeconfigFor({ url, ca: "", token }));
  const { user, password } = await (await sharedKeycloak()).access();
  const { region, appS3Secret = "", keys } = bed.settings.storage ?? {};
  const { accessKeyId = "", secretAccessKey = "" } = (await keys?.()) ?? {};
  const process = setup.use(
    new KeelsonProcess(folder, {
      command: "serve",
      flags: ["--roles", "operator", "--kubeconfig", kubeconfig, "--log-level", "debug"],
      environment: {
        BASE_DOMAIN: "example.com",
        OPERATOR_NAMESPACE: namespace,
        DB_ADMIN_URL: services.databaseUrl,
        AWS_REGION: region ?? "",
        AWS_ENDPOINT_URL: services.store.url,
        AWS_ACCESS_KEY_ID: accessKeyId,
        AWS_SECRET_ACCESS_KEY: secretAccessKey,
        APP_S3_SECRET: appS3Secret,
        KEYCLOAK_ADMIN_URL: services.keycloak.url,
        KEYCLOAK_ADMIN_USER: user,
        KEYCLOAK_ADMIN_PASSWORD: password,
      },
    }),
  );
  await process.said(/"message":"ready"/);
  const [, metrics = ""] = /"metrics":"([^"]+)"/.exec(process.output) ?? [];
  const kept = setup.move();
  return {
    get output() {
      return process.output;
    },
    metrics: async () => await (await fetch(`${metrics}/metrics`)).text(),
    stop: () => process.stop(),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Whether the condition says of that generation that something failed. */
function isFailed({ object }: Seen, type: string, generation: number): boolean {
  const { conditions = [] } = (object["status"] ?? {}) as unknown as {
    conditions?: readonly { type: string; status: string; observedGeneration: number }[];
  };
  return conditions.some(
    (one) => one.type === type && one.status === "False" && one.observedGeneration === generation,
  );
}

/** Every object that anybody may look at: all but Secrets. */
async function readable(bed: OperatorBed, signal: AbortSignal): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const { apiVersion, kind, verbs } of await bed.client.kinds.all(signal)) {
    if (!verbs.includes("list") || kind === "Secret") continue;
    all.push(...(await (await bed.resource({ apiVersion, kind })).list({}, signal)).items);
  }
  return all;
}

/** Those of the databases of all apps. */
async function passwords(bed: OperatorBed, signal: AbortSignal): Promise<readonly string[]> {
  const { items } = await (await bed.resource(secretKind)).list({}, signal);
  const found = items.flatMap((secret) => {
    const { DB_PASSWORD = "" } = (secret["data"] ?? {}) as Record<string, string>;
    return DB_PASSWORD === "" ? [] : [Buffer.from(DB_PASSWORD, "base64").toString()];
  });
  assert.equal(found.length, 2); // Of the app and of its preview.
  return found;
}

async function write(
  bed: OperatorBed,
  name: string,
  stringData: Readonly<Record<string, string>>,
  signal: AbortSignal,
  labels: Readonly<Record<string, string>> = {},
): Promise<void> {
  const secret = { ...secretKind, metadata: { name, namespace, labels }, stringData };
  await (await bed.resource(secretKind)).create(secret, {}, signal);
}

function newSecret(): string {
  return `hush-${randomBytes(9).toString("base64url")}`;
}

/** As it is, and as it travels. */
function formsOf(secret: string): readonly string[] {
  return [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams({ secret }).toString().slice("secret=".length),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString("base64"),
  ];
}

/** Where the form stands; undefined if nowhere. */
function excerpt(text: string, form: string): string | undefined {
  const at = text.indexOf(form);
  return at < 0 ? undefined : text.slice(Math.max(0, at - 200), at + 100);
}
