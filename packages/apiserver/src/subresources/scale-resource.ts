// `Scale` as if it were a resource of its own, so that it is read, patched and managed like one.

import {
  cloneJson,
  isJsonArray,
  isJsonObject,
  writeJson,
  type Json,
  type JsonObject,
  type MutableJsonObject,
} from "@keelson/base";
import { builtInPatches, memberOf, quote, TypedDecodeError } from "@keelson/kube";

import { objectAt } from "../fields.ts";
import type { Model, Resource } from "../resources/resource.ts";

const made = new WeakMap<Resource, Resource>();

/** The scales of a resource. */
export function scaleResource(parent: Resource): Resource {
  let resource = made.get(parent);
  if (resource === undefined) {
    resource = {
      ...parent,
      group: "autoscaling",
      version: "v1",
      kind: "Scale",
      isCustom: false,
      patchTypes: parent.isCustom ? parent.patchTypes : builtInPatches,
      model: scaleModel(parent.model),
    };
    made.set(parent, resource);
  }
  return resource;
}

function scaleModel(parent: Model): Model {
  return {
    ...parent,
    empty: { metadata: {}, spec: {}, status: { replicas: 0 } },
    read: (value, _context, { duplicates } = { duplicates: [], membersBefore: [] }) => ({
      object: readScale(value),
      problems: [
        ...duplicates.map((path) => `duplicate field ${quote(path)}`),
        ...unknownIn(value).map((path) => `unknown field ${quote(path)}`),
      ],
    }),
    fieldManager: () => parent.fieldManager("scale"),
    mergeSchema: {},
  };
}

const known: Readonly<Record<string, readonly string[]>> = {
  spec: ["replicas"],
  status: ["replicas", "selector"],
};

function unknownIn(value: JsonObject): string[] {
  const top = Object.keys(value).filter(
    (name) => !["kind", "apiVersion", "metadata", "spec", "status"].includes(name),
  );
  const inner = Object.entries(known).flatMap(([part, names]) => {
    const member = memberOf(value, part);
    if (!isJsonObject(member)) return [];
    return Object.keys(member)
      .filter((name) => !names.includes(name))
      .map((name) => `${part}.${name}`);
  });
  return [...top, ...inner];
}

function readScale(value: JsonObject): MutableJsonObject {
  const metadata = memberOf(value, "metadata");
  const replicas = integerIn(value, "spec", "ScaleSpec");
  const selector = memberOf(objectAt(value, "status"), "selector");
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: isJsonObject(metadata) ? cloneJson(metadata) : {},
    spec: replicas === 0 ? {} : { replicas },
    status: {
      replicas: integerIn(value, "status", "ScaleStatus"),
      ...(typeof selector === "string" && selector !== "" ? { selector } : {}),
    },
  };
}

function integerIn(value: JsonObject, part: string, struct: string): number {
  const replicas = memberOf(objectAt(value, part), "replicas") ?? 0;
  if (typeof replicas === "number" && Number.isInteger(replicas)) return replicas;
  throw new TypedDecodeError({
    value: typeNameOf(replicas),
    type: "int32",
    struct,
    field: `${part}.replicas`,
  });
}

function typeNameOf(value: Json): string {
  if (isJsonArray(value)) return "array";
  if (isJsonObject(value)) return "object";
  if (typeof value === "boolean") return "bool";
  return typeof value === "string" ? "string" : `number ${writeJson(value)}`;
}
