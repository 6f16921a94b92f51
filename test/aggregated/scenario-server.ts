// A server of ours as clients of its host see it: what the host's address answers for our group.

import type { ScenarioServer, StartServer } from "../apiserver/scenarios/bed.ts";
import type { KeyPair, Subject } from "../tools/certificates.ts";
import type { HttpClient, Response } from "../tools/http-client.ts";
import { until } from "../tools/until.ts";
import { isHeldBack } from "./asking.ts";
import { startBed, type Bed } from "./bed.ts";
import { group, versions } from "./host-objects.ts";

/** What a standalone server does by itself. */
const controllers = [
  "namespace-controller",
  "garbage-collector-controller",
  "serviceaccount-controller",
  "root-ca-certificate-publisher-controller",
];

/** Starts a host with its controllers, and ours behind it. */
export const startBehindHost: StartServer = async (options, signal) => {
  await using undo = new AsyncDisposableStack();
  // Its controllers would ask slowly for what they do at once in one process.
  const flags = { "kube-controller-manager": ["--kube-api-qps=1000", "--kube-api-burst=2000"] };
  const bed = undo.use(await startBed({ ...options, oracle: { controllers, flags } }, signal));
  // It reads once in a while which kinds there are; a new one reads at once.
  await bed.oracle.stopProgram("kube-controller-manager");
  await bed.oracle.startProgram("kube-controller-manager", signal);
  const server = new BehindHost(bed);
  await server.untilReached(signal);
  undo.move();
  return server;
};

class BehindHost implements ScenarioServer {
  readonly #bed: Bed;

  constructor(bed: Bed) {
    this.#bed = bed;
  }

  get url(): string {
    return this.#bed.oracle.url;
  }

  get ca(): string {
    return this.#bed.oracle.ca;
  }

  get admin(): ScenarioServer["admin"] {
    return this.#bed.oracle.admin;
  }

  get kubeconfig(): string {
    return this.#bed.oracle.kubeconfig;
  }

  get folder(): string {
    return this.#bed.folder;
  }

  get client(): HttpClient {
    return this.#bed.oracle.client;
  }

  get direct(): { url: string; ca: string; admin: ScenarioServer["admin"] } {
    const { url, ca } = this.#bed.replica;
    return { url, ca, admin: this.admin };
  }

  get pid(): number | undefined {
    return this.#bed.replica.pid;
  }

  get dataDir(): string {
    return this.#bed.replica.dataDir;
  }

  connectAs(identity: Partial<KeyPair> & { readonly token?: string }): HttpClient {
    return this.#bed.oracle.connectAs(identity);
  }

  async issue(subject: Subject): Promise<KeyPair> {
    return await this.#bed.oracle.issue(subject);
  }

  isHeldBack(answer: Response): boolean {
    return isHeldBack(answer);
  }

  async start(signal: AbortSignal): Promise<void> {
    await this.#bed.replica.start(signal);
    await this.untilReached(signal);
  }

  async stop(how: NodeJS.Signals): Promise<void> {
    await this.#bed.replica.stop(how);
  }

  /** Our kinds and our documents, which the host passes on as soon as it has seen them. */
  async untilReached(signal: AbortSignal): Promise<void> {
    await until(async () => {
      const paths = versions.flatMap(({ version }) => [
        `/apis/${group}/${version}`,
        `/openapi/v3/apis/${group}/${version}`,
      ]);
      const answers = await Promise.all(paths.map((path) => this.client.send({ path }, signal)));
      return answers.every(({ status }) => status === 200);
    }, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#bed[Symbol.asyncDispose]();
  }
}
