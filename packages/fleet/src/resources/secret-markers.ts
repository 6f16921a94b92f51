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
    const known = new Map<string, Known>();
    if (stored !== undefined) {
      mapValues(stored, (value, field) => {
        for (const secret of this.#keys) {
          const marker = this.#markerOf(value, key, secret);
          const { forms = [] } = known.get(marker) ?? {};
          known.set(marker, { value, forms: [...forms, formAt(field)] });
        }
        return value;
      });
    }
    const problems: FieldProblem[] = [];
    const restored = mapValues(spec, (value, field) => {
      if (typeof value !== "string" || !value.startsWith(prefix)) return value;
      const found = known.get(value);
      const meant = found === undefined ? undefined : valueIn(formAt(field), found);
      if (meant !== undefined) return meant;
      const message =
        found === undefined
          ? "stands for no value of this Secret: send the value itself"
          : "stands for a value that cannot be written here: leave it where it was, or send the value itself";
      problems.push({ field: `desired_spec.${field}`, message });
      return value;
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

/** A stored value, and how it is written wherever it stands. */
interface Known {
  readonly value: Json;
  readonly forms: readonly Form[];
}

/** Under `data` a value is written in base64, elsewhere as the text that it is. */
type Form = "base64" | "text";

function formAt(field: string): Form {
  return field.startsWith("data.") ? "base64" : "text";
}

/** The stored value as it is written in this form; undefined if it cannot be. */
function valueIn(form: Form, { value, forms }: Known): Json | undefined {
  if (forms.includes(form)) return value;
  if (typeof value !== "string") return undefined;
  return form === "base64" ? Buffer.from(value).toString("base64") : textOf(value);
}

/** What nothing but this text is the base64 of; undefined if there is no such text, or none that can be stored. */
function textOf(base64: string): string | undefined {
  const text = Buffer.from(base64, "base64").toString();
  const isIt = Buffer.from(text).toString("base64") === base64 && !text.includes("\0");
  return isIt ? text : undefined;
}

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
