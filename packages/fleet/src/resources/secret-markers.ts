// Values of Secrets leave as markers. A marker that comes back stands for the value that is stored.

import { createHmac, hkdfSync } from "node:crypto";
import {
  isJsonObject,
  writeJson,
  type FieldProblem,
  type Json,
  type JsonObject,
} from "@keelson/base";
import { groupOf } from "./kinds.ts";
import type { ResourceKey } from "./resource.ts";

/** No base64 and hardly anybody's password: what begins like this is one of ours, or a mistake. */
const prefix = "keelson:secret:";

/** The members of a Secret that hold values. */
const members = ["data", "stringData"] as const;

/** Where kubectl keeps the whole of what it applied last, values and all. */
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * Makes and recognises markers with keys of its own, made from those that encrypt credentials. The newest makes them;
 * markers that an older one made are known as well.
 */
export class SecretMarkers {
  readonly #keys: readonly [Buffer, ...Buffer[]];

  /** The newest first. */
  constructor([newest, ...others]: readonly [Uint8Array, ...Uint8Array[]]) {
    this.#keys = [keyFrom(newest), ...others.map(keyFrom)];
  }

  /** The spec as it may be shown: that of a Secret without its values, any other as it is. */
  hide(spec: JsonObject, key: ResourceKey): JsonObject {
    if (!isSecret(key)) return spec;
    return mapValues(spec, (value) => this.#markerOf(value, key));
  }

  /**
   * The spec with the stored values in place of their markers, wherever in the Secret they now stand. Problems: markers
   * of values that are not stored.
   */
  restore(
    spec: JsonObject,
    stored: JsonObject | undefined,
    key: ResourceKey,
  ): { readonly spec: JsonObject; readonly problems: readonly FieldProblem[] } {
    if (!isSecret(key)) return { spec, problems: [] };
    const known = new Map<string, Json>();
    if (stored !== undefined) {
      mapValues(stored, (value) => {
        for (const secret of this.#keys) known.set(this.#markerOf(value, key, secret), value);
        return value;
      });
    }
    const problems: FieldProblem[] = [];
    const restored = mapValues(spec, (value, field) => {
      if (typeof value !== "string" || !value.startsWith(prefix)) return value;
      const found = known.get(value);
      if (found === undefined) {
        problems.push({
          field: `desired_spec.${field}`,
          message: "stands for no value of this Secret: send the value itself",
        });
      }
      return found ?? value;
    });
    return { spec: restored, problems };
  }

  /** Of the object and the value: equal values of two Secrets have different markers. */
  #markerOf(
    value: Json,
    { clusterId, namespace, name }: ResourceKey,
    secret = this.#keys[0],
  ): string {
    const digest = createHmac("sha256", secret)
      .update(writeJson([clusterId, namespace, name, value]))
      .digest("base64url");
    return `${prefix}${digest.slice(0, 22)}`;
  }
}

function keyFrom(encryptionKey: Uint8Array): Buffer {
  return Buffer.from(hkdfSync("sha256", encryptionKey, "", "keelson secret markers", 32));
}

/** Whether an object of this key has values to hide. */
export function isSecret({ apiVersion, kind }: ResourceKey): boolean {
  return kind === "Secret" && groupOf(apiVersion) === "";
}

/** Whether a JSON pointer into a Secret leads to values of it, or to what holds them. */
export function leadsToValues(pointer: string): boolean {
  return (
    /^\/(?:data|stringData)(?:\/|$)/.test(pointer) ||
    ["/metadata", "/metadata/annotations", lastAppliedPointer].includes(pointer)
  );
}

const lastAppliedPointer = `/metadata/annotations/${lastApplied.replaceAll("/", "~1")}`;

function mapValues(spec: JsonObject, change: (value: Json, field: string) => Json): JsonObject {
  const changed: Record<string, Json> = {};
  for (const member of members) {
    const values = Object.hasOwn(spec, member) ? spec[member] : undefined;
    if (values === undefined) continue;
    // Whatever is no map of values is hidden whole: it may be a value that somebody put in the wrong place.
    changed[member] = isJsonObject(values)
      ? Object.fromEntries(
          Object.entries(values).map(([key, value]) => [key, change(value, `${member}.${key}`)]),
        )
      : change(values, member);
  }
  const { metadata } = spec;
  const annotations = isJsonObject(metadata) ? metadata["annotations"] : undefined;
  if (isJsonObject(metadata) && isJsonObject(annotations)) {
    const applied = Object.hasOwn(annotations, lastApplied) ? annotations[lastApplied] : undefined;
    if (applied !== undefined) {
      const told = change(applied, `metadata.annotations.${lastApplied}`);
      changed["metadata"] = { ...metadata, annotations: { ...annotations, [lastApplied]: told } };
    }
  }
  return Object.keys(changed).length === 0 ? spec : { ...spec, ...changed };
}
