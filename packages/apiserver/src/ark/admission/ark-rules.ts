// What admission does to the objects of one Ark kind.

import type { JsonObject, MutableJsonObject } from "@keelson/base";
import type { FieldPlace } from "@keelson/kube";

import type { ArkLookup } from "./lookup.ts";
import type { ModelHosts } from "./model-hosts.ts";

/** The write that rules are about, and whom they may ask. */
export interface Asking {
  /** Empty for an object of the cluster. */
  readonly namespace: string;
  readonly name: string;
  readonly lookup: ArkLookup;
  readonly modelHosts: ModelHosts;
  /** Says something to the client in a `Warning` header. */
  readonly warn: (text: string) => void;
  readonly signal: AbortSignal;
}

/** The rules of a kind whose spec is a `Spec`. */
export interface ArkRules<Spec> {
  /** Fills in and rewrites, in place. Nothing has judged the object yet: anything may stand anywhere. */
  readonly default?: (object: MutableJsonObject, asking: Asking) => void | Promise<void>;
  /** Says at `at`, which is the spec, what is wrong there. The schema holds. `old` is what it was, if it was. */
  readonly validate?: (
    specs: { readonly spec: Spec; readonly old: Spec | undefined },
    at: FieldPlace,
    asking: Asking,
  ) => void | Promise<void>;
}

/** The spec of an object that belongs to the caller; undefined where it is none. */
export function specToFill(object: MutableJsonObject): MutableJsonObject | undefined {
  const { spec } = object;
  return typeof spec === "object" && spec !== null && !Array.isArray(spec)
    ? (spec as MutableJsonObject)
    : undefined;
}

/** Looks for an object in the namespace of the write, and says so if there is none. */
export async function findNamed(
  kind: "Agent" | "Model" | "Team" | "Tool",
  name: string,
  at: FieldPlace,
  { namespace, lookup, signal }: Asking,
): Promise<JsonObject | undefined> {
  const found = await lookup.find(kind, { namespace, name }, signal);
  if (found === undefined) {
    at.notFound(name, `there is no ${kind} of this name in namespace ${namespace}`);
  }
  return found;
}
