// The API of cluster lifecycle on a real REST server, behind a gateway, and a real database, for the length of a test.

import {
  noMetrics,
  RestError,
  silentLog,
  systemClock,
  systemRandom,
  type Clock,
  type Json,
  type JsonObject,
  type Log,
} from "@keelson/base";
import { buildClusterLifecycle, clustersRoutes, passOnce } from "@keelson/clusters";
import type { ClusterLifecycle, ClusterLifecycleOptions } from "@keelson/clusters";
import type { ClustersDatabase } from "@keelson/clusters/testing";
import { DatabaseError, type DatabaseOptions } from "@keelson/database";
import { ApiDocument, buildRest, gatewayAuthenticator } from "@keelson/keelson";
import { answerCheck } from "../services/answer-check.ts";
import { eventsOn, freshDatabase, never } from "./events-bed.ts";
import { topicsModule } from "./topics-module.ts";

export interface Answer {
  readonly code: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Whatever the body holds: tests compare it. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

export type Method = "GET" | "POST" | "PUT" | "DELETE" | "PATCH";

export interface ClustersRest extends AsyncDisposable {
  readonly tables: ClustersDatabase;
  readonly service: ClusterLifecycle;
  /** Asks as `who`: an address, or headers of one's own. A text is sent as it is. */
  ask(
    who: Who,
    method: Method,
    path: string,
    body?: Json | string,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Creates a cluster and gives its id. */
  cluster(who: Who, name?: string, spec?: Json): Promise<string>;
  /** Reports as the controller `name`. */
  report(path: string, name: string, more?: object): Promise<Answer>;
  /** Gives events their positions and the stale statuses their cache. */
  settle(): Promise<void>;
  /** The data of all events so far, in their order. */
  events(): Promise<readonly Record<string, unknown>[]>;
}

export type Who = string | Readonly<Record<string, string>>;

export const alice = "alice@example.com";
export const bob = "bob@example.com";
export const ctl = "controller@system.local";
export const gatewaySecret = "only the gateway knows";

/** No resource has it. */
export const unknownId = "00000000-0000-4000-8000-000000000000";

export const gcp = { platform: { type: "gcp" } };
export const release = (more: JsonObject) => ({ ...gcp, release: more });

export interface RestOptions extends Partial<
  Pick<
    ClusterLifecycleOptions,
    | "rules"
    | "defaults"
    | "controllerIdentities"
    | "wakesDependents"
    | "wakesPerMinuteMax"
    | "controllerEmail"
  >
> {
  readonly clock?: Clock;
  readonly onStatement?: DatabaseOptions["onStatement"];
  readonly log?: Log;
}

export async function startClustersRest({
  clock = systemClock,
  onStatement,
  log = silentLog,
  ...options
}: RestOptions = {}): Promise<ClustersRest> {
  await using setup = new AsyncDisposableStack();
  const tables = setup.use(await freshDatabase());
  // The API has a pool of its own: what tests look at is not what they disturb.
  const database = tables.openAnother(onStatement === undefined ? {} : { onStatement });
  const { events } = eventsOn(database);
  const { outbox } = events;
  const service = buildClusterLifecycle({
    database,
    outbox,
    clock,
    random: systemRandom,
    log,
    metrics: noMetrics,
    rules: { graceMs: 1_800_000, recentMs: 300_000, fatalFails: true },
    defaults: { clusterVersion: undefined, channelGroup: undefined },
    controllerEmail: ctl,
    controllerIdentities: {},
    wakesDependents: true,
    ...options,
  });
  const document = new ApiDocument({ version: "0" });
  const clusters = clustersRoutes(service, { events, clock: systemClock });
  const rest = setup.use(
    await buildRest({
      document,
      authenticator: gatewayAuthenticator({ secret: gatewaySecret, acceptsCertificates: false }),
      corsOrigins: undefined,
      translate: (error) =>
        error instanceof DatabaseError && error.isTransient
          ? new RestError("DATABASE_UNAVAILABLE", "the database is not available")
          : undefined,
      modules: [clusters, topicsModule(clusters)],
      limits: { readMs: 30_000, writeMs: 30_000, idleMs: 120_000, drainMs: 10_000 },
      clock: systemClock,
      random: systemRandom,
      logsRequests: false,
      log: silentLog,
      metrics: noMetrics,
    }),
  );

  const check = answerCheck(document);
  const ask: ClustersRest["ask"] = async (who, method, path, body, headers = {}) => {
    const answer = await rest.app.inject({
      method,
      url: `/api/v1${path}`,
      headers: {
        host: "127.0.0.1",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(typeof who === "string"
          ? { "x-user-email": who, "x-gateway-secret": gatewaySecret }
          : who),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { payload: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const code = answer.statusCode;
    const parsed = answer.body === "" ? undefined : JSON.parse(answer.body);
    const [route = ""] = `/api/v1${path}`.split("?", 1);
    check({ method, path: route, code, body: parsed });
    return { code, headers: answer.headers, body: parsed };
  };
  const settle = async (): Promise<void> => {
    await passOnce(service, never);
    await outbox.numberAll(never);
    await service.denials.flush(never);
  };
  const kept = setup.move();
  return {
    tables,
    service,
    ask,
    settle,
    cluster: async (who, name = "one", spec = gcp) => {
      const { code, body } = await ask(who, "POST", "/clusters", { name, spec });
      if (code !== 201) throw new Error(`${code} ${JSON.stringify(body)}`);
      return body.id as string;
    },
    report: (path, name, more = {}) =>
      ask(ctl, "PUT", `${path}/status`, {
        controller_name: name,
        observed_generation: 1,
        conditions: [available()],
        ...more,
      }),
    events: async () => {
      await outbox.numberAll(never);
      const rows = await tables.query<{ data: Record<string, unknown> }>(
        `SELECT data FROM outbox ORDER BY position`,
      );
      return rows.map(({ data }) => data);
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** The phase that a resource shows its owner, and why. */
export async function saidOf(it: ClustersRest, path: string): Promise<string> {
  const { phase, reason } = (await it.ask(alice, "GET", path)).body.status;
  return `${phase}/${reason}`;
}

export function available(status: "True" | "False" | "Unknown" = "True", more: object = {}) {
  return { type: "Available", status, reason: "Told", message: "", ...more };
}

export function failure(errorType: string, more: object = {}) {
  return { errorType, errorCode: "E1", message: "it did not work", ...more };
}

export async function code(answer: ReturnType<ClustersRest["ask"]>): Promise<number> {
  return (await answer).code;
}
