// What a desired spec may say: a part of a manifest, about the object of its row and no other.

import { isJsonObject, type FieldProblem, type Json, type JsonObject } from "@keelson/base";
import { labelKeyProblems, labelValueProblems } from "@keelson/kube";
import type { ResourceKey } from "./resource.ts";

/** What is wrong with it, by field. */
export function desiredSpecProblems(spec: Json | undefined, key: ResourceKey): FieldProblem[] {
  const root = "desired_spec";
  if (spec === undefined) return [{ field: root, message: "is required" }];
  if (!isJsonObject(spec)) return [{ field: root, message: "must be an object" }];
  const problems: FieldProblem[] = [];
  const { apiVersion, kind, metadata, status } = spec;
  mustEqual(problems, `${root}.apiVersion`, apiVersion, key.apiVersion);
  mustEqual(problems, `${root}.kind`, kind, key.kind);
  if (status !== undefined) {
    problems.push({ field: `${root}.status`, message: "is the cluster's to say" });
  }
  if (metadata !== undefined) problems.push(...metadataProblems(metadata, key));
  const broken = brokenText(spec, root);
  if (broken !== undefined)
    problems.push({ field: broken, message: "must be well-formed Unicode" });
  return problems;
}

/** Annotations that say which row an object belongs to. Only the worker writes them. */
const ownAnnotations = /^kontrol\/(?:resource-id|generation|revision)$/;

function metadataProblems(metadata: Json, key: ResourceKey): FieldProblem[] {
  const root = "desired_spec.metadata";
  if (!isJsonObject(metadata)) return [{ field: root, message: "must be an object" }];
  const problems: FieldProblem[] = [];
  for (const [name, value] of Object.entries(metadata)) {
    const field = `${root}.${name}`;
    if (name === "name") mustEqual(problems, field, value, key.name);
    else if (name === "namespace") mustEqual(problems, field, value, key.namespace);
    else if (name === "labels") {
      problems.push(...textMapProblems(value, field, (text) => labelValueProblems(text)));
    } else if (name === "annotations") {
      problems.push(...textMapProblems(value, field, () => []));
      for (const own of isJsonObject(value) ? Object.keys(value) : []) {
        if (ownAnnotations.test(own)) {
          problems.push({ field: `${field}.${own}`, message: "is written by the server" });
        }
      }
    } else {
      problems.push({
        field,
        message: "must not be set: labels and annotations are what may stand here",
      });
    }
  }
  return problems;
}

function mustEqual(
  problems: FieldProblem[],
  field: string,
  value: Json | undefined,
  expected: string,
): void {
  if (value === undefined || value === expected) return;
  problems.push({ field, message: `must be ${JSON.stringify(expected)}, as in the resource` });
}

function textMapProblems(
  map: Json,
  field: string,
  valueProblems: (value: string) => readonly string[],
): FieldProblem[] {
  if (!isJsonObject(map)) return [{ field, message: "must be an object" }];
  return Object.entries(map).flatMap(([key, value]) => {
    const at = `${field}.${key}`;
    const about = (message: string): FieldProblem => ({ field: at, message });
    if (typeof value !== "string") return [about("must be a text")];
    return [...labelKeyProblems(key), ...valueProblems(value)].map(about);
  });
}

/** The path of a text or key with half a surrogate pair, which no column holds. With a stack of its own: specs may be deep. */
function brokenText(spec: JsonObject, root: string): string | undefined {
  const rest: (readonly [Json, string])[] = [[spec, root]];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const [value, path] = next;
    if (typeof value === "string" && !value.isWellFormed()) return path;
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) rest.push([item as Json, `${path}[${index}]`]);
    } else if (isJsonObject(value)) {
      for (const [key, member] of Object.entries(value)) {
        if (!key.isWellFormed()) return path;
        rest.push([member, `${path}.${key}`]);
      }
    }
  }
  return undefined;
}
