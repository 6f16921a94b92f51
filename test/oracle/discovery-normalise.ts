// Documents of discovery and OpenAPI without what is meant to differ.

import { isJsonArray, isJsonObject, type Json, type JsonObject, writeJson } from "@keelson/base";

/** What needs a node is not served by us; who issues tokens is told elsewhere. */
const unserved = /openid|\/(?:attach|exec|log|portforward|proxy)(?:\/\{path\})?$/;

/**
 * Without what we do not serve. Custom groups of the same priority, and custom resources of a version, come from the
 * real server in any order.
 */
export function normaliseDiscovery(document: JsonObject): JsonObject {
  return walk(inOrder(document), (object) => {
    const result: Record<string, Json> = { ...object };
    for (const [key, isGone] of Object.entries(gone)) {
      const list = result[key];
      if (isJsonArray(list)) result[key] = list.filter((item) => !isGone(item as JsonObject));
      if (key === "subresources" && isJsonArray(result[key]) && result[key].length === 0) {
        delete result[key];
      }
    }
    return result;
  }) as JsonObject;
}

function inOrder(document: JsonObject): JsonObject {
  const { groups, items, resources, groupVersion } = document;
  const sorted: Record<string, Json> = { ...document };
  const isCustom = (name: unknown): boolean => String(name).includes("example.com");
  const byName = (
    list: readonly Json[],
    nameOf: (item: JsonObject) => unknown,
  ): readonly Json[] => [
    ...list.filter((item) => !isCustom(nameOf(item as JsonObject))),
    ...list
      .filter((item) => isCustom(nameOf(item as JsonObject)))
      .toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1)),
  ];
  if (isJsonArray(groups)) sorted["groups"] = byName(groups, ({ name }) => name);
  if (isJsonArray(items)) {
    sorted["items"] = byName(items, ({ metadata }) => (metadata as JsonObject)["name"]).map(
      (item) =>
        walk(item, (object) =>
          isCustom((object["responseKind"] as JsonObject | undefined)?.["group"]) ||
          !isJsonArray(object["resources"]) ||
          !JSON.stringify(object).includes("example.com")
            ? object
            : {
                ...object,
                resources: object["resources"].toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1)),
              },
        ),
    );
  }
  if (isJsonArray(resources) && isCustom(groupVersion)) {
    sorted["resources"] = resources.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
  }
  return sorted;
}

/** Begins with the name, whatever it is called. */
function textOf(item: Json): string {
  return JSON.stringify(item);
}

const gone: Readonly<Record<string, (item: JsonObject) => boolean>> = {
  resources: ({ name }) => typeof name === "string" && unserved.test(name),
  subresources: ({ subresource }) =>
    typeof subresource === "string" && unserved.test(`/${subresource}`),
};

/**
 * Without descriptions, with references that stand alone, with parameters in place; DeleteOptions and WatchEvent,
 * which are of every group that a server knows of, do not list them.
 */
export function normaliseOpenApi(document: JsonObject): JsonObject {
  const parameters = document["parameters"];
  const shared = isJsonObject(parameters) ? parameters : {};
  const { parameters: _, ...rest } = document;
  const simple = simplify(rest, { isMap: false, shared }) as JsonObject;
  const paths = without(simple["paths"], (path) => unserved.test(path));
  const { definitions } = simple;
  const components = simple["components"];
  for (const schemas of [
    definitions,
    isJsonObject(components) ? components["schemas"] : undefined,
  ]) {
    if (isJsonObject(schemas)) forgetKinds(schemas);
  }
  return {
    ...simple,
    ...(paths === undefined ? {} : { paths }),
  };
}

function forgetKinds(schemas: JsonObject): void {
  for (const name of ["DeleteOptions", "WatchEvent"]) {
    const schema = schemas[`io.k8s.apimachinery.pkg.apis.meta.v1.${name}`];
    const kinds = isJsonObject(schema) ? schema["x-kubernetes-group-version-kind"] : undefined;
    // One or two are those of the document itself, and are compared; custom documents have all there are.
    const isLong =
      isJsonArray(kinds) && (kinds.length > 2 || textOf(kinds).includes("example.com"));
    if (isJsonObject(schema) && isLong) {
      delete (schema as Record<string, Json>)["x-kubernetes-group-version-kind"];
    }
  }
}

function without(map: Json | undefined, isGone: (key: string) => boolean): JsonObject | undefined {
  if (!isJsonObject(map)) return undefined;
  return Object.fromEntries(Object.entries(map).filter(([key]) => !isGone(key)));
}

/** A map has names of the users' as keys: there `description` is a field like any other. */
function simplify(
  value: Json,
  { isMap, shared }: { readonly isMap: boolean; readonly shared: JsonObject },
): Json {
  if (isJsonArray(value)) return value.map((item) => simplify(item, { isMap: false, shared }));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).filter(
    ([key, member]) => isMap || key !== "description" || typeof member !== "string",
  );
  const result: Record<string, Json> = {};
  for (const [key, member] of entries) {
    const isInnerMap =
      !isMap && (key === "properties" || key === "schemas" || key === "definitions");
    result[key] =
      !isMap && key === "parameters" && isJsonArray(member)
        ? parametersOf(member, shared)
        : simplify(member, { isMap: isInnerMap, shared });
  }
  if (isMap) return result;
  const { allOf, ...others } = result;
  const [only] = isJsonArray(allOf) && allOf.length === 1 ? allOf : [];
  const isReference = isJsonObject(only) && only["$ref"] !== undefined;
  return isReference && Object.keys(others).length === 0 ? only : result;
}

function parametersOf(list: readonly Json[], shared: JsonObject): Json {
  const resolved = list.map((item) => {
    const reference = isJsonObject(item) ? item["$ref"] : undefined;
    const name = typeof reference === "string" ? reference.replace("#/parameters/", "") : "";
    return simplify(shared[name] ?? item, { isMap: false, shared }) as JsonObject;
  });
  return resolved.toSorted((a, b) =>
    writeJson(a["name"] ?? "") < writeJson(b["name"] ?? "") ? -1 : 1,
  );
}

function walk(value: Json, change: (object: JsonObject) => JsonObject): Json {
  if (isJsonArray(value)) return value.map((item) => walk(item, change));
  if (!isJsonObject(value)) return value;
  const changed = change(value);
  return Object.fromEntries(
    Object.entries(changed).map(([key, member]) => [key, walk(member, change)]),
  );
}
