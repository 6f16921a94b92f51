// Histories over HTTP under misfortunes: kill -9 of real servers, a database that restarts, commits that stall.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { seededRandom } from "@keelson/base";
import { startThrowawayPostgres } from "@keelson/database/testing";

import { HistoryRecorder, type History } from "../../simulation/history.ts";
import { PostgresLook } from "../../simulation/processes/postgres-look.ts";
import { Observer, type Look } from "../../simulation/world/look.ts";
import { HttpClient } from "../../tools/http-client.ts";
import { createNamespace } from "../create-namespace.ts";
import { startOurs, type Driver } from "../ours.ts";
import type { Target } from "../target.ts";
import { Clients } from "./clients.ts";
import { onlyOurs } from "./looking.ts";
import { startPlace, type Place, type StartPlace } from "./place.ts";
import { namespaces, podTemplates, type HistoryObjects } from "./pod-templates.ts";

export interface RoundsOptions {
  readonly seed: string;
  readonly rounds: number;
}

export interface PlacedOptions {
  readonly driver: Driver;
  /** Our server by itself unless told. */
  readonly start?: StartPlace;
}

const workMsMax = 240_000;
/** Some change nothing. */
const writesMin = 200;

/** One server, killed again and again while twelve clients use it; no more once `isOver`. */
export async function killOverHttp(
  {
    seed,
    rounds,
    driver,
    start = startPlace,
    isOver = () => false,
  }: RoundsOptions & PlacedOptions & { readonly isOver?: () => boolean },
  signal: AbortSignal,
): Promise<History> {
  await using place = await start({ driver }, signal);
  const { server } = place;
  const random = seededRandom(seed);
  const recorder = new HistoryRecorder();
  const scene = new Scene({ seed, ...sceneOf(place), recorder });
  return await scene.play(async () => {
    for (let round = 0; round < rounds && !isOver() && !signal.aborted; round += 1) {
      await scene.progress(20 + random.integer(200));
      recorder.record({ type: "trouble", replica: "server", state: "begins", what: "kill -9" });
      await server.stop("SIGKILL");
      await scene.observer.observe();
      await place.assertWhole();
      await server.start(signal);
      recorder.record({ type: "trouble", replica: "server", state: "ends", what: "kill -9" });
      scene.hurry();
    }
    await scene.progress(100);
  }, signal);
}

/** One server whose commits stall: 2 % of them for 400 ms, while twelve clients write and others watch. */
export async function stallOverHttp(
  {
    seed,
    seconds,
    driver,
    start = startPlace,
  }: PlacedOptions & { readonly seed: string; readonly seconds: number },
  signal: AbortSignal,
): Promise<History> {
  await using place = await start({ driver, stalls: { share: 0.02, ms: 400 } }, signal);
  const recorder = new HistoryRecorder();
  const scene = new Scene({ seed, ...sceneOf(place), recorder });
  const working = async (): Promise<void> => {
    await wait(seconds * 1_000, undefined, { signal });
    await scene.progress(500); // On a slow machine little has happened by now.
  };
  return await scene.play(working, signal);
}

/** Two replicas on one PostgreSQL with commits that stall; the database restarts, replicas are killed. */
export async function disturbOverHttp(
  { seed, rounds }: RoundsOptions,
  signal: AbortSignal,
): Promise<History> {
  await using postgres = await startThrowawayPostgres({ flavour: "embedded", fsync: true }, signal);
  await using database = await postgres.createDatabase();
  const random = seededRandom(seed);
  const recorder = new HistoryRecorder();
  await using undo = new AsyncDisposableStack();
  const certDir = mkdtempSync(join(tmpdir(), "keelson-replicas-"));
  undo.defer(() => rmSync(certDir, { recursive: true, force: true }));
  const options = { driver: "postgresql", databaseUrl: database.url, certDir } as const;
  const first = undo.use(await startOurs(options, signal));
  const second = undo.use(await startOurs(options, signal));
  const look = undo.use(new PostgresLook(database.url));
  await look.stallCommits(0.02);
  const servers = new Map([
    ["one", first],
    ["two", second],
  ]);
  const scene = new Scene({ seed, servers, look, recorder });
  return await scene.play(async () => {
    for (let round = 0; round < rounds; round += 1) {
      await scene.progress(100 + random.integer(100));
      if (round % 2 === 0) {
        recorder.record({
          type: "trouble",
          replica: "*",
          state: "begins",
          what: "immediate restart",
        });
        await postgres.restart({ mode: "immediate" });
        // Ten seconds after its database nobody but a busy machine has an excuse any more.
        await wait(10_000, undefined, { signal });
        await Promise.all([first, second].map((server) => untilWell(server, signal)));
        recorder.record({
          type: "trouble",
          replica: "*",
          state: "ends",
          what: "immediate restart",
        });
      } else {
        const [name, server] = random.pick([...servers]);
        recorder.record({ type: "trouble", replica: name, state: "begins", what: "kill -9" });
        await server.stop("SIGKILL");
        await server.start(signal);
        recorder.record({ type: "trouble", replica: name, state: "ends", what: "kill -9" });
        scene.hurry();
      }
    }
    await scene.progress(150);
  }, signal);
}

/** Resolves when a server answers whatever it is asked, many times at once and again: no connection it has is dead. */
async function untilWell({ client }: Pick<Target, "client">, signal: AbortSignal): Promise<void> {
  const path = podTemplates.collectionOf("");
  const isAnswered = async (): Promise<boolean> =>
    (await client.send({ path }, signal).catch(() => undefined))?.status === 200;
  for (let well = 0; well < 8; well += 1) {
    const answered = await Promise.all(Array.from({ length: 6 }, isAnswered));
    if (answered.every(Boolean)) continue;
    well = -1;
    await wait(20, undefined, { signal });
  }
}

/** How often a server was killed in a history. */
export function killsIn({ records }: Pick<History, "records">): number {
  return records.filter((record) => record.type === "trouble" && record.state === "begins").length;
}

/** The one server of a place. */
function sceneOf({
  server,
  look,
  cluster,
  objects,
}: Place): Omit<SceneOptions, "seed" | "recorder"> {
  return {
    servers: new Map([["server", server]]),
    look,
    ...(cluster === undefined ? {} : { cluster }),
    ...(objects === undefined ? {} : { objects }),
  };
}

/** Servers under observation. */
export interface SceneOptions {
  readonly seed: string;
  readonly servers: ReadonlyMap<string, Pick<Target, "url" | "ca" | "admin">>;
  /** The admin's requests, to whoever keeps the namespaces; the first server unless told. */
  readonly cluster?: Pick<Target, "client">;
  /** PodTemplates unless told. */
  readonly objects?: HistoryObjects;
  readonly look: Look;
  readonly recorder: HistoryRecorder;
}

/** Clients at servers, and everything they see on record. */
export class Scene {
  readonly observer: Observer;
  readonly #options: SceneOptions;
  readonly #look: Look;
  #clients: Clients | undefined;

  constructor(options: SceneOptions) {
    this.#options = options;
    this.#look = onlyOurs(options.look, (options.objects ?? podTemplates).kind);
    this.observer = new Observer(this.#look, options.recorder);
  }

  /** Waits until the clients have had so many more answers. */
  async progress(answers: number): Promise<void> {
    await this.#until("answers", (this.#clients?.answers ?? 0) + answers);
  }

  /** A server that was gone is back. */
  hurry(): void {
    this.#clients?.hurry();
  }

  async #until(what: "answers" | "acknowledged", goal: number): Promise<void> {
    const clients = this.#clients;
    if (clients === undefined) return;
    const deadline = performance.now() + workMsMax;
    while (clients[what] < goal) {
      if (performance.now() > deadline)
        throw new Error(`the clients have come to ${clients[what]} of ${goal} ${what}`);
      await wait(5);
    }
  }

  async play(misfortunes: () => Promise<void>, signal: AbortSignal): Promise<History> {
    const { seed, servers, recorder, cluster, objects = podTemplates } = this.#options;
    const [server] = servers.values();
    const { url = "", ca = "", admin } = server ?? {};
    using first = new HttpClient({ url, ca, ...admin });
    for (const name of namespaces) {
      await createNamespace({ client: cluster?.client ?? first }, name, signal);
    }
    using clients = new Clients({ seed, servers, recorder, writers: 12, objects });
    this.#clients = clients;
    const working = clients.run();
    const watching = clients.watch();
    const looking = new AbortController();
    const looks = this.#keepLooking(looking.signal);
    try {
      await misfortunes();
      // On a slow machine little of what was asked was a change, and of nothing nothing is judged.
      await this.#until("acknowledged", writesMin);
    } finally {
      clients.finish();
      looking.abort();
      await working;
      await looks;
    }
    const mark = await clients.mark();
    const head = await this.observer.observe();
    await clients.settle({ mark, head });
    await watching;
    return { records: recorder.records, tables: await this.#look.tables() };
  }

  async #keepLooking(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const from = performance.now();
      await this.observer.observe().catch(() => undefined);
      // The longer the log the longer a look: most of the time is the writers'.
      const pauseMs = Math.max(50, 4 * (performance.now() - from));
      await wait(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
