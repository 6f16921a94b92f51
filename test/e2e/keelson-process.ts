// `keelson` as a user runs it: a process of its own, on a data folder of its own.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { readRunFile, type RunFile } from "@keelson/keelson";

/** The executable. */
export const entry = fileURLToPath(
  new URL("../../packages/keelson/bin/keelson.js", import.meta.url),
);

export interface StartOptions {
  readonly command?: "up" | "serve" | "config";
  readonly flags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** The user that runs it; ours unless told. */
  readonly uid?: number;
}

/** How a process ended, and everything it said. */
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
  #output = "";
  #onOutput: (() => void) | undefined;

  /** Starts it on free ports. */
  constructor(dataDir: string, options: StartOptions = {}) {
    const { command = "up", flags = [], environment = {}, uid } = options;
    this.dataDir = dataDir;
    const ports = ["--port", "0", "--metrics-port", "0", "--kube-port", "0"];
    this.#child = spawn(
      process.execPath,
      [entry, command, "--data-dir", dataDir, ...ports, ...flags],
      {
        stdio: ["ignore", "pipe", "pipe"],
        cwd: tmpdir(),
        env: { PATH: process.env["PATH"] ?? "", ...environment },
        detached: true,
        ...(uid === undefined ? {} : { uid, gid: uid }),
      },
    );
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
        this.#onOutput?.();
      });
    }
    this.#ended = once(this.#child, "close").then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
      output: this.#output,
    }));
  }

  get output(): string {
    return this.#output;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get ended(): Promise<Ended> {
    return this.#ended;
  }

  /** Resolves with what `run.json` says once it is there; rejects if the process ends before. */
  async ready(): Promise<RunFile> {
    await this.said(/keelson \S+ is ready|"message":"ready"/);
    const running = await readRunFile(this.dataDir);
    if (running === undefined) throw new Error(`ready without run.json\n${this.#output}`);
    return running;
  }

  /** Resolves once the output matches; rejects if the process ends before. */
  async said(pattern: RegExp): Promise<void> {
    const matched = new Promise<void>((resolve) => {
      this.#onOutput = () => {
        if (pattern.test(this.#output)) resolve();
      };
      this.#onOutput();
    });
    const ended = this.#ended.then(({ code, output }) => {
      if (pattern.test(output)) return;
      throw new Error(`ended with ${code} before it said ${pattern}\n${output}`);
    });
    await Promise.race([matched, ended]);
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
