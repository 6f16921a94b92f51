// Clients of clusters by their ids: whoever in fleet needs a cluster asks here.

import { createHash } from "node:crypto";
import { RestError, type Clock, type Metrics, type Random } from "@keelson/base";
import { Client, loadKubeconfig, type Access, type EnvironmentProxies } from "@keelson/client";
import type { Database } from "@keelson/database";
import { findAccess, type AccessRow } from "../sql/targets.ts";
import type { CredentialCipher } from "./credential-cipher.ts";
import { openAccess } from "./stored-access.ts";

export interface TargetClientsOptions {
  readonly database: Database;
  readonly cipher: CredentialCipher;
  /** Clusters that this process reaches by itself: a server of its own, or the one that it runs in. */
  readonly own: ReadonlyMap<string, Access>;
  readonly proxies: EnvironmentProxies;
  /** The longest call, reads and discovery too: below the lease under which they are made. */
  readonly callTimeoutMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Metrics;
}

/** What others see of it. */
export interface ClientPort {
  /**
   * The client of a cluster. It belongs to the port: nobody disposes it, and nobody keeps it for long, since it is
   * another once the credential has changed. Rejects with the `RestError` codes `TARGET_UNKNOWN`, if no target of
   * that id is registered, and `TARGET_UNREACHABLE`, if this process has no way to it.
   */
  clientOf(clusterId: string, signal: AbortSignal): Promise<Client>;
  /** A client by an access that is not stored; it belongs to whoever asks. Rejects with `TARGET_UNREACHABLE`. */
  connect(clusterId: string, access: AccessRow): Promise<Client>;
}

interface Held {
  readonly version: string;
  readonly client: Promise<Client>;
}

/** Calls that are under way with a credential that was replaced may end; then its connections are cut. */
const retiredMs = 60_000;

export class TargetClients implements ClientPort, AsyncDisposable {
  readonly #options: TargetClientsOptions;
  readonly #held = new Map<string, Held>();
  readonly #retired = new Map<Held, Disposable>();

  constructor(options: TargetClientsOptions) {
    this.#options = options;
  }

  async clientOf(clusterId: string, signal: AbortSignal): Promise<Client> {
    const [row] = await this.#options.database.run(findAccess, clusterId, signal);
    if (row === undefined) {
      this.forget(clusterId);
      throw new RestError("TARGET_UNKNOWN", `no target is registered as ${clusterId}`);
    }
    const version = versionOf(row);
    const held = this.#held.get(clusterId);
    if (held?.version === version) return held.client;
    if (held !== undefined) this.forget(clusterId);
    const fresh: Held = { version, client: this.connect(clusterId, row) };
    this.#held.set(clusterId, fresh);
    try {
      return await fresh.client;
    } catch (error) {
      if (this.#held.get(clusterId) === fresh) this.#held.delete(clusterId);
      throw error;
    }
  }

  async connect(clusterId: string, row: AccessRow): Promise<Client> {
    const { clock, random, metrics, callTimeoutMs: timeoutMs } = this.#options;
    const access = await this.#accessOf(clusterId, row);
    // Whoever delivers bounds the calls under way; a rate beside that would only be a hidden one.
    return new Client({ access, rateLimit: "none", timeoutMs, clock, random, metrics });
  }

  /** Lets go of a client that nobody should use any more. */
  forget(clusterId: string): void {
    const held = this.#held.get(clusterId);
    if (held === undefined) return;
    this.#held.delete(clusterId);
    this.#retired.set(
      held,
      this.#options.clock.after(retiredMs, () => {
        this.#retired.delete(held);
        void close(held);
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#retired.values()) timer[Symbol.dispose]();
    const all = [...this.#held.values(), ...this.#retired.keys()];
    this.#held.clear();
    this.#retired.clear();
    await Promise.all(all.map(close));
  }

  async #accessOf(clusterId: string, row: AccessRow): Promise<Access> {
    const { own, cipher, clock, proxies } = this.#options;
    if (row.credential === null) {
      const access = own.get(clusterId);
      if (access !== undefined) return access;
      throw row.agent
        ? reachedInside(clusterId)
        : unreachable(`${clusterId} is the server of another process`);
    }
    try {
      const { source, context, trust } = openAccess(cipher, clusterId, row.credential);
      const chosen = context === undefined ? {} : { context };
      return await loadKubeconfig(source, { clock, proxies, trust, ...chosen });
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : "its credential cannot be read";
      throw unreachable(`${clusterId} cannot be reached: ${why}`, cause);
    }
  }
}

/** Of a cluster that has a worker of its own, and that nobody else can ask. */
export function reachedInside(clusterId: string): RestError {
  return unreachable(`${clusterId} is reached by the worker inside it alone`);
}

function unreachable(message: string, cause?: unknown): RestError {
  return new RestError("TARGET_UNREACHABLE", message, cause === undefined ? {} : { cause });
}

async function close({ client }: Held): Promise<void> {
  const made = await client.catch(() => undefined);
  await made?.[Symbol.asyncDispose]();
}

/** Another as soon as the cluster is reached in another way. */
function versionOf({ credential, in_process: inProcess, agent }: AccessRow): string {
  if (credential === null) return `own ${inProcess} ${agent}`;
  return createHash("sha256").update(credential).digest("base64");
}
