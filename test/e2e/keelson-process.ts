// `keelson` as a user runs it: a process of its own, on a data folder of its own.

import type { ChildProcess } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { onAbort } from "@keelson/base";
import { readRunFile, type RunFile } from "@keelson/keelson";
import { spawnKeelson, type SpawnOptions } from "./run-keelson.ts";

/** How much of what it said is kept, at least: a server that is written to for hours says more. */
const outputMax = 1_000_000;

const free = (...names: readonly string[]): readonly string[] =>
  names.flatMap((name) => [`--${name}`, "0"]);

const freePorts = {
  up: free("port", "metrics-port", "kube-port"),
  serve: free("port", "metrics-port", "kube-port"),
  apiserver: free("metrics-port", "kube-port"),
} as const;

export interface StartOptions extends Partial<SpawnOptions> {
  readonly command?: keyof typeof freePorts;
  readonly flags?: readonly string[];
}

/** How a process ended, and what it said at last. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

/** A folder to keep data in, removed afterwards, once nothing works in it any more. */
export async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "keelson-e2e-"));
  await chmod(path, 0o711); // Under root PostgreSQL runs as somebody else, and must pass.
  return {
    path,
    [Symbol.asyncDispose]: async () => {
      await nothingRunsIn(path);
      await rm(path, { recursive: true, force: true });
    },
  };
}

export class KeelsonProcess implements AsyncDisposable {
  readonly dataDir: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<Ended>;
  readonly #listeners = new Set<() => void>();
  #output = "";

  /** Starts it on free ports, unless its flags say others. */
  constructor(dataDir: string, options: StartOptions = {}) {
    const { command = "up", flags = [], cwd = tmpdir(), ...others } = options;
    this.dataDir = dataDir;
    const words = [command, "--data-dir", dataDir, ...freePorts[command], ...flags];
    const child = spawnKeelson(words, { cwd, isDetached: true, ...others });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
        if (this.#output.length > 2 * outputMax) this.#output = this.#output.slice(-outputMax);
        for (const listener of this.#listeners) listener();
      });
    }
    this.#ended = new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, signal) => resolve({ code, signal, output: this.#output }));
    });
    this.#ended.catch(() => undefined); // Whoever waits for it is told.
  }

  /** The end of what it has said. */
  get output(): string {
    return this.#output;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get ended(): Promise<Ended> {
    return this.#ended;
  }

  /** Resolves with what `run.json` says once it is there; rejects if the process ends before. */
  async ready(signal?: AbortSignal): Promise<RunFile> {
    await this.said(/^keelson \S+ is ready|"message":"ready"/m, signal);
    const running = await readRunFile(this.dataDir);
    if (running === undefined) throw new Error(`ready without run.json\n${this.#output}`);
    return running;
  }

  /** Resolves once the output matches; rejects if the process ends before. */
  async said(pattern: RegExp, signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const look = (): void => {
      if (pattern.test(this.#output)) resolve();
    };
    this.#listeners.add(look);
    using _aborted = signal && onAbort(signal, () => reject(signal.reason as Error));
    this.#ended.then(({ code, signal: by, output }) => {
      look();
      reject(
        new Error(`ended with ${code ?? by} before it said ${pattern}\n${output.slice(-10_000)}`),
      );
    }, reject);
    look();
    try {
      await promise;
    } finally {
      this.#listeners.delete(look);
    }
  }

  send(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<Ended> {
    this.send(signal);
    return this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("SIGKILL");
  }
}

/** Files that only a running server, or a crashed one, has. */
export function leftBehind(dataDir: string): readonly string[] {
  const claims = join(dataDir, "claims");
  return [
    ...["run.json", "postgres.owner", "postgres/postmaster.pid"].filter((name) =>
      existsSync(join(dataDir, name)),
    ),
    ...(existsSync(claims) ? readdirSync(claims).map((name) => `claims/${name}`) : []),
  ];
}

/** Waits until no process of any kind works in the folder. One that does not end within two minutes is an orphan. */
export async function nothingRunsIn(dataDir: string): Promise<void> {
  const deadlineMs = performance.now() + 120_000;
  for (;;) {
    const pids = processesIn(dataDir);
    if (pids.length === 0) return;
    if (performance.now() > deadlineMs) {
      throw new Error(`processes ${pids.join(", ")} still work in ${dataDir}`);
    }
    await wait(20); // There is no event for the end of a process that is not ours.
  }
}

/** The processes that stand in the folder, or were told its name. */
function processesIn(dataDir: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        if (/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"))) return false;
        const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
        return [readlinkSync(`/proc/${pid}/cwd`), ...words].some((word) =>
          word.startsWith(dataDir),
        );
      } catch {
        return false; // It has just ended, or is not ours to look at.
      }
    })
    .map(Number);
}
