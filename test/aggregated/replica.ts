// Our server as it runs behind a cluster: a process of its own, `keelson apiserver --aggregated`.

import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Driver } from "../apiserver/ours.ts";
import { KeelsonProcess } from "../e2e/keelson-process.ts";
import { runKeelson, type Run } from "../e2e/run-keelson.ts";
import { HttpClient } from "../tools/http-client.ts";
import type { KeyPair } from "../tools/certificates.ts";

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

/** One server, which can be stopped and started again on the same data and port. */
export class Replica implements AsyncDisposable {
  readonly url: string;
  readonly ca: string;
  readonly port: number;
  readonly folder: string;
  readonly #options: ReplicaOptions;
  #process: KeelsonProcess | undefined;

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

  /** Of the process that runs. */
  get pid(): number | undefined {
    return this.#process?.isAlive === true ? this.#process.pid : undefined;
  }

  /** The end of what it has said since it was started last. */
  get output(): string {
    return this.#process?.output ?? "";
  }

  /** Where its metrics and health are, as its run file says. */
  get metricsUrl(): string {
    const file = readFileSync(join(this.dataDir, "run.json"), "utf8");
    return (JSON.parse(file) as { metrics: string }).metrics;
  }

  async start(signal: AbortSignal): Promise<void> {
    const flags = this.flags();
    this.#process = new KeelsonProcess(this.dataDir, {
      command: "apiserver",
      flags,
      ...this.#surroundings(),
    });
    await this.#process.ready(signal);
  }

  /** Ends the process and waits until it is gone. Its data stays. */
  async stop(how: NodeJS.Signals): Promise<void> {
    await this.#process?.stop(how);
  }

  /** Runs a command of ours to its end, whatever that is. */
  async run(words: readonly string[], signal: AbortSignal): Promise<Run> {
    return await runKeelson(words, this.#surroundings(), signal);
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

  #surroundings() {
    const environment = { HOME: this.folder, ...this.#options.environment };
    return { cwd: this.folder, isDetached: false, environment };
  }
}
