// `keelson up` as a user runs it, for the length of a benchmark: its API over HTTP, its cluster, its database.

import { join } from "node:path";
import { systemClock } from "@keelson/base";
import { Client, loadKubeconfig } from "@keelson/client";
import { openDatabase, type Database } from "@keelson/database";
import { KeelsonProcess, temporaryFolder } from "../../test/e2e/keelson-process.ts";
import { until } from "../../test/tools/until.ts";
import type { Row } from "../report.ts";
import { memoryRows } from "../resident.ts";
import type { Run } from "../suite.ts";

type Method = "GET" | "POST" | "PUT" | "DELETE";

export interface Bed extends AsyncDisposable {
  readonly pid: number;
  /** The cluster `local`. */
  readonly client: Client;
  /** The tables of fleet, for questions that the API does not answer. */
  readonly database: Database;
  /** Asks the API. Throws for every answer that is not a success. */
  ask<Answer = unknown>(
    method: Method,
    path: string,
    body?: object,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  /** Creates all in one batch; their ids, in order. */
  createAll(bodies: readonly object[]): Promise<readonly number[]>;
  /** Waits until so many resources are in sync, of a cluster if it is told. */
  synced(count: number, clusterId?: string): Promise<void>;
  /** What the process has in memory now, and had at most. */
  memoryRows(when: string): readonly Row[];
}

export async function startBed(
  run: Run,
  environment: Readonly<Record<string, string>> = {},
): Promise<Bed> {
  const { signal } = run;
  await using setup = new AsyncDisposableStack();
  const folder = setup.use(await temporaryFolder());
  const flags = ["--kube-port", "0", "--log-level", "error"];
  const keelson = new KeelsonProcess(join(folder.path, "data"), { flags, environment });
  setup.defer(async () => void (await keelson.stop()));
  const { rest = "", kubeconfig = "", database: url = "" } = await keelson.ready(signal);
  const access = await loadKubeconfig({ files: [kubeconfig] }, { clock: systemClock });
  const client = setup.use(new Client({ access, rateLimit: "none" }));
  const database = setup.use(
    openDatabase({ url, name: "bench", searchPath: ["fleet", "public"], deadlineMs: 600_000 }),
  );
  const ask: Bed["ask"] = async <Answer>(
    method: Method,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
  ) => {
    const typed = { "content-type": "application/json" };
    const answer = await fetch(`${rest}/api/v1${path}`, {
      method,
      signal,
      headers: { ...headers, ...(body === undefined ? {} : typed) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
    return (text === "" ? undefined : JSON.parse(text)) as Answer;
  };
  const kept = setup.move();
  return {
    pid: keelson.pid,
    client,
    database,
    ask,
    createAll: async (bodies) => {
      const changes = bodies.map((body) => ({ op: "create", ...body }));
      const { results } = await ask<{ results: { id: number }[] }>("POST", "/batch", { changes });
      return results.map(({ id }) => id);
    },
    synced: async (count, clusterId) => {
      const of = clusterId === undefined ? "" : `&cluster_id=${clusterId}`;
      const path = `/resources?status=synced&limit=1${of}`;
      await until(async () => (await ask<{ total: number }>("GET", path)).total >= count, signal);
    },
    memoryRows: (when) => memoryRows(keelson.pid, when),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** A ConfigMap that tells which write it is of. */
export function mapOf(
  clusterId: string,
  name: string,
  { namespace = "default", stamp = `${clusterId} ${name}` } = {},
): object {
  return { cluster_id: clusterId, namespace, kind: "ConfigMap", name, ...specOf(stamp) };
}

/** About 1 KB, as manifests are. */
export function specOf(stamp: string): object {
  return { desired_spec: { data: { stamp, text: filler } } };
}

const filler = "lorem ipsum dolor sit amet ".repeat(30);
