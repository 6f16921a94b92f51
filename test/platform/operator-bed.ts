// An operator at work: a cluster that has both kinds, a real PostgreSQL, and operators that come and go.

import { noMetrics, silentLog, systemClock, systemRandom, type JsonObject } from "@keelson/base";
import {
  Client,
  isNotFound,
  type ClientOptions,
  type DynamicObject,
  type ObjectKind,
  type ResourceClient,
} from "@keelson/client";
import { sharedThrowawayPostgres, type ThrowawayPostgres } from "@keelson/database/testing";
import {
  Operator,
  platformDefinitions,
  type OperatorOptions,
  type OperatorSettings,
} from "@keelson/platform";
import { createAppDatabase, type AdminRights, type AppDatabase } from "@keelson/platform/testing";
import { startCluster, type TestCluster } from "../tools/test-cluster.ts";
import { HttpProxy } from "../tools/http-proxy.ts";
import { until } from "../tools/until.ts";
import { sharedKeycloak, type KeycloakServer } from "./keycloak-server.ts";
import { sharedS3 } from "./s3-server.ts";

export interface BedOptions {
  readonly rights?: AdminRights;
  readonly simulatesWorkloads?: boolean;
  /** Whether there is object storage. */
  readonly hasStorage?: boolean;
  /** Whether there is a Keycloak. */
  readonly hasLogin?: boolean;
  /** Left out: the one that tests run before. */
  readonly cluster?: BedCluster;
  /** Left out: the one that tests share. */
  readonly postgres?: ThrowawayPostgres;
}

export type BedCluster = Pick<TestCluster, "port" | "accessAt" | "identity">;

/** What of an Application tests look at. */
export interface Seen {
  readonly phase: string | undefined;
  readonly observedGeneration: number | undefined;
  readonly url: string | undefined;
  /** `DatabaseReady True Provisioned`. */
  readonly conditions: readonly string[];
  readonly messages: Readonly<Record<string, string>>;
  /** `Schema prod_a Ready`. */
  readonly owned: readonly string[];
  readonly object: DynamicObject;
}

export interface RunningOperator extends AsyncDisposable {
  readonly operator: Operator;
  /** As SIGTERM does. */
  stop(): Promise<void>;
}

export const namespace = "default";
export const applications = { apiVersion: "platform.internal/v1alpha1", kind: "Application" };
const baseDomain = "example.com";

const childKinds: readonly (readonly [apiVersion: string, kind: string])[] = [
  ["v1", "Secret"],
  ["v1", "ConfigMap"],
  ["v1", "Service"],
  ["v1", "ServiceAccount"],
  ["apps/v1", "Deployment"],
  ["batch/v1", "Job"],
  ["networking.k8s.io/v1", "Ingress"],
  ["autoscaling/v2", "HorizontalPodAutoscaler"],
];

let count = 0;

/** A name that no other test has: roles are of the whole server. */
export function newName(): string {
  count += 1;
  return `store-${process.pid % 1_000}-${count}`;
}

export class OperatorBed implements AsyncDisposable {
  readonly cluster: BedCluster;
  readonly client: Client;
  readonly database: AppDatabase;
  readonly settings: OperatorSettings;
  readonly #signal: AbortSignal;
  readonly #kept: AsyncDisposableStack;

  private constructor(
    parts: {
      cluster: BedCluster;
      client: Client;
      database: AppDatabase;
      storage: OperatorSettings["storage"];
      keycloak: KeycloakServer | undefined;
    },
    kept: AsyncDisposableStack,
    signal: AbortSignal,
  ) {
    this.cluster = parts.cluster;
    this.client = parts.client;
    this.database = parts.database;
    this.#kept = kept;
    this.#signal = signal;
    this.settings = {
      namespace,
      baseDomain,
      previewHosts: "nested",
      ingressClass: "nginx",
      ingressRewrite: "nginx",
      clusterIssuer: "letsencrypt-prod",
      concurrency: 8,
      database: { adminUrl: () => Promise.resolve(parts.database.adminUrl) },
      storage: parts.storage,
      auth: { access: parts.keycloak?.access, publicUrl: "https://auth.example.com" },
      redis: { endpoint: "redis.example.com:6379", tls: false },
      search: { endpoint: "https://search.example.com" },
    };
  }

  static async prepare(options: BedOptions, signal: AbortSignal): Promise<OperatorBed> {
    const { rights = "ordinary", simulatesWorkloads = true } = options;
    await using setup = new AsyncDisposableStack();
    const server = options.postgres ?? (await sharedThrowawayPostgres("embedded"));
    const database = setup.use(await createAppDatabase(server, { rights }));
    const cluster =
      options.cluster ?? setup.use(await startCluster({ simulatesWorkloads }, signal));
    const client = setup.use(clientOf(cluster));
    await serveKinds(client, signal);
    const storage = options.hasStorage === true ? await openStorage(client, signal) : undefined;
    const keycloak = options.hasLogin === true ? await sharedKeycloak() : undefined;
    const parts = { cluster, client, database, storage, keycloak };
    return new OperatorBed(parts, setup.move(), signal);
  }

  /** Somebody between an operator and the cluster, who hears every word. */
  async proxy(): Promise<HttpProxy> {
    return await HttpProxy.to(this.cluster.port, this.cluster.identity);
  }

  /** Starts an operator; it ends with the test at the latest. `port`: somebody between it and the cluster, as `proxy` is. */
  start({
    port,
    proxy,
    ...options
  }: Partial<OperatorOptions> & {
    readonly port?: number;
    readonly proxy?: HttpProxy;
  } = {}): RunningOperator {
    const stop = new AbortController();
    const operator = new Operator({
      settings: this.settings,
      openClient: (client) => clientOf(proxy ?? this.cluster, client, port),
      identity: `operator-${++count}`,
      elects: false,
      clock: systemClock,
      random: systemRandom,
      log: silentLog,
      metrics: noMetrics,
      ...options,
    });
    const running = operator.run(AbortSignal.any([stop.signal, this.#signal]));
    running.catch(() => undefined); // Whoever stops it hears of it.
    const end = async (): Promise<void> => {
      stop.abort(new Error("told to stop"));
      await running;
    };
    this.#kept.defer(() => end().catch(() => undefined));
    return { operator, stop: end, [Symbol.asyncDispose]: end };
  }

  resource(kind: ObjectKind): Promise<ResourceClient> {
    return this.client.resource(kind, this.#signal);
  }

  /** Creates or changes an Application, as kubectl does. */
  async apply(name: string, spec: JsonObject, metadata: JsonObject = {}): Promise<DynamicObject> {
    const resource = await this.resource(applications);
    const usual = {
      repository: "git@example.com:shop",
      framework: "nextjs",
      environment: "production",
    };
    return await resource.apply(
      {
        ...applications,
        metadata: { name, namespace, ...metadata },
        spec: { ...usual, ...spec },
      },
      { fieldManager: "kubectl" },
      this.#signal,
    );
  }

  async delete(name: string, where = namespace): Promise<void> {
    await (await this.resource(applications)).delete({ namespace: where, name }, this.#signal);
  }

  async see(name: string, where = namespace): Promise<Seen | undefined> {
    const object = await this.find(applications, name, where);
    return object === undefined ? undefined : seenIn(object);
  }

  async find(
    kind: ObjectKind,
    name: string,
    where = namespace,
  ): Promise<DynamicObject | undefined> {
    const resource = await this.resource(kind);
    return await resource.find({ namespace: where, name }, this.#signal);
  }

  /** Waits until the Application is as told. */
  async until(name: string, is: (seen: Seen) => boolean, where = namespace): Promise<Seen> {
    let last: Seen | undefined;
    try {
      return await until(async () => {
        last = await this.see(name, where);
        return last !== undefined && is(last) && last;
      }, this.#signal);
    } catch (error) {
      console.error(`${name} was last seen as`, last?.phase, last?.messages, last?.owned);
      throw error;
    }
  }

  /** Waits until the Application is gone. */
  async untilGone(name: string, where = namespace): Promise<void> {
    let last: Seen | undefined;
    try {
      await until(async () => {
        last = await this.see(name, where);
        return last === undefined;
      }, this.#signal);
    } catch (error) {
      console.error(`${name} was last seen as`, last?.phase, last?.messages, last?.owned);
      throw error;
    }
  }

  /** The content of a Secret, in clear. */
  async secret(name: string, where = namespace): Promise<Record<string, string> | undefined> {
    const found = await this.find({ apiVersion: "v1", kind: "Secret" }, name, where);
    if (found === undefined) return undefined;
    const data = (found["data"] ?? {}) as Record<string, string>;
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]),
    );
  }

  /** Changes an object as somebody else would. */
  async patch(kind: ObjectKind, name: string, body: JsonObject, where = namespace): Promise<void> {
    const options = { fieldManager: "somebody" };
    const resource = await this.resource(kind);
    const ref = { namespace: where, name };
    await resource.patch(ref, { type: "strategic", body, options }, this.#signal);
  }

  /** The same of an Application, whose schema has no strategic merge. */
  async patchApplication(name: string, body: JsonObject, where = namespace): Promise<void> {
    const resource = await this.resource(applications);
    await resource.patch({ namespace: where, name }, { type: "merge", body }, this.#signal);
  }

  /** Ends the Job that migrates an app and has not ended, as its controller would. */
  async endJob(name: string, ending: "Complete" | "Failed"): Promise<void> {
    const jobs = await this.resource({ apiVersion: "batch/v1", kind: "Job" });
    const at = "2026-01-01T00:00:00Z";
    const types =
      ending === "Complete" ? ["SuccessCriteriaMet", "Complete"] : ["FailureTarget", "Failed"];
    const conditions = types.map((type) => ({ type, status: "True", lastTransitionTime: at }));
    const completionTime = ending === "Complete" ? { completionTime: at } : {};
    const body = { status: { conditions, startTime: at, ...completionTime } };
    const options = { subresource: "status" };
    const { items } = await jobs.list({ namespace }, this.#signal);
    for (const job of items) {
      const { ownerReferences = [] } = job.metadata;
      const { conditions: ended } = (job["status"] ?? {}) as { conditions?: unknown };
      if (ended !== undefined || !ownerReferences.some((owner) => owner.name === name)) continue;
      const ref = { namespace, name: job.metadata.name ?? "" };
      await jobs.patch(ref, { type: "merge", body, options }, this.#signal);
    }
  }

  /** Everything that is ours in a namespace, as `Kind name resourceVersion`. */
  async children(where = namespace): Promise<string[]> {
    const all: string[] = [];
    for (const [apiVersion, kind] of childKinds) {
      const resource = await this.resource({ apiVersion, kind });
      const labelSelector = "platform.internal/managed-by=plattr-operator";
      const { items } = await resource.list({ namespace: where, labelSelector }, this.#signal);
      const shown = items.map(
        ({ metadata: { name, resourceVersion } }) => `${kind} ${name} ${resourceVersion}`,
      );
      all.push(...shown);
    }
    return all.toSorted();
  }

  /** The reasons of the events about an Application, sorted, each once. */
  async events(name: string, where = namespace): Promise<string[]> {
    const events = await this.resource({ apiVersion: "events.k8s.io/v1", kind: "Event" });
    const { items } = await events.list({ namespace: where }, this.#signal);
    const about = items.filter((event) => {
      const { kind, name: regarding } = (event["regarding"] ?? {}) as Record<string, string>;
      return kind === "Application" && regarding === name;
    });
    return [...new Set(about.map((event) => event["reason"] as string))].toSorted();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#kept.disposeAsync();
  }
}

export function seenIn(object: DynamicObject): Seen {
  const {
    phase,
    url,
    observedGeneration,
    conditions = [],
    owned = [],
  } = (object["status"] ?? {}) as unknown as {
    phase?: string;
    url?: string;
    observedGeneration?: number;
    conditions?: readonly { type: string; status: string; reason: string; message: string }[];
    owned?: readonly { kind: string; name: string; state: string }[];
  };
  return {
    phase,
    url,
    observedGeneration,
    conditions: conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`),
    messages: Object.fromEntries(conditions.map(({ type, message }) => [type, message])),
    owned: owned.map(({ kind, name, state }) => `${kind} ${name} ${state}`),
    object,
  };
}

function clientOf(
  cluster: Pick<BedCluster, "port" | "accessAt">,
  options: Partial<ClientOptions> = {},
  port = cluster.port,
): Client {
  return new Client({
    access: cluster.accessAt(port),
    rateLimit: "none",
    userAgent: "plattr-operator",
    ...options,
  });
}

/** An account of a real S3 server, and its keys where the operator finds them for apps. */
async function openStorage(
  client: Client,
  signal: AbortSignal,
): Promise<NonNullable<OperatorSettings["storage"]>> {
  const server = await sharedS3();
  const { region, endpoint } = server;
  const account = await server.createAccount("admin");
  const kind = { apiVersion: "v1", kind: "Secret" };
  const secrets = await client.resource(kind, signal);
  const appS3Secret = "apps-s3";
  const stringData = { S3_ACCESS_KEY: account.accessKeyId, S3_SECRET_KEY: account.secretAccessKey };
  await secrets.apply(
    { ...kind, metadata: { name: appS3Secret, namespace }, stringData },
    { fieldManager: "test" },
    signal,
  );
  return { region, endpoint, appS3Secret, keys: () => Promise.resolve(account) };
}

/** A server of ours may serve them by itself; any other is taught them. */
async function serveKinds(client: Client, signal: AbortSignal): Promise<void> {
  const definitions = await client.resource(
    { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" },
    signal,
  );
  for (const definition of platformDefinitions()) {
    await definitions.apply(definition as DynamicObject, { fieldManager: "test" }, signal);
  }
  for (const kind of ["Application", "PreviewEnvironment"]) {
    await until(async () => {
      client.kinds.invalidate();
      try {
        const resource = await client.resource({ ...applications, kind }, signal);
        await resource.list({}, signal);
        return true;
      } catch (error) {
        if (isNotFound(error) || (error as { code?: string }).code === "UNKNOWN_KIND") return false;
        throw error;
      }
    }, signal);
  }
}
