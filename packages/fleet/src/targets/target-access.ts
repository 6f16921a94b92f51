// How a target is reached: what its credential holds, and what a request makes of that.

import { validationFailed, type Clock } from "@keelson/base";
import type { Fields } from "../resources/read-fields.ts";
import type { HeldTargetRow, TargetState } from "../sql/targets.ts";
import type { CredentialCipher } from "./credential-cipher.ts";
import { openAccess, sealAccess, type StoredAccess } from "./stored-access.ts";
import { serverOf, type TargetBody } from "./target-body.ts";

/** How a target is reached, as a row says it, and where that leads. */
export type Reached = Pick<TargetState, "credential" | "inProcess" | "agent" | "server">;

/** By a worker inside it, and nobody knows where. */
export const byAgent: Reached = { credential: null, inProcess: false, agent: true, server: null };

export interface TargetAccessOptions {
  readonly cipher: CredentialCipher;
  readonly clock: Clock;
}

/** Problems of a kubeconfig are told of the request's fields, as `VALIDATION_FAILED`. */
export class TargetAccess {
  readonly #options: TargetAccessOptions;

  constructor(options: TargetAccessOptions) {
    this.#options = options;
  }

  async sealed(clusterId: string, access: StoredAccess, fields: Fields): Promise<Reached> {
    const { cipher, clock } = this.#options;
    const server = await serverOf(access, fields, clock);
    const credential = sealAccess(cipher, clusterId, access);
    return { credential, inProcess: false, agent: false, server };
  }

  /** How the target is reached from here on; empty where that stays. */
  async reachedAfter(
    target: HeldTargetRow,
    { kubeconfig, context, agent }: TargetBody,
    fields: Fields,
  ): Promise<Partial<Reached>> {
    if (kubeconfig === undefined && context === undefined && agent === undefined) return {};
    if (target.in_process) {
      const field =
        kubeconfig !== undefined ? "kubeconfig" : agent === undefined ? "context" : "agent";
      const message = "is of no use: the target is a server of keelson's own process";
      throw validationFailed({ field, message });
    }
    if (agent === true) {
      if (context !== undefined)
        throw validationFailed({ field: "context", message: "excludes agent" });
      return { credential: null, agent: true, ...(target.agent ? {} : { server: null }) };
    }
    const known = this.#known(target);
    if (kubeconfig === undefined && (known === undefined || agent === false)) {
      if (known !== undefined) return {};
      throw validationFailed({ field: "kubeconfig", message: "is required: the target has none" });
    }
    const access =
      kubeconfig === undefined && known !== undefined
        ? { ...known, context }
        : sentAccess(kubeconfig ?? "", context);
    if (this.holds(target, access)) return {};
    return await this.sealed(target.cluster_id, access, fields);
  }

  /** Whether the row holds just this access already, under the newest key. */
  holds(row: HeldTargetRow, { source, context, trust }: StoredAccess): boolean {
    const known = this.#known(row);
    if (known === undefined || row.credential === null) return false;
    return (
      this.#options.cipher.isCurrent(row.credential) &&
      known.context === context &&
      known.trust === trust &&
      JSON.stringify(known.source) === JSON.stringify(source)
    );
  }

  /** What it holds now; undefined without a credential, or with one that our keys do not open. */
  #known({ cluster_id: clusterId, credential }: HeldTargetRow): StoredAccess | undefined {
    if (credential === null) return undefined;
    try {
      return openAccess(this.#options.cipher, clusterId, credential);
    } catch {
      return undefined;
    }
  }
}

/** A kubeconfig that somebody sent. */
export function sentAccess(text: string, context: string | undefined): StoredAccess {
  return { source: { text }, context, trust: "data" };
}
