// Clusters and nodepools as the API shows them, and the few words in which they differ.

import { isJsonObject, type JsonObject } from "@keelson/base";
import type { RestClient } from "../client/rest-client.ts";

export interface Kind {
  readonly noun: "cluster" | "nodepool";
  /** The member of a list's answer, which is its path too. */
  readonly plural: "clusters" | "nodepools";
  /** How many a page may hold. */
  readonly pageMax: number;
}

export const kinds = {
  cluster: { noun: "cluster", plural: "clusters", pageMax: 100 },
  nodepool: { noun: "nodepool", plural: "nodepools", pageMax: 1_000 },
} as const satisfies Record<Kind["noun"], Kind>;

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

export interface Status {
  readonly phase: string;
  readonly reason: string;
  readonly message: string;
  readonly conditions: readonly Condition[];
}

/** A cluster, or a nodepool, which has a cluster's id besides. */
export interface Declared {
  readonly id: string;
  readonly cluster_id?: string;
  readonly name: string;
  readonly target_project_id: string | null;
  readonly created_by: string;
  readonly generation: number;
  readonly spec: JsonObject;
  readonly status: Status;
  readonly created_at: string;
}

export function addressOf({ plural }: Kind, { id }: Pick<Declared, "id">): string {
  return `/${plural}/${id}`;
}

/** Undefined where there is none, or none that the caller may see. */
export async function findById(
  client: RestClient,
  kind: Kind,
  id: string,
  signal: AbortSignal,
): Promise<Declared | undefined> {
  return (await client.find(addressOf(kind, { id }), signal)) as unknown as Declared | undefined;
}

/** The platform that a spec names. */
export function platformOf({ platform }: JsonObject): string | undefined {
  const type = platform !== undefined && isJsonObject(platform) ? platform["type"] : undefined;
  return typeof type === "string" && type !== "" ? type : undefined;
}

/** Why it is not Ready; undefined where it is. */
export function reasonOf({ status: { phase, reason, message } }: Declared): string | undefined {
  return phase === "Ready" ? undefined : `${reason}, ${message}`;
}
