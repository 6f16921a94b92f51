// A worker as its host sees it: a process that can be given orders and be killed at any instant.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { systemClock } from "@keelson/base";
import type { Call, HistoryRecord } from "../history.ts";
import type { Order, Report, WorkerConfig } from "./protocol.ts";
import { endsWithUs } from "../../tools/ends-with-us.ts";

const program = join(import.meta.dirname, "worker.ts");

/** The longest a host waits for a fact: far beyond anything but a hang. */
const factMsMax = 60_000;

/** A worker that is there and does not come to what it should. */
export class Stuck extends Error {
  readonly code = "STUCK";
  readonly replica: string;
  readonly before: string;

  constructor(replica: string, before: string) {
    super(`${replica} has not come to ${before} in ${factMsMax} ms`);
    this.name = "Stuck";
    this.replica = replica;
    this.before = before;
  }
}

/** A running worker; what it tells goes to `records`. */
export class WorkerProcess {
  readonly config: WorkerConfig;
  readonly records: HistoryRecord[] = [];
  /** Why it did not start, if it did not. */
  refusal: string | undefined;
  /** How many writes were acknowledged. */
  acknowledged = 0;
  readonly #writes = new Set<string>();
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #done = new Set<string>();
  readonly #waits = new Set<() => void>();
  #isGone = false;

  constructor(config: WorkerConfig) {
    this.config = config;
    this.#child = endsWithUs(
      spawn(process.execPath, [program, JSON.stringify(config)], {
        stdio: ["pipe", "pipe", "inherit"],
      }),
    );
    const { stdout, stdin } = this.#child;
    stdin?.on("error", () => undefined); // It may be killed while it is given an order.
    if (stdout === null) throw new Error("the worker has no output");
    const lines = createInterface({ input: stdout });
    lines.on("line", (line) => {
      this.#hear(line);
    });
    this.#exited = Promise.all([once(this.#child, "exit"), once(lines, "close")]).then(() => {
      this.#isGone = true;
      this.#wake();
    });
  }

  /** How many calls were answered. */
  get answers(): number {
    return this.records.filter(({ type }) => type === "answer").length;
  }

  started(): Promise<void> {
    return this.until(() => this.#done.has("start") || this.refusal !== undefined, "start");
  }

  /** Gives an order and waits until it is carried out. */
  async order(order: Order): Promise<void> {
    this.#done.delete(order.order);
    this.#child.stdin?.write(`${JSON.stringify(order)}\n`);
    await this.until(() => this.#done.has(order.order), order.order);
  }

  /** Waits for a fact about what the worker told. Throws if it ends before, or nothing happens for long. */
  async until(isSo: () => boolean, what: string): Promise<void> {
    const deadline = systemClock.monotonic() + factMsMax;
    while (!isSo()) {
      if (this.#isGone)
        throw new Error(`${this.config.name} ended before ${what}: ${this.refusal}`);
      if (systemClock.monotonic() > deadline) throw new Stuck(this.config.name, what);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waits.add(resolve);
      using _timer = systemClock.after(factMsMax, resolve);
      await promise;
      this.#waits.delete(resolve);
    }
  }

  /** Ends it as a power cut would, and waits until it is gone. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }

  /** Lets it close its store and end. */
  async leave(): Promise<void> {
    await this.order({ order: "leave" });
    await this.#exited;
  }

  #hear(line: string): void {
    let report: Report;
    try {
      report = JSON.parse(line) as Report;
    } catch {
      return; // The kill has cut the line short: it was not said.
    }
    if ("record" in report) this.#take(report.record);
    if ("done" in report) this.#done.add(report.done);
    if ("refused" in report) this.refusal = report.refused;
    this.#wake();
  }

  #take(record: HistoryRecord): void {
    this.records.push(record);
    if (record.type === "call" && isWrite(record.call)) this.#writes.add(record.id);
    if (record.type !== "answer" || !this.#writes.delete(record.id)) return;
    if (record.answer.type === "row") this.acknowledged += 1;
  }

  #wake(): void {
    for (const wake of this.#waits) wake();
  }
}

function isWrite({ op }: Call): boolean {
  return op === "create" || op === "update" || op === "delete";
}
