// The owner's side of the guard: processes that cannot outlive this one.

import { fork, type ChildProcess } from "node:child_process";
import {
  closeSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { GuardOrder, GuardReport } from "./guard.ts";

const logTailBytes = 4096;
/** For a word of the guard, for its end, and for that of a process that was told to end. Shorter than a test may take: so it can say what hangs. */
const patienceMsUsual = 180_000;

/** A process that ended although nobody asked it to, or could not be started. */
export class ProcessEnded extends Error {
  readonly code = "ProcessEnded";
  readonly log: string;

  constructor(name: string, reason: string, log: string) {
    super(`${name} ended (${reason}); the end of its log:\n${log}`);
    this.log = log;
  }
}

export interface Command {
  readonly name: string;
  readonly path: string;
  readonly arguments: readonly string[];
}

/** A running process. `ended` resolves with the reason, whoever ended it. */
export interface GuardedProcess {
  readonly pid: number;
  readonly ended: Promise<string>;
  readonly hasEnded: boolean;
  kill(signal: NodeJS.Signals): void;
  logTail(): string;
}

interface Entry {
  readonly started: PromiseWithResolvers<number>;
  readonly ended: PromiseWithResolvers<string>;
  pid: number | undefined;
  hasEnded: boolean;
}

/**
 * Owns a folder and the processes started in it. Both are gone after disposal, and also, moments
 * later, after the death of this process, even by SIGKILL. It does not keep this process alive.
 */
export class Guard implements AsyncDisposable {
  readonly folder: string;
  readonly #guard: ChildProcess;
  readonly #entries = new Map<number, Entry>();
  readonly #gone = Promise.withResolvers<void>();
  readonly #patienceMs: number;
  #nextId = 1;
  #waiting = 0;

  constructor({ patienceMs = patienceMsUsual }: { readonly patienceMs?: number } = {}) {
    this.#patienceMs = patienceMs;
    this.folder = mkdtempSync(join(realpathSync(tmpdir()), "keelson-oracle-"));
    this.#guard = fork(join(import.meta.dirname, "guard.ts"), [this.folder], {
      detached: true,
      execArgv: [],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      env: { PATH: process.env["PATH"] ?? "" },
    });
    this.#guard.on("message", (report) => this.#receive(report as GuardReport));
    this.#guard.once("error", () => this.#abandon());
    this.#guard.once("exit", () => this.#abandon());
    this.#guard.unref();
    this.#guard.channel?.unref();
  }

  /** The guard's own process. */
  get pid(): number | undefined {
    return this.#guard.pid;
  }

  /** Starts `command` in the folder, its output going to `<name>.log`. Rejects if that fails. */
  async start(command: Command): Promise<GuardedProcess> {
    const id = this.#nextId++;
    const log = join(this.folder, `${command.name}.log`);
    const entry: Entry = {
      started: Promise.withResolvers(),
      ended: Promise.withResolvers(),
      pid: undefined,
      hasEnded: false,
    };
    this.#entries.set(id, entry);
    const order: GuardOrder = {
      type: "start",
      id,
      command: command.path,
      arguments: command.arguments,
      environment: { PATH: process.env["PATH"] ?? "", HOME: this.folder },
      folder: this.folder,
      log,
    };
    // A guard that has gone before takes no order, and nobody would ever hear of this one.
    this.#send(order, () => this.#receive({ type: "ended", id, reason: "the guard ended" }));
    const failed = entry.ended.promise.then((reason) => {
      throw new ProcessEnded(command.name, reason, tailOf(log));
    });
    failed.catch(() => undefined); // Once it has started `ended` tells.
    const started = Promise.race([entry.started.promise, failed]);
    const silence = (): Error =>
      new Error(`the guard (process ${this.pid}) does not answer: ${command.name} was not started`);
    const pid = await this.#awaiting(started, silence);
    return {
      pid,
      get ended() {
        return entry.ended.promise;
      },
      get hasEnded() {
        return entry.hasEnded;
      },
      kill: (signal) => this.#send({ type: "signal", id, signal }),
      logTail: () => tailOf(log),
    };
  }

  /** Waits for `ended` while keeping this process alive, which the guard alone does not. For whoever was told to end: minutes, not for ever. */
  async join(guarded: GuardedProcess): Promise<string> {
    return await this.#awaiting(guarded.ended, () => {
      const { pid } = guarded;
      return new Error(`process ${pid} does not end; the end of its log:\n${guarded.logTail()}`);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#guard.connected) this.#guard.disconnect();
    this.#guard.ref();
    const giveUp = setTimeout(() => {
      this.#guard.kill("SIGKILL");
      this.#abandon();
    }, this.#patienceMs);
    await this.#gone.promise;
    clearTimeout(giveUp);
    // The guard has done that, unless it was killed.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  #send(order: GuardOrder, onLost: () => void = () => undefined): void {
    if (!this.#guard.connected) onLost();
    else this.#guard.send(order, (error) => void (error !== null && onLost()));
  }

  #receive(report: GuardReport): void {
    const entry = this.#entries.get(report.id);
    if (entry === undefined) return;
    if (report.type === "started") {
      entry.pid = report.pid;
      entry.started.resolve(report.pid);
      return;
    }
    this.#entries.delete(report.id);
    entry.hasEnded = true;
    entry.ended.resolve(report.reason);
  }

  /** The guard is gone, by our wish with its children or by somebody's kill without them, or it hangs. */
  #abandon(): void {
    for (const entry of this.#entries.values()) {
      if (entry.pid !== undefined) killQuietly(entry.pid);
      entry.hasEnded = true;
      entry.ended.resolve("the guard ended");
    }
    this.#entries.clear();
    this.#gone.resolve();
  }

  async #awaiting<Value>(promise: Promise<Value>, tooLate: () => Error): Promise<Value> {
    if (this.#waiting++ === 0) this.#guard.channel?.ref();
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(tooLate()), this.#patienceMs);
    try {
      return await Promise.race([promise, late.promise]);
    } finally {
      clearTimeout(timer);
      if (--this.#waiting === 0) this.#guard.channel?.unref();
    }
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It is gone, which is what we want.
  }
}

function tailOf(path: string): string {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return "(no log)";
  }
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, logTailBytes));
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString("utf8");
  } finally {
    closeSync(file);
  }
}
