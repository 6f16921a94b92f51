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
  return map(spec, undefined, "", () => marker) as JsonObject;
}

/**
 * The spec with the stored values in place of markers, each from where it stands. Problems: markers that stand for
 * nothing. They never say a value.
 */
export function restore(
  spec: JsonObject,
  stored: JsonObject | undefined,
): { readonly spec: JsonObject; readonly problems: readonly FieldProblem[] } {
  const problems: FieldProblem[] = [];
  const restored = map(spec, stored, "spec", (text, former, field) => {
    if (text !== marker) return text;
    if (typeof former === "string") return former;
    problems.push({ field, message: "stands for no stored value: send the value itself" });
    return text;
  });
  return { spec: restored as JsonObject, problems };
}

type Change = (text: string, former: Json | undefined, field: string) => string;

/** Bodies are at most 512 levels deep: a stack carries that. */
function map(
  value: Json,
  former: Json | undefined,
  field: string,
  change: Change,
  isSecret = false,
): MutableJson {
  if (typeof value === "string") return isSecret ? change(value, former, field) : value;
  if (isJsonArray(value)) {
    return value.map((item, index) =>
      map(
        item,
        isJsonArray(former) ? former[index] : undefined,
        `${field}[${index}]`,
        change,
        isSecret,
      ),
    );
  }
  if (!isJsonObject(value)) return value;
  const mapped: MutableJsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    const before = isJsonObject(former) && Object.hasOwn(former, key) ? former[key] : undefined;
    const inner = isSecret || secretKeys.has(key.toLowerCase());
    setMember(mapped, key, map(member, before, `${field}.${key}`, change, inner));
  }
  return mapped;
}
