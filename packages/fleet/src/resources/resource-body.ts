// The body of a POST, and of whatever else writes a whole resource.

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  pathSegmentNames,
  type BuiltinKinds,
} from "@keelson/kube";
import { desiredSpecProblems } from "./desired-spec.ts";
import { groupOf, kindsWithoutVersion, scopeOf, usualVersionOf } from "./kinds.ts";
import type { Fields } from "./read-fields.ts";
import { policies, type Policies, type ResourceKey } from "./resource.ts";

/** A resource that somebody wants, as they said it. */
export interface NewResource {
  readonly key: ResourceKey;
  readonly desiredSpec: JsonObject;
  readonly revision: number | undefined;
  readonly policies: Partial<Policies>;
  readonly paused: boolean | undefined;
}

/** Reads a body; `fields` also knows what of it others have read. Throws `VALIDATION_FAILED` with all that is wrong. */
export function readNewResource(kinds: BuiltinKinds, fields: Fields): NewResource {
  return readWanted(fields, readKey(kinds, fields));
}

/** The same of a resource without a cluster of its own. */
export function readNewGlobal(kinds: BuiltinKinds, fields: Fields): NewResource {
  return readWanted(fields, { clusterId: "", ...readObjectKey(kinds, fields) });
}

function readWanted(fields: Fields, key: ResourceKey): NewResource {
  const sent = fields.any("desired_spec");
  if (fields.problems.length === 0) fields.problems.push(...desiredSpecProblems(sent, key));
  else if (sent !== undefined && !isJsonObject(sent)) {
    fields.problems.push({ field: "desired_spec", message: "must be an object" });
  }
  const rest = {
    revision: fields.optionalNumber("revision"),
    policies: readPolicies(fields),
    paused: fields.optionalBoolean("paused"),
  };
  fields.refuseOthers();
  fields.throwIfWrong();
  return { key, desiredSpec: sent as JsonObject, ...rest }; // An object: its problems would have been thrown.
}

/** Reads what names an object in a cluster. */
export function readKey(kinds: BuiltinKinds, fields: Fields): ResourceKey {
  const clusterId = fields.text("cluster_id", clusterIdProblems);
  return { clusterId, ...readObjectKey(kinds, fields) };
}

function readObjectKey(kinds: BuiltinKinds, fields: Fields): Omit<ResourceKey, "clusterId"> {
  const kind = fields.text("kind", kindProblems);
  const apiVersion = readVersion(fields, kind);
  const isRbac = groupOf(apiVersion) === "rbac.authorization.k8s.io";
  const name = fields.text("name", (text) =>
    isRbac ? segmentProblems(text) : dnsSubdomainProblems(text),
  );
  const namespace = readNamespace(fields, scopeOf(kinds, { apiVersion, kind }));
  return { namespace, apiVersion, kind, name };
}

/** Reads the policies that are there. */
export function readPolicies(fields: Fields): Partial<Policies> {
  const given = {
    conflictPolicy: fields.optionalWord("conflict_policy", policies.conflictPolicy),
    driftPolicy: fields.optionalWord("drift_policy", policies.driftPolicy),
    immutablePolicy: fields.optionalWord("immutable_policy", policies.immutablePolicy),
    propagation: fields.optionalWord("propagation", policies.propagation),
  };
  return Object.fromEntries(Object.entries(given).filter(([, word]) => word !== undefined));
}

export function clusterIdProblems(text: string): readonly string[] {
  if (text.length > 100) return ["must be no more than 100 characters"];
  return /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(text)
    ? []
    : ["must be letters, digits, '.', '_' and '-', with a letter or digit at both ends"];
}

export function apiVersionProblems(text: string): readonly string[] {
  if (text.length > 100) return ["must be no more than 100 characters"];
  const parts = text.split("/");
  const version = parts.at(-1) ?? "";
  const isRight =
    parts.length <= 2 &&
    dnsLabelProblems(version).length === 0 &&
    (parts.length === 1 || dnsSubdomainProblems(parts[0] ?? "").length === 0);
  return isRight ? [] : ["must be a version, or a group, a slash and a version: v1, apps/v1"];
}

/** Names of roles and bindings: whatever stands in a path, and in our column. */
function segmentProblems(text: string): readonly string[] {
  if (text.length > 253) return ["must be no more than 253 characters"];
  return text.isWellFormed() ? pathSegmentNames(text) : ["must be well-formed Unicode"];
}

function kindProblems(text: string): readonly string[] {
  if (text.length > 255) return ["must be no more than 255 characters"];
  return /^[A-Z][A-Za-z0-9]*$/.test(text)
    ? []
    : ["must be letters and digits, with a capital letter first: Deployment"];
}

function readVersion(fields: Fields, kind: string): string {
  const given = fields.optionalText("api_version", apiVersionProblems);
  if (given !== undefined || kind === "") return given ?? "";
  const usual = usualVersionOf(kind);
  if (usual !== undefined) return usual;
  fields.problems.push({
    field: "api_version",
    message: `is required, except for ${kindsWithoutVersion.join(", ")}`,
  });
  return "";
}

/** Of a kind that we do not know it is taken as it is sent: only the cluster knows. */
function readNamespace(fields: Fields, scope: ReturnType<typeof scopeOf>): string {
  const value: Json | undefined = fields.any("namespace");
  if (scope === "cluster" && (value === undefined || typeof value === "string")) return "";
  if (scope === undefined && (value === undefined || value === "")) return "";
  return fields.text("namespace", dnsLabelProblems);
}
