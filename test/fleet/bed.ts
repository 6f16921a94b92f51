// A cluster of our own, fleet's API and workers between them, for the length of a test.

import assert from "node:assert/strict";
import { TaskScope } from "@keelson/base";
import { RecordingMetrics } from "@keelson/base/testing";
import { Client, type DynamicObject, type ResourceClient } from "@keelson/client";
import type { StatementPoint } from "@keelson/database";
import type { ThrowawayPostgres } from "@keelson/database/testing";
import { TcpProxy } from "../tools/tcp-proxy.ts";
import { until } from "../tools/until.ts";
import { assembleWorker } from "./assembled-worker.ts";
import { startCluster } from "../tools/test-cluster.ts";
import { HttpProxy } from "../tools/http-proxy.ts";
import { startFleetRest, type FleetRest } from "./fleet-rest.ts";

export const web = {
  cluster_id: "prod",
  namespace: "default",
  kind: "ConfigMap",
  name: "web",
  desired_spec: { data: { a: "1" } },
};

export interface Bed extends AsyncDisposable {
  readonly rest: FleetRest;
  readonly client: Client;
  /** Where the cluster answers. */
  readonly server: string;
  /** The object of the cluster, or undefined. */
  find(kind: string, name: string, apiVersion?: string): Promise<DynamicObject | undefined>;
  create(body: object): Promise<number>;
  status(id: number): Promise<string>;
  /** Waits until a fact of the resource holds. */
  becomes(id: number, fact: (body: Details) => boolean): Promise<Details>;
  /** Waits until the resource is there no more. */
  goes(id: number): Promise<void>;
  /** The collection in which tests meddle. */
  configMaps(): Promise<ResourceClient>;
  /** A worker on the target: it delivers, and watches. */
  startWorker(options?: WorkerOptions): Worker;
  /** What workers count. */
  readonly metrics: RecordingMetrics;
}

/** Below the shortest usual lease; also for reads: a worker that stops waits for what is under way. */
const callTimeoutMsUsual = 5_000;

/** How many calls a worker has under way at once. */
export const inFlightMax = 8;

/** What a GET answers: tests look into it as they like. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Details = any;

export interface WorkerOptions {
  readonly leaseMs?: number;
  /** How long a call may take. */
  readonly callTimeoutMs?: number;
  readonly backoffMs?: { readonly min: number; readonly max: number };
  /** How often it is asked which kinds are in use. */
  readonly kindsMs?: number;
  /** At each of its statements, besides what is called at those of all. */
  readonly onStatement?: (point: StatementPoint) => void | Promise<void>;
}

export interface Worker extends AsyncDisposable {
  stop(): Promise<void>;
}

export async function startBed(
  signal: AbortSignal,
  {
    onStatement,
    viaProxy = false,
    viaHttp = false,
    simulatesWorkloads = false,
    postgres,
  }: {
    readonly onStatement?: (point: StatementPoint) => void | Promise<void>;
    readonly viaProxy?: boolean;
    /** Workers reach the cluster by a proxy that may answer for it. */
    readonly viaHttp?: boolean;
    readonly simulatesWorkloads?: boolean;
    /** Where a test ends or restarts it, a server of its own. */
    readonly postgres?: ThrowawayPostgres;
  } = {},
): Promise<Bed & { readonly proxy: TcpProxy | undefined; readonly http: HttpProxy | undefined }> {
  await using setup = new AsyncDisposableStack();
  const cluster = setup.use(await startCluster({ simulatesWorkloads }, signal));
  const { port } = cluster;
  const proxy = viaProxy ? setup.use(await TcpProxy.to(port)) : undefined;
  const http = viaHttp ? setup.use(await HttpProxy.to(port)) : undefined;
  const own = new Map([["prod", cluster.accessAt(proxy?.port ?? http?.port ?? port)]]);
  const rest = setup.use(await startFleetRest({ own, postgres }));
  // What comes later goes first.
  const later = setup.use(new AsyncDisposableStack());
  const clientAt = (at: number): Client =>
    later.use(
      new Client({
        access: cluster.accessAt(at),
        timeoutMs: 60_000, // Of the test itself: a busy machine is no cluster that is away.
        rateLimit: { perSecond: 10_000, burst: 10_000 },
      }),
    );
  const client = clientAt(port);
  await rest.tables.query(`INSERT INTO targets (cluster_id, in_process) VALUES ('prod', true)`);
  const metrics = new RecordingMetrics();
  let workers = 0;
  const startWorker: Bed["startWorker"] = ({
    leaseMs = 30_000,
    callTimeoutMs = callTimeoutMsUsual,
    backoffMs = { min: 50, max: 500 },
    kindsMs = 600_000,
    onStatement: onOwnStatement,
  } = {}) => {
    const database = rest.tables.openAnother({
      onStatement: async (point) => {
        await onStatement?.(point);
        await onOwnStatement?.(point);
      },
    });
    const worker = assembleWorker({
      database,
      own,
      owner: `worker ${++workers}`,
      // As good as no poll: what only that would find makes a test wait for ever.
      limits: { leaseMs, kindsMs, pollMs: 3_600_000, inFlightMax, backoffMs },
      callTimeoutMs,
      metrics,
      signal,
    });
    const scope = new TaskScope(signal);
    worker.run(scope);
    const stop = async (): Promise<void> => {
      await scope[Symbol.asyncDispose]();
      await worker[Symbol.asyncDispose]();
    };
    later.defer(stop);
    return { stop, [Symbol.asyncDispose]: stop };
  };
  const kept = setup.move();
  return {
    rest,
    client,
    server: `http://127.0.0.1:${port}`,
    proxy,
    http,
    metrics,
    startWorker,
    find: async (kind, name, apiVersion = "v1") => {
      const objects = await client.resource({ apiVersion, kind }, signal);
      const ref = objects.resource.isNamespaced ? { name, namespace: "default" } : { name };
      return objects.find(ref, signal);
    },
    create: async (body) => {
      const answer = await rest.ask("POST", "/resources", body as never);
      assert.equal(answer.code, 201, JSON.stringify(answer.body));
      return answer.body.id as number;
    },
    status: async (id) => (await rest.ask("GET", `/resources/${id}`)).body.status as string,
    becomes: async (id, fact) => {
      let last: { body: Details } | undefined;
      await until(async () => {
        last = await rest.ask("GET", `/resources/${id}`);
        return fact(last.body);
      }, signal);
      return last?.body ?? {};
    },
    goes: async (id) => {
      await until(async () => (await rest.ask("GET", `/resources/${id}`)).code === 404, signal);
    },
    configMaps: () => client.resource({ apiVersion: "v1", kind: "ConfigMap" }, signal),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

export const synced = ({ status }: Details) => status === "synced";

export const applied = (generation: number) => (body: Details) =>
  body.applied?.generation === generation;

/** A definition with a plural that nobody would guess. */
export function definitionOf(group: string, kind: string, plural: string): object {
  const schema = {
    openAPIV3Schema: {
      type: "object",
      properties: { spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
    },
  };
  return {
    cluster_id: "prod",
    kind: "CustomResourceDefinition",
    name: `${plural}.${group}`,
    api_version: "apiextensions.k8s.io/v1",
    desired_spec: {
      spec: {
        group,
        scope: "Namespaced",
        names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
        versions: [{ name: "v1", served: true, storage: true, schema }],
      },
    },
  };
}
