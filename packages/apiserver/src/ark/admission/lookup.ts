// What the rules of the Ark kinds ask of other objects.

import type { JsonObject } from "@keelson/base";
import { type Store } from "@keelson/store";

import { findRow } from "../../find-row.ts";
import type { Place } from "../../objects.ts";
import { arkGroup } from "../ark-group.ts";

/**
 * The Secrets and ConfigMaps of the cluster, wherever they are kept. Each answers the object as the API shows it, and
 * undefined where there is none; it rejects where nobody can tell.
 */
export interface ClusterValues {
  secret(place: Place, signal: AbortSignal): Promise<JsonObject | undefined>;
  configMap(place: Place, signal: AbortSignal): Promise<JsonObject | undefined>;
}

/** Kinds that objects of Ark name. */
export type ArkReferent = "Agent" | "ArkConfig" | "Model" | "Team" | "Tool";

/** Everything that a rule may look at besides its own object. */
export interface ArkLookup extends ClusterValues {
  /** An object of ours; undefined where there is none. */
  find(kind: ArkReferent, place: Place, signal: AbortSignal): Promise<JsonObject | undefined>;
}

/** Objects of Ark from the store that we serve, Secrets and ConfigMaps from where they are. */
export function arkLookup(store: Store, values: ClusterValues): ArkLookup {
  return {
    find: (kind, place, signal) => stored(store, `${kind}.${arkGroup}`, place, signal),
    secret: (place, signal) => values.secret(place, signal),
    configMap: (place, signal) => values.configMap(place, signal),
  };
}

/** Those of a standalone server: they are in its own store. */
export function storedValues(store: Store): ClusterValues {
  return {
    secret: (place, signal) => stored(store, "Secret", place, signal),
    configMap: (place, signal) => stored(store, "ConfigMap", place, signal),
  };
}

async function stored(
  store: Store,
  kind: string,
  { namespace, name }: Place,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  return (await findRow(store, { kind, namespace, name }, signal))?.body.value;
}

/** One object that names so many others would keep the server asking. */
export const referencesMax = 500;

/** More objects are named than anybody looks at for one. */
export class TooManyReferences extends Error {
  override readonly name = "TooManyReferences";
  readonly code = "TOO_MANY_REFERENCES";
}

/** The same, for one write: each object is asked for once. Rejects with `TooManyReferences` beyond the bound. */
export function askingOnce(lookup: ArkLookup): ArkLookup {
  const asked = new Map<string, Promise<JsonObject | undefined>>();
  const once = (
    kind: string,
    { namespace, name }: Place,
    ask: () => Promise<JsonObject | undefined>,
  ): Promise<JsonObject | undefined> => {
    const key = `${kind}/${namespace}/${name}`;
    const known = asked.get(key);
    if (known !== undefined) return known;
    if (asked.size === referencesMax) return Promise.reject(new TooManyReferences());
    const answer = ask();
    asked.set(key, answer);
    return answer;
  };
  return {
    find: (kind, place, signal) => once(kind, place, () => lookup.find(kind, place, signal)),
    secret: (place, signal) => once("Secret", place, () => lookup.secret(place, signal)),
    configMap: (place, signal) => once("ConfigMap", place, () => lookup.configMap(place, signal)),
  };
}
