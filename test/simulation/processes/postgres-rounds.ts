// Replicas on one PostgreSQL, under whatever can befall them.

import { type Random, seededRandom, systemClock } from "@keelson/base";
import { startThrowawayPostgres, type ThrowawayPostgres } from "@keelson/database/testing";
import type { StoreModule } from "../client.ts";
import type { Happening, History, HistoryRecord } from "../history.ts";
import { Observer } from "../world/look.ts";
import { resumed, watchPlans } from "./plans.ts";
import { PostgresLook } from "./postgres-look.ts";
import { type ProcessRoundsOptions, storeModule } from "./sqlite-rounds.ts";
import { Stuck, WorkerProcess } from "./worker-process.ts";

export interface PostgresRoundsOptions extends ProcessRoundsOptions {
  readonly flavour: "embedded" | "system";
  readonly replicas: number;
  /** Which share of the commits stalls. */
  readonly stalls?: number;
  /** All of them unless some are chosen. */
  readonly misfortunes?: readonly Misfortune[];
  /** Off is faster, and as good while the machine itself stays up. On by default. */
  readonly fsync?: boolean;
  /** Answers that every replica gets in peace before the first misfortune. */
  readonly peace?: number;
}

/** Runs replicas, visits them with misfortunes, and lets them come to rest. */
export async function disturbPostgres(options: PostgresRoundsOptions): Promise<History> {
  const { seed, rounds, flavour, replicas, peace = 30, fsync = true } = options;
  const { module = storeModule } = options;
  const chosen = options.misfortunes ?? (Object.keys(misfortunes) as Misfortune[]);
  await using server = await startThrowawayPostgres({ flavour, fsync, settings: lazyLog });
  await using database = await server.createDatabase();
  const { migratePostgres } = (await import(module)) as StoreModule;
  await migratePostgres({ url: database.url, schema: "ark" });
  await using look = new PostgresLook(database.url);
  await look.stallCommits(options.stalls ?? 0.05);
  await using scene = new Scene({ seed, module, url: database.url, look, server });
  for (let index = 0; index < replicas; index++) await scene.start(`replica ${index + 1}`);
  try {
    await scene.progress(peace);
    await visit(scene, { random: seededRandom(seed), chosen, rounds });
    return await scene.end();
  } catch (error) {
    // A replica that hangs is no reason to see nothing: the history so far may tell why.
    if (!(error instanceof Stuck)) throw error;
    scene.record({ type: "stuck", replica: error.replica, before: error.before });
    return await scene.breakOff();
  }
}

interface Visits {
  readonly random: Random;
  readonly chosen: readonly Misfortune[];
  readonly rounds: number;
}

async function visit(scene: Scene, { random, chosen, rounds }: Visits): Promise<void> {
  let order: readonly Misfortune[] = [];
  for (let round = 0; round < rounds; round++) {
    // Each of them once before any comes again.
    if (order.length === 0) order = random.shuffle(chosen);
    const [misfortune, ...others] = order;
    order = others;
    if (misfortune !== undefined) await misfortunes[misfortune](scene, random);
    await scene.progress(20);
  }
}

/** Nobody writes the log of PostgreSQL to the disk but a commit that waits for it: one that does not is lost. */
const lazyLog = { wal_writer_delay: "10s", wal_writer_flush_after: "1GB" };

/** How soon after its database a replica must serve again. */
const healingMsMax = 30_000;

/** What can befall replicas and their database. */
const misfortunes = {
  async kill(scene, random) {
    const worker = random.pick(scene.running);
    const count = worker.records.length + 1 + random.integer(100);
    await worker.until(() => worker.records.length >= count, "the instant of its kill");
    await worker.kill();
    await scene.start(`${worker.config.name}'`, worker);
  },
  async restart({ server, running, record }, random) {
    // Just after an acknowledgement: whatever is not on the disk by now should have been.
    const worker = random.pick(running);
    const count = worker.acknowledged + 1;
    await worker.until(() => worker.acknowledged >= count, "an acknowledgement");
    record({ type: "trouble", replica: "*", state: "begins", what: "immediate restart" });
    await server.restart({ mode: "immediate" });
    // Whoever has not healed by then has no excuse any more.
    const { promise: late, resolve } = Promise.withResolvers<void>();
    using _deadline = systemClock.after(healingMsMax, resolve);
    const healed = Promise.all(running.map((worker) => worker.order({ order: "heal" })));
    await Promise.race([healed, late]);
    record({ type: "trouble", replica: "*", state: "ends", what: "immediate restart" });
    await healed;
  },
  async hold({ look }) {
    await look.holdCounter();
  },
  async deafen({ look, record }) {
    record({ type: "deaf", replica: "*" });
    await look.terminateListeners();
  },
  async silence(scene) {
    const { look, record } = scene;
    record({ type: "deaf", replica: "*" });
    await look.setWakeUps(false);
    await scene.progress(30);
    await look.setWakeUps(true);
  },
  async cut({ observer, running }, random) {
    const head = await observer.observe();
    const upTo = Math.max(1, head - random.integer(50));
    await random.pick(running).order({ order: "cut", upTo });
  },
} as const satisfies Record<string, (scene: Scene, random: Random) => Promise<void>>;

export type Misfortune = keyof typeof misfortunes;

interface SceneOptions {
  readonly seed: string;
  readonly module: string;
  readonly url: string;
  readonly look: PostgresLook;
  readonly server: ThrowawayPostgres;
}

/** The replicas of a run and what is recorded of them. */
class Scene implements AsyncDisposable {
  readonly look: PostgresLook;
  readonly server: ThrowawayPostgres;
  readonly observer: Observer;
  readonly #options: SceneOptions;
  readonly #own: HistoryRecord[] = [];
  readonly #workers: WorkerProcess[] = [];
  #running: WorkerProcess[] = [];
  readonly #looking = new AbortController();
  #looks: Promise<void> | undefined;

  constructor(options: SceneOptions) {
    this.#options = options;
    this.look = options.look;
    this.server = options.server;
    this.observer = new Observer(options.look, this);
    this.#looks = this.#keepLooking(this.#looking.signal);
  }

  get running(): readonly WorkerProcess[] {
    return this.#running;
  }

  readonly record = (happening: Happening): void => {
    this.#own.push({ ...happening, at: Number(process.hrtime.bigint()) });
  };

  /** Starts a replica, in place of one that was killed if there is one. */
  async start(name: string, instead?: WorkerProcess): Promise<void> {
    const { seed, module, url } = this.#options;
    const watches =
      instead === undefined ? watchPlans() : resumed(instead.config.watches, instead.records);
    const database = { type: "postgresql", url } as const;
    const config = { name, seed: `${seed}/${name}`, module, database, clients: 4, watches };
    const worker = new WorkerProcess(config);
    this.#workers.push(worker);
    this.#running = [...this.#running.filter((other) => other !== instead), worker];
    await worker.started();
    if (worker.refusal !== undefined) throw new Error(`${name}: ${worker.refusal}`);
  }

  /** Waits until every replica has done so much more. */
  async progress(answers: number): Promise<void> {
    await Promise.all(
      this.#running.map((worker) => {
        const goal = worker.answers + answers;
        return worker.until(() => worker.answers >= goal, `${goal} answers`);
      }),
    );
  }

  async end(): Promise<History> {
    const all = this.#running;
    await Promise.all(all.map((worker) => worker.order({ order: "finish" })));
    this.#looking.abort();
    await this.#looks;
    const head = await this.observer.observe();
    await Promise.all(all.map((worker) => worker.order({ order: "settle", head })));
    await Promise.all(all.map((worker) => worker.leave()));
    return await this.#history();
  }

  /** Ends it at once, whatever the replicas are doing. */
  async breakOff(): Promise<History> {
    await this[Symbol.asyncDispose]();
    return await this.#history();
  }

  async #history(): Promise<History> {
    await this.observer.observe();
    const records = [...this.#own, ...this.#workers.flatMap((worker) => worker.records)];
    return { records: records.sort((a, b) => a.at - b.at), tables: await this.look.tables() };
  }

  /** Looks again and again: what becomes visible too late was missing at some moment. */
  async #keepLooking(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // While the server restarts there is nothing to see.
      await this.observer.observe().catch(() => undefined);
      await systemClock.sleep(10, signal).catch(() => undefined);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#looking.abort();
    await this.#looks;
    for (const worker of this.#workers) await worker.kill();
  }
}
