// Replicas on one PostgreSQL, under whatever can befall them.

import { type Random, seededRandom } from "@keelson/base";
import { startThrowawayPostgres, type ThrowawayPostgres } from "@keelson/database/testing";
import type { StoreModule } from "../client.ts";
import type { Happening, History, HistoryRecord } from "../history.ts";
import { Observer } from "../world/look.ts";
import { resumed, watchPlans } from "./plans.ts";
import { PostgresLook } from "./postgres-look.ts";
import { type ProcessRoundsOptions, storeModule } from "./sqlite-rounds.ts";
import { WorkerProcess } from "./worker-process.ts";

export interface PostgresRoundsOptions extends ProcessRoundsOptions {
  readonly flavour: "embedded" | "system";
  readonly replicas: number;
}

/** Runs replicas, visits them with misfortunes, and lets them come to rest. */
export async function disturbPostgres(options: PostgresRoundsOptions): Promise<History> {
  const { seed, rounds, flavour, replicas, module = storeModule } = options;
  await using server = await startThrowawayPostgres({ flavour });
  await using database = await server.createDatabase();
  const { migratePostgres } = (await import(module)) as StoreModule;
  await migratePostgres({ url: database.url, schema: "ark" });
  await using look = new PostgresLook(database.url);
  await look.stallCommits();
  await using scene = new Scene({ seed, module, url: database.url, look, server });
  for (let index = 0; index < replicas; index++) await scene.start(`replica ${index + 1}`);
  await scene.progress(30);
  const random = seededRandom(seed);
  let order: readonly Misfortune[] = [];
  for (let round = 0; round < rounds; round++) {
    // Each of them once before any comes again.
    if (order.length === 0) order = random.shuffle(misfortunes);
    const [misfortune, ...others] = order;
    order = others;
    await misfortune?.(scene, random);
    await scene.progress(20);
    await scene.observer.observe();
  }
  return scene.end();
}

type Misfortune = (scene: Scene, random: Random) => Promise<void>;

const misfortunes: readonly Misfortune[] = [
  async function kill(scene, random) {
    const worker = random.pick(scene.running);
    const count = worker.records.length + 1 + random.integer(100);
    await worker.until(() => worker.records.length >= count, "the instant of its kill");
    await worker.kill();
    await scene.start(`${worker.config.name}'`, worker);
  },
  async function restart({ server, running, record }) {
    record({ type: "trouble", replica: "*", state: "begins", what: "immediate restart" });
    await server.restart({ mode: "immediate" });
    await Promise.all(running.map((worker) => worker.order({ order: "heal" })));
    record({ type: "trouble", replica: "*", state: "ends", what: "immediate restart" });
  },
  async function hold({ look }) {
    await look.holdCounter();
  },
  async function deafen({ look, record }) {
    record({ type: "deaf", replica: "*" });
    await look.terminateListeners();
  },
  async function silence(scene) {
    const { look, record } = scene;
    record({ type: "deaf", replica: "*" });
    await look.setWakeUps(false);
    await scene.progress(30);
    await look.setWakeUps(true);
  },
  async function cut({ observer, running }, random) {
    const head = await observer.observe();
    const upTo = Math.max(1, head - random.integer(50));
    await random.pick(running).order({ order: "cut", upTo });
  },
];

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

  constructor(options: SceneOptions) {
    this.#options = options;
    this.look = options.look;
    this.server = options.server;
    this.observer = new Observer(options.look, this);
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
    const head = await this.observer.observe();
    await Promise.all(all.map((worker) => worker.order({ order: "settle", head })));
    await Promise.all(all.map((worker) => worker.leave()));
    await this.observer.observe();
    const records = [...this.#own, ...this.#workers.flatMap((worker) => worker.records)];
    return { records: records.sort((a, b) => a.at - b.at), tables: await this.look.tables() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const worker of this.#workers) await worker.kill();
  }
}
