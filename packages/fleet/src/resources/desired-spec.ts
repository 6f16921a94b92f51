// What a desired spec may say: a part of a manifest, about the object of its row and no other.

import {
  isJsonObject,
  JsonNumber,
  type FieldProblem,
  type Json,
  type JsonObject,
} from "@keelson/base";
import { labelKeyProblems, labelValueProblems } from "@keelson/kube";
import { isStorableNumber } from "../sql/storable.ts";
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
  const unstorable = unstorableProblem(spec, root);
  if (unstorable !== undefined) problems.push(unstorable);
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

/**
 * The first text or key with half a surrogate pair, or number beyond the bounds of the database: no column holds them.
 * With a stack of its own: specs may be deep.
 */
function unstorableProblem(spec: JsonObject, root: string): FieldProblem | undefined {
  const rest: (readonly [Json, string])[] = [[spec, root]];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const [value, field] = next;
    if (typeof value === "string" && !value.isWellFormed()) return { field, message: brokenText };
    if (value instanceof JsonNumber && !isStorableNumber(value.text)) {
      return { field, message: "is a number that cannot be stored" };
    }
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) rest.push([item as Json, `${field}[${index}]`]);
    } else if (isJsonObject(value)) {
      for (const [key, member] of Object.entries(value)) {
        if (!key.isWellFormed()) return { field, message: brokenText };
        rest.push([member, `${field}.${key}`]);
      }
    }
  }
  return undefined;
}

const brokenText = "must be well-formed Unicode";
