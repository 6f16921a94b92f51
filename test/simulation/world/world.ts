// One database and the replicas that share it, in one process, under a clock that a seed moves.

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Random } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";
import type { SqliteBackend, Store, StoreLimits } from "@keelson/store";
import type { ClientOptions, StoreModule } from "../client.ts";
import type { Recorder } from "../history.ts";
import { Link } from "./link.ts";
import { BackendLook, type Look, Observer, SqliteLook } from "./look.ts";
import { type Climate, turns, Weather } from "./weather.ts";

export interface WorldOptions {
  readonly place: "memory" | "file";
  readonly replicas: number;
  readonly climate: Climate;
  readonly limits: Partial<StoreLimits>;
  readonly weatherRandom: Random;
  readonly storeRandom: Random;
  readonly recorder: Recorder;
  readonly module: StoreModule;
}

interface Replica {
  readonly name: string;
  readonly link: Link;
  /** Undefined while it is down. */
  store: Store | undefined;
}

/** The stage of a simulation. */
export class World implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly weather: Weather;
  readonly observer: Observer;
  readonly #options: WorldOptions;
  readonly #folder: string | undefined;
  readonly #path: string;
  readonly #look: Look & Partial<Disposable>;
  readonly #replicas: Replica[];
  #database: SqliteBackend;
  #openings = 0;

  static async build(options: WorldOptions): Promise<World> {
    const world = new World(options);
    for (const { name } of world.#replicas) await world.start(name);
    return world;
  }

  private constructor(options: WorldOptions) {
    const { place, weatherRandom, recorder, climate, module } = options;
    this.#options = options;
    this.weather = new Weather(weatherRandom, recorder, climate);
    this.#folder = place === "file" ? mkdtempSync(join(memoryFolder(), "keelson-sim-")) : undefined;
    this.#path = this.#folder === undefined ? ":memory:" : join(this.#folder, "store.db");
    this.#database = this.#openDatabase();
    this.#look =
      place === "file" ? new SqliteLook(this.#path) : new BackendLook(() => this.#database);
    this.observer = new Observer(this.#look, recorder);
    this.#replicas = Array.from({ length: options.replicas }, (_, index) => {
      const name = `r${index + 1}`;
      const link = new Link({
        replica: name,
        database: () => this.#database,
        weather: this.weather,
        recorder,
        module,
        onCommit: (from) => {
          this.#announce(from);
        },
        beforeCut: () => this.observe().then(() => undefined),
      });
      return { name, link, store: undefined };
    });
  }

  /** The replicas that are up, as clients see them. */
  get clients(): readonly ClientOptions[] {
    const { module, recorder } = this.#options;
    return this.#replicas.flatMap(({ name, store }) =>
      store === undefined ? [] : [{ store, module, recorder, replica: name }],
    );
  }

  /** Whether the client's store is still the one of its replica. */
  isServing({ store }: ClientOptions): boolean {
    return this.#replicas.some((replica) => replica.store === store);
  }

  get names(): readonly string[] {
    return this.#replicas.map(({ name }) => name);
  }

  observe(): Promise<number> {
    return this.weather.sheltered(() => this.observer.observe());
  }

  async start(name: string): Promise<void> {
    const replica = this.#replica(name);
    const { module, limits, storeRandom: random } = this.#options;
    const { clock } = this;
    for (;;) {
      try {
        const backend = replica.link;
        const signal = new AbortController().signal;
        replica.store = await module.Store.open({ backend, clock, random, limits }, signal);
        break;
      } catch (error) {
        if (
          (error as { code?: string }).code !== "Unavailable" &&
          (error as { code?: string }).code !== "Full"
        )
          throw error;
      }
    }
    this.#options.recorder.record({ type: "trouble", replica: name, state: "ends", what: "down" });
  }

  async stop(name: string): Promise<void> {
    const replica = this.#replica(name);
    const { store } = replica;
    if (store === undefined) return;
    replica.store = undefined;
    this.#options.recorder.record({
      type: "trouble",
      replica: name,
      state: "begins",
      what: "down",
    });
    await this.#within(store[Symbol.asyncDispose]());
  }

  /** Closes everything and opens the file again; in memory only the stores. */
  async restartDatabase(): Promise<void> {
    for (const { name } of this.#replicas) await this.stop(name);
    if (this.#folder !== undefined) {
      await this.#database[Symbol.asyncDispose]();
      this.#options.recorder.record({ type: "gone", server: this.#server });
      this.#database = await this.weather.sheltered(async () => this.#openDatabase());
    }
    for (const { name } of this.#replicas) await this.start(name);
  }

  /** A second server tries to take the file. */
  async intrude(): Promise<void> {
    if (this.#folder === undefined) return;
    const server = `intruder ${this.#openings}`;
    try {
      const { clock } = this;
      const intruder = new this.#options.module.SqliteBackend({ path: this.#path, clock });
      this.#options.recorder.record({ type: "serving", server, file: "store.db" });
      await intruder[Symbol.asyncDispose]();
      this.#options.recorder.record({ type: "gone", server });
    } catch (error) {
      if ((error as { code?: string }).code !== "Locked") throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.weather.calm();
    for (const { name } of this.#replicas) await this.stop(name);
    this.#look[Symbol.dispose]?.();
    await this.#database[Symbol.asyncDispose]();
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }

  get #server(): string {
    return `server ${this.#openings}`;
  }

  #openDatabase(): SqliteBackend {
    const { module, recorder } = this.#options;
    const { onStatement } = this.weather;
    const database = new module.SqliteBackend({ path: this.#path, clock: this.clock, onStatement });
    this.#openings += 1;
    if (this.#folder !== undefined)
      recorder.record({ type: "serving", server: this.#server, file: "store.db" });
    return database;
  }

  /** Tells the other replicas of a commit; some do not hear it. */
  #announce(from: string): void {
    for (const { name, link } of this.#replicas) {
      if (name === from) continue;
      if (this.weather.loses("wake-up"))
        this.#options.recorder.record({ type: "deaf", replica: name });
      else
        void this.weather.pass().then(() => {
          link.wake();
        });
    }
  }

  #replica(name: string): Replica {
    const replica = this.#replicas.find((other) => other.name === name);
    if (replica === undefined) throw new Error(`there is no replica ${name}`);
    return replica;
  }

  /** Waits while time passes; a close that never ends must not hang the simulation. */
  async #within(closing: Promise<void>): Promise<void> {
    let isOver = false;
    const over = closing.then(
      () => {
        isOver = true;
      },
      () => {
        isOver = true;
      },
    );
    for (let wait = 0; wait < 200 && !isOver; wait++) {
      await turns(5);
      if (wait > 20 && !isOver) await this.clock.advance(100);
    }
    if (!isOver) throw new Error("a store did not close");
    await over;
  }
}

/** A file system in memory where there is one: nobody pulls the plug here, so nothing need reach a disk. */
function memoryFolder(): string {
  return existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
}
