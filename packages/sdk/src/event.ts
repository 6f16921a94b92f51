// Events as they arrive: anybody may publish anything, so each is read with care.

import type { Kind } from "./resource.ts";

const verbs = ["created", "updated", "deleted", "reconcile"] as const;

export type EventType = `${Kind}.${(typeof verbs)[number]}`;

/** Where events of a kind are published, unless somebody calls it otherwise. */
export const topics: Readonly<Record<Kind, string>> = {
  cluster: "cluster-events",
  nodepool: "nodepool-events",
};

/** One event. It says which resource to look at, never what is in it. */
export interface ControllerEvent {
  readonly id: string;
  readonly type: EventType;
  readonly kind: Kind;
  readonly resourceId: string;
  readonly clusterId: string;
  readonly generation: number;
  readonly platform?: string;
  readonly reason?: string;
  /** Whose report caused it, where one did. */
  readonly controllerName?: string;
  /** Whom the deletion of the resource waits for, where it is being deleted. */
  readonly finalizers?: readonly string[];
}

/** What a transport hands over: the body, and its attributes where the transport has any. */
export interface RawEvent {
  readonly data: string;
  readonly attributes?: Readonly<Record<string, string>>;
}

/** What was read: an event, one of a type that nobody knows here, or nonsense. */
export type ReadEvent =
  | { readonly found: "event"; readonly event: ControllerEvent }
  | { readonly found: "unknown"; readonly type: string }
  | { readonly found: "malformed"; readonly problem: string };

export function readEvent({ data, attributes = {} }: RawEvent): ReadEvent {
  let body: unknown;
  try {
    body = JSON.parse(data);
  } catch {
    return malformed("the data is not JSON");
  }
  if (body === null || typeof body !== "object" || Array.isArray(body)) {
    return malformed("the data is not an object");
  }
  const members = body as Readonly<Record<string, unknown>>;
  const type = text(members["type"]);
  if (type === undefined) return malformed("type is missing");
  const kind = kindOf(type);
  if (kind === undefined) return { found: "unknown", type };
  const id = text(members["id"]);
  if (id === undefined) return malformed("id is missing");
  const clusterId = text(members["cluster_id"]);
  const resourceId = kind === "cluster" ? clusterId : text(members["nodepool_id"]);
  if (clusterId === undefined || resourceId === undefined) {
    return malformed(
      `${kind === "cluster" ? "cluster_id" : "cluster_id or nodepool_id"} is missing`,
    );
  }
  const generation = members["generation"];
  if (typeof generation !== "number" || !Number.isSafeInteger(generation) || generation < 1) {
    return malformed("generation is not a positive integer");
  }
  const metadata = Object(members["metadata"]) as Readonly<Record<string, unknown>>;
  const platform = text(members["platform"]) ?? text(attributes["platform"]);
  const reason = text(members["reason"]) ?? text(attributes["reason"]);
  const controllerName =
    text(attributes["controller_name"]) ??
    text(members["controller_name"]) ??
    text(metadata["controller_name"]);
  const finalizers = Array.isArray(metadata["finalizers"])
    ? metadata["finalizers"].filter((name) => typeof name === "string")
    : undefined;
  return {
    found: "event",
    event: {
      id,
      type: type as EventType,
      kind,
      resourceId,
      clusterId,
      generation,
      ...(platform === undefined ? {} : { platform }),
      ...(reason === undefined ? {} : { reason }),
      ...(controllerName === undefined ? {} : { controllerName }),
      ...(finalizers === undefined ? {} : { finalizers }),
    },
  };
}

function kindOf(type: string): Kind | undefined {
  const [kind, verb, ...rest] = type.split(".");
  if (rest.length > 0 || !verbs.some((one) => one === verb)) return undefined;
  return kind === "cluster" || kind === "nodepool" ? kind : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function malformed(problem: string): ReadEvent {
  return { found: "malformed", problem };
}
