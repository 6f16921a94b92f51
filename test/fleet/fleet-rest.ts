// Fleet's API on a real REST server and a real database, for the length of a test.

import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  noMetrics,
  RestError,
  silentLog,
  systemClock,
  systemRandom,
  TaskScope,
  type Json,
  type Log,
  type Metrics,
} from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";
import type { Access } from "@keelson/client";
import { DatabaseError, Wakeups, type DatabaseOptions } from "@keelson/database";
import {
  eachPostgres,
  sharedThrowawayPostgres,
  type ThrowawayPostgres,
} from "@keelson/database/testing";
import {
  DryRuns,
  EventLog,
  fleetRoutes,
  GlobalDryRuns,
  Globals,
  Resources,
  SecretMarkers,
  TargetClients,
  TargetDryRuns,
  Targets,
  WorkBell,
  type EventLimits,
  type FleetRoutesOptions,
} from "@keelson/fleet";
import { createFleetDatabase, type FleetDatabase } from "@keelson/fleet/testing";
import {
  ApiDocument,
  believingAuthenticator,
  buildRest,
  tokenAuthenticator,
} from "@keelson/keelson";
import { loadBuiltinKinds } from "@keelson/kube";
import { answerCheck } from "../services/answer-check.ts";
import { testCipher } from "./assembled-worker.ts";

export interface Answer {
  readonly code: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Whatever the body holds: tests compare it. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

export interface FleetRest extends AsyncDisposable {
  readonly tables: FleetDatabase;
  readonly events: EventLog;
  readonly document: ApiDocument;
  /** Listens on a socket, where one is needed, and gives the address. */
  listen(): Promise<string>;
  /** Writes the tokens anew, once: from then on the server follows them, by a clock that runs fast. */
  changeTokens(tokens: Tokens): Promise<void>;
  /** Numbers events, for whoever follows them. */
  runEvents(): void;
  /** Also holds what is sent and answered against the document of the API. */
  ask(
    method: "GET" | "POST" | "PUT" | "DELETE",
    path: string,
    body?: Json | string,
    headers?: Record<string, string>,
  ): Promise<Answer>;
}

/** Tokens of the fixture, by name; without any, everybody is an admin. */
export type Tokens = Readonly<
  Record<
    string,
    { readonly role: "reader" | "editor" | "admin"; readonly clusters?: readonly string[] }
  >
>;

export const bodyBytesMax = 64 * 1024;

/** Of the first server: the others have the same document. */
let checkAnswer: ReturnType<typeof answerCheck> | undefined;

export interface FleetRestOptions extends Pick<DatabaseOptions, "onStatement"> {
  /** Where its database is made; on the embedded one that all share unless told. */
  readonly postgres?: ThrowawayPostgres | undefined;
  readonly tokens?: Tokens;
  readonly eventLimits?: EventLimits;
  readonly log?: Log;
  /** Of the routes. */
  readonly metrics?: Metrics;
  /** Clusters that the API reaches by itself, for trials. */
  readonly own?: ReadonlyMap<string, Access>;
  /** Who answers for topics; without it there are none. */
  readonly topicEvents?: NonNullable<FleetRoutesOptions["topicEvents"]>;
}

/** A suite on each PostgreSQL there is, with what starts the API on it. */
export function eachFleetRest(
  name: string,
  define: (fresh: (options?: FleetRestOptions) => Promise<FleetRest>) => void,
): void {
  eachPostgres(name, (server) => {
    define(async (options = {}) => startFleetRest({ ...options, postgres: await server() }));
  });
}

export async function startFleetRest({
  postgres,
  tokens,
  onStatement,
  eventLimits = { heartbeatMs: 15_000, slowMs: 30_000 },
  log = silentLog,
  metrics = noMetrics,
  own = new Map(),
  topicEvents,
}: FleetRestOptions = {}): Promise<FleetRest> {
  await using setup = new AsyncDisposableStack();
  const server = postgres ?? (await sharedThrowawayPostgres("embedded"));
  const tables = setup.use(await createFleetDatabase(server));
  // The API has a pool of its own: what tests look at is not what they disturb.
  const database = tables.openAnother(onStatement === undefined ? {} : { onStatement });
  const stopped = new AbortController();
  const wakeups = new Wakeups({ database });
  const events = new EventLog({ database, wakeups, pollMs: 100, idleMs: 100 });
  const scope = setup.use(new TaskScope(stopped.signal));
  setup.defer(() => stopped.abort());
  const bell = new WorkBell({ wakeups, log: silentLog, signal: stopped.signal });
  const shared = {
    database,
    kinds: await loadBuiltinKinds(),
    markers: new SecretMarkers([Buffer.alloc(32, 7)]),
    bell,
    log,
  };
  const resources = new Resources({ ...shared, random: systemRandom });
  const globals = new Globals(shared);
  const clients = setup.use(
    new TargetClients({
      database,
      cipher: testCipher,
      own,
      proxies: {},
      callTimeoutMs: 10_000,
      clock: systemClock,
      random: systemRandom,
      metrics: noMetrics,
    }),
  );
  // Longer than a machine stands still; whoever tries at a cluster that is away waits as long.
  const trying = { ...shared, clients, callTimeoutMs: 15_000 };
  const sealing = { cipher: testCipher, clock: systemClock };
  const credentials = tokens === undefined ? undefined : await tokensFileOf(tokens, setup);
  const credentialsClock = new ManualClock();
  const document = new ApiDocument({ version: "0.0.0" });
  const rest = setup.use(
    await buildRest({
      document,
      authenticator:
        credentials === undefined
          ? believingAuthenticator()
          : await tokenAuthenticator({
              tokensFile: credentials.file,
              clock: credentialsClock,
              log: silentLog,
            }),
      corsOrigins: undefined,
      translate: (error) =>
        error instanceof DatabaseError && error.isTransient
          ? new RestError("DATABASE_UNAVAILABLE", "the database is not available")
          : undefined,
      modules: [
        fleetRoutes({
          resources,
          dryRuns: new DryRuns(trying),
          globals,
          globalDryRuns: new GlobalDryRuns(trying),
          targets: new Targets({ database, bell, log, ...sealing }),
          targetDryRuns: new TargetDryRuns({ ...trying, ...sealing }),
          events,
          eventLimits,
          ...(topicEvents === undefined ? {} : { topicEvents }),
          bodyBytesMax,
          batchBytesMax: 4 * 1024 * 1024,
          clock: systemClock,
          log,
          metrics,
        }),
      ],
      limits: { readMs: 30_000, writeMs: 30_000, idleMs: 120_000, drainMs: 10_000 },
      clock: credentials === undefined ? systemClock : credentialsClock,
      random: systemRandom,
      logsRequests: false,
      log: silentLog,
      metrics: noMetrics,
    }),
  );
  const kept = setup.move();
  return {
    tables,
    events,
    document,
    listen: () => rest.listen({ address: "127.0.0.1", port: 0 }),
    runEvents: () => scope.spawn("events", (within) => events.run(within)),
    changeTokens: async (changed) => {
      await credentials?.write(changed);
      scope.spawn("credentials", (within) => rest.keepFresh(within));
      scope.spawn("their clock", async (within) => {
        for (;;) {
          await credentialsClock.advance(1_000);
          await systemClock.sleep(5, within);
        }
      });
    },
    ask: async (method, path, body, headers = {}) => {
      const answer = await rest.app.inject({
        method,
        url: `/api/v1${path}`,
        headers: {
          host: "127.0.0.1",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined
          ? {}
          : { payload: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const { statusCode: code, headers: answered } = answer;
      const said = answer.body === "" ? undefined : JSON.parse(answer.body);
      checkAnswer ??= answerCheck(document);
      const sent = typeof body === "string" ? {} : { sent: throughJson(body) };
      checkAnswer({ method, path: `/api/v1${path.split("?")[0]}`, code, body: said, ...sent });
      return { code, headers: answered, body: said };
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function tokensFileOf(tokens: Tokens, setup: AsyncDisposableStack) {
  const folder = await mkdtemp(join(tmpdir(), "keelson-tokens-"));
  setup.defer(() => rm(folder, { recursive: true }));
  const file = join(folder, "tokens.json");
  const write = async (all: Tokens): Promise<void> => {
    const entries = Object.entries(all).map(([name, entry]) => ({
      name,
      sha256: createHash("sha256").update(name).digest("hex"),
      ...entry,
    }));
    await writeFile(file, JSON.stringify({ tokens: entries }));
  };
  await write(tokens);
  return { file, write };
}

/** As it arrives: members that are undefined are not there. */
function throughJson(body: Json | undefined): unknown {
  return body === undefined ? undefined : JSON.parse(JSON.stringify(body));
}

/** The header of a token of the fixture. */
export function as(name: string): Record<string, string> {
  return { authorization: `Bearer ${name}` };
}
