// What the API of fleet answers, as far as commands look at it, and how resources are called before people. The server is
// ours: answers are taken to have these shapes where they come in.

import type { JsonObject } from "@keelson/base";
import type { RestClient } from "../client/rest-client.ts";

/** Which resource it is. */
export interface NamedResource {
  readonly id: number;
  readonly cluster_id: string;
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  readonly api_version: string;
}

/** An item of a list. */
export interface ListedResource extends NamedResource {
  readonly generation: number;
  readonly revision: number;
  readonly status: string;
  readonly health: string;
  readonly paused: boolean;
  readonly created_at: string;
}

/** One resource, whole. */
export interface ResourceDetails extends ListedResource {
  readonly desired_spec: JsonObject;
  readonly applied: { readonly generation: number | null } | null;
  readonly last_error: {
    readonly class: string;
    readonly message: string;
    readonly attempts: number;
    readonly next_attempt_at: string | null;
  } | null;
  readonly conditions: readonly Condition[];
}

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

export interface Revision {
  readonly generation: number;
  readonly revision: number;
  readonly api_version: string;
  readonly desired_spec: JsonObject;
  readonly actor: string;
  readonly change_set: string | null;
  readonly created_at: string;
}

type Named = Omit<NamedResource, "id">;

/** Undefined if it is not there, or no longer. */
export async function findDetails(
  client: RestClient,
  id: number,
  signal: AbortSignal,
): Promise<ResourceDetails | undefined> {
  const found = await client.find(`/resources/${id}`, signal);
  return found as unknown as ResourceDetails | undefined;
}

/** `deployment/web`; kinds of groups that are not Kubernetes' own say which: `widget.example.com/w`. */
export function shortName({ kind, name, api_version }: Omit<Named, "cluster_id" | "namespace">) {
  return `${kindWord(kind, api_version)}/${name}`;
}

/** `local/default/deployment/web`: names one resource wherever a resource can be named. `-` stands for no namespace. */
export function fullName({ cluster_id, namespace, ...rest }: Named): string {
  return `${cluster_id}/${namespace === "" ? "-" : namespace}/${shortName(rest)}`;
}

export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}

function kindWord(kind: string, apiVersion: string): string {
  const group = groupOf(apiVersion);
  const isKubernetes = !group.includes(".") || group.endsWith(".k8s.io");
  return isKubernetes ? kind.toLowerCase() : `${kind.toLowerCase()}.${group}`;
}

/** The condition of a type, if it holds. */
export function holds(details: ResourceDetails, type: string): Condition | undefined {
  return details.conditions.find((one) => one.type === type && one.status === "True");
}

/** Why a resource is not what was asked for, in a sentence; undefined if there is nothing to say. */
export function reasonOf(details: ResourceDetails): string | undefined {
  const { last_error: error, conditions, status } = details;
  const target = conditions.find(({ type }) => type === "TargetReachable");
  if (target?.status === "False") return target.message;
  const blocked = holds(details, "DeletionBlocked");
  if (blocked !== undefined) return blocked.message;
  if (error !== null && status !== "synced") return `${error.class}: ${error.message}`;
  const paused = holds(details, "Paused");
  if (paused !== undefined && status !== "synced") return paused.message;
  return holds(details, "Drifted")?.message;
}
