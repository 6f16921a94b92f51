#!/usr/bin/env node
// A server of its own: opens the store, calls it as fast as it can, watches, and tells its host what it sees.

import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { seededRandom, systemClock } from "@keelson/base";
import type { Cursor, Store } from "@keelson/store";
import { type ClientOptions, perform, type StoreModule } from "../client.ts";
import type { Call, Happening, Recorder } from "../history.ts";
import { openWatch, type RecordedWatch } from "../recorded-watch.ts";
import { Workload } from "../workload.ts";
import type { Order, Report, WatchPlan, WorkerConfig } from "./protocol.ts";

const never = new AbortController().signal;

/** Written at once, by a system call: what was said before a kill is not lost. */
function tell(report: Report): void {
  const bytes = Buffer.from(`${JSON.stringify(report)}\n`);
  for (let sent = 0; sent < bytes.length;) sent += writeSync(1, bytes, sent);
}

/** The clock that all processes of a machine share orders the records of all. */
const recorder: Recorder = {
  record: (happening: Happening) => {
    tell({ record: { ...happening, at: Number(process.hrtime.bigint()) } });
  },
};

class Worker {
  readonly #config: WorkerConfig;
  readonly #client: ClientOptions;
  readonly #workload: Workload;
  readonly #watches = new Map<string, RecordedWatch>();
  #isFinishing = false;
  #clients: Promise<unknown> = Promise.resolve();

  constructor(config: WorkerConfig, store: Store, module: StoreModule) {
    this.#config = config;
    this.#client = { store, module, recorder, replica: config.name };
    this.#workload = new Workload(seededRandom(config.seed), `${config.name}-`);
  }

  async run(): Promise<void> {
    tell({ done: "start" });
    for (const plan of this.#config.watches) void this.#watch(plan, 0);
    const clients = Array.from({ length: this.#config.clients }, (_, index) => this.#call(index));
    this.#clients = Promise.all(clients);
    for await (const line of createInterface({ input: process.stdin })) {
      const order = JSON.parse(line) as Order;
      await this.#obey(order);
      tell({ done: order.order });
      if (order.order === "leave") return;
    }
  }

  async #obey(order: Order): Promise<void> {
    switch (order.order) {
      case "cut": {
        const { upTo } = order;
        await this.#perform({ op: "cut", upTo });
        return;
      }
      case "heal":
        await this.#heal();
        return;
      case "finish":
        this.#isFinishing = true;
        await this.#clients;
        return;
      case "settle":
        await this.#settle(order.head);
        return;
      case "leave":
        for (const watch of this.#watches.values()) watch.close();
    }
  }

  /** One client: a call after the other. */
  async #call(index: number): Promise<void> {
    const random = seededRandom(`${this.#config.seed}/client ${index}`);
    while (!this.#isFinishing) {
      const dice = random.float();
      if (dice < 0.65) await this.#write();
      else if (dice < 0.9) await this.#perform(this.#workload.nextGet());
      else await this.#list(random.pick([undefined, 2, 3]));
    }
  }

  async #write(): Promise<boolean> {
    const id = this.#workload.id();
    const { answer } = await this.#perform(this.#workload.nextWrite(id), id);
    return answer.type !== "error" || answer.code !== "Unavailable";
  }

  async #list(limit: number | undefined): Promise<boolean> {
    const scope = this.#workload.scope();
    let [after, cursor]: [string | undefined, Cursor | undefined] = [undefined, undefined];
    for (;;) {
      const id = this.#workload.id();
      const pages = limit === undefined ? {} : { limit };
      const call: Call = { op: "list", scope, ...pages, ...(after === undefined ? {} : { after }) };
      const { answer, next } = await this.#perform(call, id, cursor);
      if (next === undefined) return answer.type === "page";
      [after, cursor] = [id, next];
    }
  }

  async #perform(call: Call, id = this.#workload.id(), cursor?: Cursor) {
    const request = cursor === undefined ? { id, call } : { id, call, cursor };
    const performed = await perform(this.#client, request, never);
    this.#workload.learn(call, performed.answer);
    return performed;
  }

  /** Whoever calls after this has no excuse any more. */
  async #heal(): Promise<void> {
    for (let well = 0; well < 8;) {
      const results = await Promise.all([
        ...Array.from({ length: 6 }, () => this.#list(2)),
        this.#write(),
      ]);
      well = results.every(Boolean) ? well + 1 : 0;
    }
  }

  /** Reads a watch to its end, and takes it up again where it ended. */
  async #watch(plan: WatchPlan, resumption: number): Promise<void> {
    const { scope, selector, from, pace } = plan;
    const id = `${plan.id}.${this.#config.name}.${resumption}`;
    const bookmarkEveryMs = 20;
    const watch = await openWatch(
      this.#client,
      {
        id,
        scope,
        ...(selector && { selector }),
        from,
        bookmarkEveryMs,
        initialEventsEnd: true,
        pace,
      },
      never,
    );
    if (watch === undefined) {
      await systemClock.sleep(20, never); // The database is away; or the revision has expired.
      if (!this.#isFinishing || from !== "state")
        await this.#watch({ ...plan, from: "state" }, resumption + 1);
      return;
    }
    this.#watches.set(plan.id, watch);
    while (!watch.isOver) {
      await watch.readOnce();
      if (pace === "slow" && !this.#isFinishing) await systemClock.sleep(30, never);
    }
    if (this.#watches.get(plan.id) !== watch) return;
    const { position } = watch;
    if (!this.#isLeaving) await this.#watch({ ...plan, from: position || "state" }, resumption + 1);
  }

  /** Gives every watch the time it may take to see the last commit of another process. */
  async #settle(head: number): Promise<void> {
    const deadline = systemClock.monotonic() + 20_000;
    const isLevel = (): boolean =>
      this.#config.watches.every(({ id }) => (this.#watches.get(id)?.position ?? 0) >= head);
    while (!isLevel() && systemClock.monotonic() < deadline) await systemClock.sleep(5, never);
    this.#isLeaving = true;
    for (const { request, isOver } of this.#watches.values())
      if (!isOver) recorder.record({ type: "quiet", watch: request.id, head });
  }

  #isLeaving = false;
}

/** The store of the configured database; small limits, so that they are met. */
async function openStore(config: WorkerConfig, module: StoreModule): Promise<Store> {
  const { database } = config;
  const clock = systemClock;
  const backend =
    database.type === "sqlite"
      ? new module.SqliteBackend({ path: database.path, clock })
      : await module.PostgresBackend.open({ url: database.url, clock, readers: 2 }, never);
  if (database.type === "sqlite")
    recorder.record({ type: "serving", server: config.name, file: database.path });
  const limits = {
    watchBufferMax: 10,
    recentChangesMax: 40,
    pageChanges: 16,
    pollMs: 300,
    compactionEveryMs: undefined,
  };
  return module.Store.open({ backend, clock, limits }, never);
}

const config = JSON.parse(process.argv[2] ?? "{}") as WorkerConfig;
const module = (await import(config.module)) as StoreModule;
try {
  const store = await openStore(config, module);
  await new Worker(config, store, module).run();
  await store[Symbol.asyncDispose]();
  recorder.record({ type: "gone", server: config.name });
} catch (error) {
  tell({ refused: error instanceof Error ? `${error.name}: ${error.message}` : String(error) });
}
process.exit();
