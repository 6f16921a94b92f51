// Our server as a user runs it: a process of its own, `keelson apiserver`, on SQLite or on PostgreSQL.

import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { sharedThrowawayPostgres } from "@keelson/database/testing";

import { KeelsonProcess } from "../e2e/keelson-process.ts";
import { runKeelson } from "../e2e/run-keelson.ts";
import { CertificateAuthority, type KeyPair, type Subject } from "../tools/certificates.ts";
import { kubeconfigFor } from "../oracle/cluster-files.ts";
import { HttpClient } from "../tools/http-client.ts";
import { findFreePorts } from "../tools/ports.ts";
import type { Target } from "./target.ts";

export const drivers = ["sqlite", "postgresql"] as const;
export type Driver = (typeof drivers)[number];

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
  #process: KeelsonProcess | undefined;
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

  /** Of the process that runs. */
  get pid(): number | undefined {
    return this.isAlive ? this.#process?.pid : undefined;
  }

  get isAlive(): boolean {
    return this.#process?.isAlive ?? false;
  }

  /** The end of what it has said since it was started last. */
  get output(): string {
    return this.#process?.output ?? "";
  }

  /** Starts the process, which must not run, and waits until it says it is ready. */
  async start(signal: AbortSignal): Promise<void> {
    const { flags = [] } = this.#options;
    this.#process = new KeelsonProcess(this.dataDir, {
      command: "apiserver",
      flags: [...this.#storage(), ...this.#serving(), ...flags],
      ...this.#surroundings(),
    });
    await this.#process.ready(signal);
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
    const ended = await this.#process?.stop(how);
    return ended?.code ?? undefined;
  }

  /** Runs another command of keelson on the same storage, to its end. */
  async command(words: readonly string[], signal: AbortSignal): Promise<string> {
    const all = [...words, "--data-dir", this.dataDir, ...this.#storage()];
    const { code, output } = await runKeelson(all, this.#surroundings(), signal);
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

  #storage(): readonly string[] {
    const { driver, databaseUrl } = this.#options;
    return [
      "--storage-driver",
      driver,
      ...(databaseUrl === undefined ? [] : ["--database-url", databaseUrl]),
    ];
  }

  #serving(): readonly string[] {
    const { certDir } = this.#options;
    return [
      "--kube-port",
      String(this.#port),
      "--client-ca-file",
      join(this.folder, "clients.crt"),
      "--token-auth-file",
      join(this.folder, "tokens.csv"),
      "--simulate-workloads",
      "false",
      ...(certDir === undefined ? [] : ["--cert-dir", certDir]),
    ];
  }

  #surroundings() {
    const environment = { HOME: this.folder, ...this.#options.environment };
    return { cwd: this.folder, isDetached: false, environment };
  }
}
