// What the server makes of an object that it takes: by itself, and by our rules.

import { isJsonObject, type Json, type JsonObject, type MutableJsonObject } from "@keelson/base";
import { typedKind, TypedDecodeError, type BuiltinKind, type BuiltinKinds } from "@keelson/kube";

import { judgeCreate } from "../rules-groups/judge.ts";

/** Kinds whose status is the rules' to begin; of the others the server takes the status away. */
const withStatus: ReadonlySet<string> = new Set([
  "Pod",
  "Namespace",
  "PersistentVolume",
  "PersistentVolumeClaim",
]);

/** What of an object is the rules' business. Addresses and ports of Services are given by the server. */
export function preparedPart(kind: BuiltinKind, object: JsonObject): Json {
  const text = JSON.stringify(object, (_key, value: unknown) =>
    typeof value === "bigint" ? Number(value) : value,
  );
  const uid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
  const copy = JSON.parse(text.replaceAll(uid, "UID")) as MutableJsonObject;
  const { metadata, status, spec, ...rest } = copy;
  if (kind.kind === "PersistentVolume" && status !== undefined && isJsonObject(status)) {
    delete status["lastPhaseTransitionTime"];
  }
  if (kind.kind === "Service" && spec !== undefined && isJsonObject(spec)) {
    const ports = spec["ports"];
    for (const port of Array.isArray(ports) ? ports : []) {
      if (isJsonObject(port)) delete port["nodePort"];
    }
    delete spec["healthCheckNodePort"];
  }
  const { labels = null, annotations = null } =
    metadata !== undefined && isJsonObject(metadata) ? metadata : {};
  return {
    ...rest,
    ...(spec === undefined ? {} : { spec }),
    ...(withStatus.has(kind.kind) ? { status: status ?? null } : {}),
    labels,
    annotations,
  };
}

/** The object as our rules make it; undefined for one that cannot be decoded. */
export function prepare(
  kinds: BuiltinKinds,
  kind: BuiltinKind,
  body: JsonObject,
): JsonObject | undefined {
  const typed = typedKind(kinds, kind);
  try {
    const { object } = typed.decode(body);
    typed.applyDefaults(object, { now: "2026-01-01T00:00:00Z" });
    const metadata = object["metadata"];
    if (metadata !== undefined && isJsonObject(metadata)) {
      metadata["uid"] = "7a3c1f5e-0000-4000-8000-000000000001";
    }
    const prepared = judgeCreate(kind, object).object as MutableJsonObject;
    typed.toStored(prepared);
    return prepared;
  } catch (error) {
    if (error instanceof TypedDecodeError) return undefined;
    throw error;
  }
}
