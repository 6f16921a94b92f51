// A real Kubernetes control plane for the length of a test.

import { execFile } from "node:child_process";
import { request as startHttpRequest } from "node:http";
import { request as startHttpsRequest } from "node:https";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import type { CertificateAuthority, KeyPair, Subject } from "../tools/certificates.ts";
import { writeClusterFiles, type ClusterIdentity } from "./cluster-files.ts";
import { argumentsOf, readyUrlOf, type ClusterProgram, type Layout } from "./command-lines.ts";
import { Guard, ProcessEnded, type GuardedProcess } from "../tools/guarded.ts";
import { HttpClient } from "../tools/http-client.ts";
import { findFreePorts } from "../tools/ports.ts";
import { programPath, type ProgramName } from "./programs.ts";

const readyTimeoutMs = 120_000;
const pollMs = 25;
const attemptsMax = 3;

export interface OracleOptions {
  /** What kube-controller-manager runs, `["*"]` for its defaults. Without this there is none. */
  readonly controllers?: readonly string[];
  readonly scheduler?: boolean;
  /** KWOK plays the kubelet of every Node. The cluster starts with this many Nodes, one if true. */
  readonly kwok?: boolean | number;
  /** Further flags, `--name=value`; they win over ours. */
  readonly flags?: Readonly<Partial<Record<ClusterProgram, readonly string[]>>>;
}

/**
 * Starts a control plane on loopback with ports and certificates of its own and waits until each
 * program says it is ready. It is gone after disposal, and moments after the death of this process.
 */
export async function startOracle(options: OracleOptions, signal: AbortSignal): Promise<Oracle> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await Oracle.start(options, signal);
    } catch (error) {
      // Somebody else took a port between our look and the program's.
      const portTaken = error instanceof ProcessEnded && /address already in use/.test(error.log);
      if (!portTaken || attempt === attemptsMax) throw error;
    }
  }
}

/** A running cluster. Made by `startOracle`. */
export class Oracle implements AsyncDisposable {
  /** Where the API server is. */
  readonly url: string;
  /** Where etcd is. */
  readonly etcdUrl: string;
  /** The certificate of the authority behind the API server's, PEM. */
  readonly ca: string;
  /** The admin's certificate, key and bearer token. */
  readonly admin: ClusterIdentity["admin"];
  readonly frontProxyAuthority: CertificateAuthority;
  /** The path of the admin's kubeconfig. */
  readonly kubeconfig: string;
  /** Logs, certificates and data; gone with the cluster. */
  readonly folder: string;
  /** The admin's requests. */
  readonly client: HttpClient;

  readonly #authority: CertificateAuthority;
  readonly #layout: Layout;
  readonly #options: OracleOptions;
  readonly #guard: Guard;
  readonly #running = new Map<ClusterProgram, GuardedProcess>();

  private constructor(
    options: OracleOptions,
    layout: Layout,
    identity: ClusterIdentity,
    guard: Guard,
  ) {
    this.url = `https://127.0.0.1:${layout.ports["kube-apiserver"]}`;
    this.etcdUrl = `http://127.0.0.1:${layout.ports.etcd}`;
    this.ca = identity.authority.certificate;
    this.admin = identity.admin;
    this.frontProxyAuthority = identity.frontProxyAuthority;
    this.kubeconfig = join(layout.folder, "admin.kubeconfig");
    this.folder = layout.folder;
    this.client = new HttpClient({ url: this.url, ca: this.ca, ...identity.admin });
    this.#authority = identity.authority;
    this.#layout = layout;
    this.#options = options;
    this.#guard = guard;
  }

  /** Prefer `startOracle`, which tries again with other ports. */
  static async start(options: OracleOptions, signal: AbortSignal): Promise<Oracle> {
    await using undo = new AsyncDisposableStack();
    const guard = undo.use(new Guard());
    const [etcd = 0, etcdPeer = 0, api = 0, controllers = 0, scheduler = 0, kwok = 0] =
      await findFreePorts(6);
    const layout: Layout = {
      folder: guard.folder,
      controllers: options.controllers,
      ports: {
        etcd,
        etcdPeer,
        "kube-apiserver": api,
        "kube-controller-manager": controllers,
        "kube-scheduler": scheduler,
        kwok,
      },
    };
    const identity = await writeClusterFiles(guard.folder, `https://127.0.0.1:${api}`);
    const oracle = new Oracle(options, layout, identity, guard);
    await oracle.#startAll(signal);
    undo.move();
    return oracle;
  }

  /** A client with another identity; dispose it. `{}` is nobody in particular. */
  connectAs(identity: Partial<KeyPair> & { readonly token?: string }): HttpClient {
    return new HttpClient({ url: this.url, ca: this.ca, ...identity });
  }

  /** A certificate that the API server accepts as this user, in these groups. */
  async issue(subject: Subject): Promise<KeyPair> {
    return await this.#authority.issue(subject);
  }

  /** Runs kubectl as admin. Resolves with whatever it says; `code` is its exit code. */
  async kubectl(arguments_: readonly string[], signal: AbortSignal): Promise<Output> {
    return await this.run("kubectl", arguments_, signal);
  }

  /** Runs kubectl or Helm as admin, with an empty home. */
  async run(
    program: ProgramName & ("kubectl" | "helm"),
    arguments_: readonly string[],
    signal: AbortSignal,
  ): Promise<Output> {
    const env = { KUBECONFIG: this.kubeconfig, HOME: this.folder, PATH: process.env["PATH"] ?? "" };
    return await new Promise((resolve, reject) => {
      const options = { env, signal, maxBuffer: 64 << 20 };
      execFile(programPath(program), arguments_, options, (error, stdout, stderr) => {
        if (error === null) resolve({ code: 0, stdout, stderr });
        else if (typeof error.code === "number") resolve({ code: error.code, stdout, stderr });
        else reject(new Error(`cannot run ${program}`, { cause: error }));
      });
    });
  }

  /** Ends one program and waits until it is gone. Its data and ports stay for the next `startProgram`. */
  async stopProgram(
    program: ClusterProgram,
    how: "SIGTERM" | "SIGKILL" = "SIGTERM",
  ): Promise<void> {
    const running = this.#running.get(program);
    if (running === undefined) return;
    this.#running.delete(program);
    running.kill(how);
    await this.#guard.join(running);
  }

  /** Starts one program, if it does not run, and waits until it is ready. */
  async startProgram(program: ClusterProgram, signal: AbortSignal): Promise<void> {
    if (this.#running.get(program)?.hasEnded === false) return;
    const running = await this.#guard.start({
      name: program,
      path: programPath(program),
      arguments: [...argumentsOf(program, this.#layout), ...(this.#options.flags?.[program] ?? [])],
    });
    this.#running.set(program, running);
    await this.#untilReady(program, running, signal);
  }

  /** The process id of a running program. */
  pidOf(program: ClusterProgram): number | undefined {
    return this.#running.get(program)?.pid;
  }

  /** The process that will clean up after us. */
  get guardPid(): number | undefined {
    return this.#guard.pid;
  }

  /** The end of a program's log. */
  logTail(program: ClusterProgram): string {
    return this.#running.get(program)?.logTail() ?? "";
  }

  /**
   * Forgets etcd's history up to now and returns etcd's revision. Lists at older resource versions
   * and older continue tokens expire at once; watches are served from the API server's memory and
   * expire only after it was restarted too.
   */
  async compact(signal: AbortSignal): Promise<number> {
    const range = await this.#etcd("/v3/kv/range", { key: "AA==" }, signal);
    const revision = Number((range as { header: { revision: string } }).header.revision);
    await this.#etcd("/v3/kv/compaction", { revision: String(revision), physical: true }, signal);
    return revision;
  }

  /** Adds a Node that KWOK takes for its own. */
  async addNode(name: string, signal: AbortSignal): Promise<void> {
    const resources = { cpu: "64", memory: "256Gi", pods: "250" };
    const node = {
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name,
        labels: { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux" },
        annotations: { "node.alpha.kubernetes.io/ttl": "0" },
      },
      status: { allocatable: resources, capacity: resources },
    };
    const response = await this.client.send(
      { method: "POST", path: "/api/v1/nodes", body: node },
      signal,
    );
    if (response.status !== 201) throw new Error(`cannot add node ${name}: ${response.text}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client[Symbol.dispose]();
    this.#running.clear();
    await this.#guard[Symbol.asyncDispose]();
  }

  async #startAll(signal: AbortSignal): Promise<void> {
    const { controllers, scheduler = false, kwok = false } = this.#options;
    await this.startProgram("etcd", signal);
    await this.startProgram("kube-apiserver", signal);
    const beside: ClusterProgram[] = [];
    if (controllers !== undefined) beside.push("kube-controller-manager");
    if (scheduler) beside.push("kube-scheduler");
    if (kwok !== false) beside.push("kwok");
    await Promise.all(beside.map((program) => this.startProgram(program, signal)));
    for (let index = 0; index < Number(kwok); index += 1) {
      await this.addNode(`node-${index}`, signal);
    }
  }

  async #untilReady(
    program: ClusterProgram,
    running: GuardedProcess,
    signal: AbortSignal,
  ): Promise<void> {
    const url = readyUrlOf(program, this.#layout);
    const deadline = performance.now() + readyTimeoutMs;
    while (!(await this.#isReady(url))) {
      signal.throwIfAborted();
      if (running.hasEnded) {
        throw new ProcessEnded(program, await running.ended, running.logTail());
      }
      if (performance.now() > deadline) {
        throw new Error(`${program} is not ready in time; its log ends:\n${running.logTail()}`);
      }
      await wait(pollMs, undefined, { signal });
    }
  }

  /** Asked without the client: the controller manager's certificate is one it made itself. */
  async #isReady(url: string): Promise<boolean> {
    return await new Promise((resolve) => {
      const { certificate, key } = this.admin;
      const start = url.startsWith("https:") ? startHttpsRequest : startHttpRequest;
      const options = {
        cert: certificate,
        key,
        rejectUnauthorized: false,
        timeout: 2000,
        agent: false,
      };
      const probe = start(url, options, (incoming) => {
        incoming.resume();
        resolve(incoming.statusCode === 200);
      });
      probe.on("timeout", () => probe.destroy(new Error("timeout")));
      probe.on("error", () => resolve(false));
      probe.end();
    });
  }

  async #etcd(path: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    const response = await fetch(new URL(path, this.etcdUrl), {
      method: "POST",
      body: JSON.stringify(body),
      signal,
    });
    const answer: unknown = await response.json();
    if (!response.ok) throw new Error(`etcd refused ${path}: ${JSON.stringify(answer)}`);
    return answer;
  }
}

/** What a program printed, and how it ended. */
export interface Output {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}
