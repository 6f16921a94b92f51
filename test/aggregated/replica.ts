// Our server as it runs behind a cluster: a process of its own, `keelson apiserver --aggregated`.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { HttpClient } from "../oracle/http-client.ts";
import type { KeyPair } from "../oracle/certificates.ts";

const entry = fileURLToPath(new URL("../../packages/keelson/bin/keelson.js", import.meta.url));
const outputMax = 200_000;

export type Driver = "sqlite" | "postgresql";

export interface ReplicaOptions {
  readonly driver: Driver;
  readonly databaseUrl?: string | undefined;
  readonly kubeconfig: string;
  readonly certificateFile: string;
  readonly keyFile: string;
  /** Who signed its certificate. */
  readonly ca: string;
  readonly port: number;
  readonly flags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

/** What a command of ours printed, and how it ended. */
export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** One server, which can be stopped and started again on the same data and port. */
export class Replica implements AsyncDisposable {
  readonly url: string;
  readonly ca: string;
  readonly port: number;
  readonly folder: string;
  readonly #options: ReplicaOptions;
  #child: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  #output = "";

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.port = options.port;
    this.ca = options.ca;
    this.url = `https://127.0.0.1:${options.port}`;
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), "keelson-aggregated-")));
  }

  get dataDir(): string {
    return join(this.folder, "data");
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** The end of what it has printed. */
  get output(): string {
    return this.#output;
  }

  /** Where its metrics and health are, as its run file says. */
  get metricsUrl(): string {
    const file = readFileSync(join(this.dataDir, "run.json"), "utf8");
    return (JSON.parse(file) as { metrics: string }).metrics;
  }

  async start(signal: AbortSignal): Promise<void> {
    const child = this.#spawn(["apiserver", ...this.flags()]);
    this.#child = child;
    this.#ended = once(child, "close");
    let since = "";
    await new Promise<void>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr]) {
        stream?.setEncoding("utf8").on("data", (text: string) => {
          this.#output = (this.#output + text).slice(-outputMax);
          since = (since + text).slice(-outputMax);
          if (/"(?:message|msg)":"ready"/.test(since)) resolve();
        });
      }
      void this.#ended.then(() =>
        reject(new Error(`it ended before it was ready\n${since.slice(-4_000)}`)),
      );
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    });
  }

  /** Ends the process and waits until it is gone. Its data stays. */
  async stop(how: NodeJS.Signals): Promise<void> {
    this.#child?.kill(how);
    await this.#ended;
    this.#child = undefined;
  }

  /** Suspends or wakes the process: whoever talks to it hears nothing. */
  signal(how: "SIGSTOP" | "SIGCONT"): void {
    this.#child?.kill(how);
  }

  /** Runs a command of ours to its end, whatever that is. */
  async run(words: readonly string[], signal: AbortSignal): Promise<Ended> {
    const child = this.#spawn(words);
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => (output += text));
    signal.addEventListener("abort", () => child.kill("SIGKILL"), { once: true });
    const [code] = (await once(child, "close")) as [number | null];
    return { code, output };
  }

  /** Brings the schema of its database up to date. */
  async migrate(signal: AbortSignal): Promise<void> {
    const { code, output } = await this.run(
      ["apiserver", "migrate", ...this.storageFlags()],
      signal,
    );
    if (code !== 0) throw new Error(`migrate ended with ${code}\n${output}`);
  }

  /** Straight to it, past the host. */
  connectAs(identity: Partial<KeyPair> & { readonly token?: string }): HttpClient {
    return new HttpClient({ url: this.url, ca: this.ca, ...identity });
  }

  storageFlags(): readonly string[] {
    const { driver, databaseUrl } = this.#options;
    return [
      "--data-dir",
      this.dataDir,
      "--storage-driver",
      driver,
      ...(databaseUrl === undefined ? [] : ["--database-url", databaseUrl]),
    ];
  }

  flags(): readonly string[] {
    const { kubeconfig, certificateFile, keyFile, flags = [] } = this.#options;
    return [
      "--aggregated",
      ...this.storageFlags(),
      "--kubeconfig",
      kubeconfig,
      "--tls-cert-file",
      certificateFile,
      "--tls-private-key-file",
      keyFile,
      "--kube-port",
      String(this.port),
      "--metrics-port",
      "0",
      ...flags,
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  #spawn(words: readonly string[]): ChildProcess {
    return spawn(process.execPath, [entry, ...words], {
      stdio: ["ignore", "pipe", "pipe"],
      cwd: this.folder,
      env: { PATH: process.env["PATH"] ?? "", HOME: this.folder, ...this.#options.environment },
    });
  }
}
