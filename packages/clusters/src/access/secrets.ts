// Secrets in specs leave as a marker. A marker that comes back stands for the value that is stored.

import {
  isJsonArray,
  isJsonObject,
  setMember,
  type FieldProblem,
  type Json,
  type JsonObject,
  type MutableJson,
  type MutableJsonObject,
} from "@keelson/base";
import { formerItems, Shapes } from "./list-items.ts";

export const marker = "[REDACTED]";

const secretKeys = new Set(
  [
    "serviceAccountSigningKey",
    "privateKey",
    "password",
    "clientSecret",
    "secretAccessKey",
    "token",
    "kubeconfig",
  ].map((key) => key.toLowerCase()),
);

/** The spec as it may be shown: every text under a secret key is the marker. */
export function redact(spec: JsonObject): JsonObject {
  return map(spec, undefined, "", { change: () => marker }) as JsonObject;
}

/**
 * The spec with the stored values in place of markers, each from where it stands; what is in a list from the item that
 * it goes on from. Problems: markers that stand for nothing, or for nobody knows which. They never say a value.
 */
export function restore(
  spec: JsonObject,
  stored: JsonObject | undefined,
): { readonly spec: JsonObject; readonly problems: readonly FieldProblem[] } {
  const problems: FieldProblem[] = [];
  const change: Change = (text, former, field) => {
    if (text !== marker) return text;
    if (typeof former === "string") return former;
    problems.push({ field, message: "stands for no stored value: send the value itself" });
    return text;
  };
  const restored = map(spec, stored, "spec", { change, shapes: new Shapes(isSecretKey) });
  return { spec: restored as JsonObject, problems };
}

type Change = (text: string, former: Json | undefined, field: string) => string;

interface How {
  readonly change: Change;
  /** Of what is stored, where something is. */
  readonly shapes?: Shapes;
  readonly isSecret?: boolean;
}

/** Bodies are at most 512 levels deep: a stack carries that. */
function map(value: Json, former: Json | undefined, field: string, how: How): MutableJson {
  const { change, shapes, isSecret = false } = how;
  if (typeof value === "string") return isSecret ? change(value, former, field) : value;
  if (isJsonArray(value)) {
    const formers =
      shapes !== undefined && isJsonArray(former)
        ? formerItems(value, former, { shapes, isSecret })
        : [];
    return value.map((item, index) => map(item, formers[index], `${field}[${index}]`, how));
  }
  if (!isJsonObject(value)) return value;
  const mapped: MutableJsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    const before = isJsonObject(former) && Object.hasOwn(former, key) ? former[key] : undefined;
    const inner = !isSecret && isSecretKey(key) ? { ...how, isSecret: true } : how;
    setMember(mapped, key, map(member, before, `${field}.${key}`, inner));
  }
  return mapped;
}

function isSecretKey(key: string): boolean {
  return secretKeys.has(key.toLowerCase());
}
