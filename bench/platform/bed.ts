// `keelson up` as a user runs it, with the operator in it; what the operator asks of the cluster, by the audit log, and what
// it writes into the database of apps, by PostgreSQL's own counters.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "@keelson/base";
import { Client, loadKubeconfig, type DynamicObject } from "@keelson/client";
import { openDatabase, statement } from "@keelson/database";
import { KeelsonProcess } from "../../test/e2e/keelson-process.ts";
import { samplesAt } from "../../test/apiserver/scenarios/metrics.ts";
import { until } from "../../test/tools/until.ts";
import type { Run } from "../suite.ts";

export const apiVersion = "platform.internal/v1alpha1";

/** A request of the operator to the cluster. */
export interface Asked {
  readonly verb: string;
  /** `deployments`, `applications/status`. */
  readonly resource: string;
}

export interface Bed extends AsyncDisposable {
  readonly client: Client;
  readonly pid: number;
  /** Everything that the operator has asked for since its process started. */
  asked(): Promise<readonly Asked[]>;
  /** Rows that were written in the database of apps, and in what all databases share, since the server started. */
  rowsWritten(): Promise<number>;
  /** Apps whose database the operator has found or made to be right since its process started. */
  appsLookedAt(): Promise<number>;
}

/** Several may run in the folder, one after the other. */
export async function startBed(folder: string, { signal }: Pick<Run, "signal">): Promise<Bed> {
  await using setup = new AsyncDisposableStack();
  const auditLog = join(folder, `audit-${process.hrtime.bigint()}.jsonl`);
  const flags = ["--log-level", "error", "--audit-log-path", auditLog];
  const keelson = new KeelsonProcess(join(folder, "data"), { flags });
  setup.defer(async () => void (await keelson.stop()));
  const { kubeconfig = "", database: url = "", metrics = "" } = await keelson.ready(signal);
  const access = await loadKubeconfig({ files: [kubeconfig] }, { clock: systemClock });
  const client = setup.use(new Client({ access, rateLimit: "none", userAgent: "bench" }));
  const ofApps = new URL(url);
  ofApps.pathname = "/plattr";
  const database = setup.use(openDatabase({ url: ofApps.href, name: "bench", deadlineMs: 60_000 }));
  const kept = setup.move();
  let looks = 0;
  return {
    client,
    pid: keelson.pid,
    asked: async () => {
      // Another request behind them: what was written before it has arrived once it has, too.
      looks += 1;
      await (
        await client.resource({ apiVersion: "v1", kind: "ConfigMap" }, signal)
      ).list({ namespace: "default" }, signal);
      const lines = await until(() => {
        const read = readFileSync(auditLog, "utf8").trimEnd().split("\n").map(lineOf);
        return read.filter(isLook).length >= looks && read;
      }, signal);
      return lines.filter(({ userAgent }) => userAgent.includes("operator")).map(askedOf);
    },
    rowsWritten: async () => {
      const [row] = await database.run(countRows, undefined, signal);
      return Number(row?.rows ?? Number.NaN);
    },
    appsLookedAt: async () => {
      const looks = await samplesAt(metrics, signal);
      return looks
        .filter(({ name }) => name === "plattr_reconcile_total")
        .filter(({ labels }) => labels["resource_type"] === "database")
        .filter(({ labels }) => labels["result"] === "success").length;
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/**
 * Roles are among them: shared catalogs count in every database. What is only for the planner does not, nor do the rows
 * of databases, which a start of `keelson up` itself closes to apps.
 */
const countRows = statement<undefined, { readonly rows: string }>(
  "countRows",
  (sql) => sql`
    SELECT sum(n_tup_ins + n_tup_upd + n_tup_del)::text AS rows
    FROM pg_stat_all_tables WHERE relname NOT LIKE 'pg_statistic%' AND relname <> 'pg_database'`,
);

interface Line {
  readonly verb: string;
  readonly userAgent: string;
  readonly object?: { readonly resource?: string; readonly subresource?: string };
}

function lineOf(text: string): Line {
  return JSON.parse(text) as Line;
}

/** No other request of the benchmark is for these. */
function isLook({ userAgent, object }: Line): boolean {
  return userAgent === "bench" && object?.resource === "configmaps";
}

function askedOf({ verb, object: { resource = "", subresource = "" } = {} }: Line): Asked {
  return { verb, resource: subresource === "" ? resource : `${resource}/${subresource}` };
}

const reading = new Set(["get", "list", "watch", ""]);

export function isWrite({ verb }: Asked): boolean {
  return !reading.has(verb);
}

/** Of objects that apps are made of; what the operator says of them, and who leads, is something else. */
export function isOfChildren({ resource }: Asked): boolean {
  return !/^(applications|previewenvironments|leases|events)(\/|$)/.test(resource);
}

/** An app with a database, as small as they come. */
export function databaseApp(name: string): DynamicObject {
  return {
    apiVersion,
    kind: "Application",
    metadata: { name, namespace: "default" },
    spec: {
      repository: "https://git.example.com/bench",
      framework: "nextjs",
      environment: "staging",
      imageRef: "registry.example.com/bench:1",
      database: { enabled: true },
    },
  };
}

/** How many objects of a kind there are, by their phases. */
export async function phases(
  client: Client,
  kind: "Application" | "PreviewEnvironment",
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const { items } = await (await client.resource({ apiVersion, kind }, signal)).list({}, signal);
  const counts = new Map<string, number>();
  for (const { status } of items) {
    const { phase = "none" } = (status ?? {}) as { readonly phase?: string };
    counts.set(phase, (counts.get(phase) ?? 0) + 1);
  }
  return counts;
}
