// Our server as a user runs it: a process of its own, `keelson apiserver`, on SQLite or on PostgreSQL.

import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { sharedThrowawayPostgres } from "@keelson/database/testing";

import { CertificateAuthority, type KeyPair, type Subject } from "../oracle/certificates.ts";
import { kubeconfigFor } from "../oracle/cluster-files.ts";
import { HttpClient } from "../oracle/http-client.ts";
import { findFreePorts } from "../oracle/ports.ts";
import type { Target } from "./target.ts";

const entry = fileURLToPath(new URL("../../packages/keelson/bin/keelson.js", import.meta.url));
const outputMax = 100_000;

export type Driver = "sqlite" | "postgresql";

export interface OursOptions {
  readonly driver: Driver;
  /** An existing database; one of its own unless told. */
  readonly databaseUrl?: string | undefined;
  /** Where data is; a folder of its own, which goes with the server, unless told. */
  readonly dataDir?: string;
  /** Where certificates are; below the data unless told. Replicas share them. */
  readonly certDir?: string;
  /** Who vouches for clients; one of its own unless told. Replicas share it. */
  readonly authority?: CertificateAuthority;
  /** Who vouches for the server, where it is told another certificate than its own. */
  readonly servingCa?: string;
  readonly flags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Goes before Node on the command line: `["prlimit", "--fsize=…"]`. */
  readonly wrapper?: readonly string[];
}

/** Starts it and waits until it is ready. It is gone after disposal, with everything it wrote. */
export async function startOurs(options: OursOptions, signal: AbortSignal): Promise<Ours> {
  await using undo = new AsyncDisposableStack();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "keelson-ours-")));
  undo.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  let databaseUrl = options.databaseUrl;
  if (options.driver === "postgresql" && databaseUrl === undefined) {
    const server = await sharedThrowawayPostgres("embedded");
    databaseUrl = undo.use(await server.createDatabase()).url;
  }
  const authority = options.authority ?? (await CertificateAuthority.create("test-clients"));
  const pair = await authority.issue({ name: "oracle-admin", groups: ["system:masters"] });
  const token = randomBytes(24).toString("hex");
  writeFileSync(join(folder, "clients.crt"), authority.certificate);
  writeFileSync(
    join(folder, "tokens.csv"),
    `${token},oracle-admin,oracle-admin,"system:masters"\n`,
    { mode: 0o600 },
  );
  const [port = 0] = await findFreePorts(1);
  const ours = undo.use(
    new Ours({ ...options, databaseUrl }, { folder, port, authority, admin: { ...pair, token } }),
  );
  if (options.driver === "postgresql") await ours.command(["apiserver", "migrate"], signal);
  await ours.start(signal);
  ours.owns(undo.move());
  return ours;
}

interface Facts {
  readonly folder: string;
  readonly port: number;
  readonly authority: CertificateAuthority;
  readonly admin: KeyPair & { readonly token: string };
}

/** A server of ours that can be killed and started again on the same data and port. */
export class Ours implements Target {
  readonly url: string;
  readonly admin: Target["admin"];
  readonly kubeconfig: string;
  readonly folder: string;
  readonly dataDir: string;
  readonly #options: OursOptions;
  readonly #authority: CertificateAuthority;
  readonly #port: number;
  #owned: AsyncDisposable | undefined;
  #child: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  #output = "";
  #ca = "";
  #client: HttpClient | undefined;

  constructor(options: OursOptions, { folder, port, authority, admin }: Facts) {
    this.#options = options;
    this.#authority = authority;
    this.#port = port;
    this.folder = folder;
    this.dataDir = options.dataDir ?? join(folder, "data");
    this.admin = admin;
    this.url = `https://127.0.0.1:${port}`;
    this.kubeconfig = join(folder, "admin.kubeconfig");
  }

  get ca(): string {
    return this.#ca;
  }

  get client(): HttpClient {
    if (this.#client === undefined) throw new Error("the server has not started yet");
    return this.#client;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get isAlive(): boolean {
    return (
      this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
    );
  }

  /** The end of what it has printed. */
  get output(): string {
    return this.#output;
  }

  /** Starts the process, which must not run, and waits until it says it is ready. */
  async start(signal: AbortSignal): Promise<void> {
    const child = this.#spawn([
      "apiserver",
      ...this.#flags(),
      "--kube-port",
      String(this.#port),
      ...(this.#options.flags ?? []),
    ]);
    this.#child = child;
    this.#ended = once(child, "close");
    const from = this.#output.length;
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (/"message":"ready"|\bready\b/.test(this.#output.slice(from))) resolve();
      };
      for (const stream of [child.stdout, child.stderr]) {
        stream?.setEncoding("utf8").on("data", (text: string) => {
          this.#output += text;
          look();
          if (this.#output.length > outputMax * 2 && from === 0)
            this.#output = this.#output.slice(-outputMax);
        });
      }
      void this.#ended.then((how) =>
        reject(
          new Error(`it ended (${String(how)}) before it was ready\n${this.#output.slice(-4_000)}`),
        ),
      );
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    });
    if (this.#client !== undefined) return;
    const certDir = this.#options.certDir ?? join(this.dataDir, "pki");
    this.#ca = this.#options.servingCa ?? readFileSync(join(certDir, "ca.crt"), "utf8");
    const { certificate, key } = this.admin;
    writeFileSync(
      this.kubeconfig,
      kubeconfigFor({ url: this.url, ca: this.#ca, certificate, key }),
      { mode: 0o600 },
    );
    this.#client = new HttpClient({ url: this.url, ca: this.#ca, certificate, key });
  }

  /** Ends the process and waits until it is gone. Its data stays. Answers its exit code, if it had one. */
  async stop(how: NodeJS.Signals): Promise<number | undefined> {
    this.#child?.kill(how);
    await this.#ended;
    const code = this.#child?.exitCode;
    this.#child = undefined;
    return code ?? undefined;
  }

  /** Runs another command of keelson on the same storage, to its end. */
  async command(words: readonly string[], signal: AbortSignal): Promise<string> {
    const child = this.#spawn([
      ...words,
      ...this.#flags().filter((_, index, all) => !isServing(all, index)),
    ]);
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => (output += text));
    signal.addEventListener("abort", () => child.kill("SIGKILL"), { once: true });
    const [code] = (await once(child, "close")) as [number | null];
    if (code !== 0) throw new Error(`keelson ${words.join(" ")} ended with ${code}\n${output}`);
    return output;
  }

  connectAs(identity: Partial<KeyPair> & { readonly token?: string }): HttpClient {
    return new HttpClient({ url: this.url, ca: this.ca, ...identity });
  }

  async issue(subject: Subject): Promise<KeyPair> {
    return await this.#authority.issue(subject);
  }

  /** Something that goes after the process. */
  owns(owned: AsyncDisposableStack): void {
    this.#owned = owned;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client?.[Symbol.dispose]();
    await this.stop("SIGKILL");
    const owned = this.#owned;
    this.#owned = undefined;
    await owned?.[Symbol.asyncDispose]();
  }

  #flags(): string[] {
    const { driver, databaseUrl, certDir } = this.#options;
    return [
      "--data-dir",
      this.dataDir,
      "--metrics-port",
      "0",
      "--client-ca-file",
      join(this.folder, "clients.crt"),
      "--token-auth-file",
      join(this.folder, "tokens.csv"),
      "--simulate-workloads",
      "false",
      "--storage-driver",
      driver,
      ...(databaseUrl === undefined ? [] : ["--database-url", databaseUrl]),
      ...(certDir === undefined ? [] : ["--cert-dir", certDir]),
    ];
  }

  #spawn(arguments_: readonly string[]): ChildProcess {
    const [program = process.execPath, ...rest] = [
      ...(this.#options.wrapper ?? []),
      process.execPath,
      entry,
      ...arguments_,
    ];
    return spawn(program, rest, {
      stdio: ["ignore", "pipe", "pipe"],
      cwd: this.folder,
      env: { PATH: process.env["PATH"] ?? "", HOME: this.folder, ...this.#options.environment },
    });
  }
}

/** Flags that only a serving command takes, with their values. */
function isServing(all: readonly string[], index: number): boolean {
  const names = [
    "--metrics-port",
    "--client-ca-file",
    "--token-auth-file",
    "--simulate-workloads",
    "--cert-dir",
  ];
  return names.includes(all[index] ?? "") || names.includes(all[index - 1] ?? "");
}
