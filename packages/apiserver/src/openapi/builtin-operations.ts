// The operations of the built-in resources.

import { openApiTypeName, patchTypes } from "@keelson/kube";

import type { Resource, Subresource } from "../resources/resource.ts";
import type { KindOfOperation, Operation, ParameterName } from "./operation.ts";
import { capitalised, operationId, tagOf } from "./operation-names.ts";
import {
  deleteParameters,
  listParameters,
  patchParameters,
  writeParameters,
} from "./parameters.ts";

const formats = [
  "application/json",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
] as const;
const streams = [
  ...formats,
  "application/json;stream=watch",
  "application/vnd.kubernetes.protobuf;stream=watch",
] as const;

/** Every format that built-in kinds and the documents of discovery have. */
export const builtinFormats: readonly string[] = formats;

const statusSchema = openApiTypeName("meta.v1.Status");
const patchSchema = openApiTypeName("meta.v1.Patch");
const deleteOptionsSchema = openApiTypeName("meta.v1.DeleteOptions");
const watchEventSchema = openApiTypeName("meta.v1.WatchEvent");

/**
 * Kinds that answer with the object because something holds it: OpenAPI shows what the answer is
 * when nothing does.
 */
const goneAtOnce: ReadonlySet<string> = new Set(["Namespace", "CustomResourceDefinition"]);

/** What can be asked of a resource and its subresources. */
export function builtinOperations(resource: Resource, type: string): Operation[] {
  const { group, version, kind, plural, isNamespaced, verbs, switches } = resource;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const scope = isNamespaced ? "/namespaces/{namespace}" : "";
  const scopeName = isNamespaced ? "Namespaced" : "";
  const namespace: readonly ParameterName[] = isNamespaced ? ["namespace"] : [];
  const own: KindOfOperation = { group, version, kind };
  const schema = openApiTypeName(type);
  const listSchema = openApiTypeName(`${type}List`);
  const operations: Operation[] = [];

  const add = (
    verb: Verb,
    path: string,
    details: {
      readonly name: string;
      readonly schema: string;
      readonly parameters: readonly ParameterName[];
      readonly kind?: KindOfOperation;
      readonly action?: string;
    },
  ): void => {
    operations.push(operationOf(verb, path, { resource, kind: own, ...details }));
  };

  const collection = `${root}${scope}/${plural}`;
  const object = `${collection}/{name}`;
  const named: readonly ParameterName[] = ["name", ...namespace];
  if (verbs.includes("list")) {
    if (isNamespaced) {
      const name = `${kind}ForAllNamespaces`;
      add("list", `${root}/${plural}`, { name, schema: listSchema, parameters: [] });
    }
    const name = `${scopeName}${kind}`;
    add("list", collection, { name, schema: listSchema, parameters: namespace });
  }
  for (const verb of ["create", "deletecollection"] as const) {
    const name = `${scopeName}${kind}`;
    const isCreate = verb === "create";
    if (!verbs.includes(verb)) continue;
    add(verb, collection, {
      name,
      schema: isCreate ? schema : statusSchema,
      parameters: namespace,
    });
  }
  for (const verb of ["get", "update", "patch", "delete"] as const) {
    if (!verbs.includes(verb)) continue;
    const returnsObject = switches.deleteReturnsObject && !goneAtOnce.has(kind);
    const answer = verb === "delete" && !returnsObject ? statusSchema : schema;
    add(verb, object, { name: `${scopeName}${kind}`, schema: answer, parameters: named });
  }
  if (verbs.includes("watch")) {
    const watched = { schema: watchEventSchema };
    if (isNamespaced) {
      const name = `${kind}ListForAllNamespaces`;
      add("watchlist", `${root}/watch/${plural}`, { ...watched, name, parameters: [] });
    }
    const list = { ...watched, name: `${scopeName}${kind}List`, parameters: namespace };
    add("watchlist", `${root}/watch${scope}/${plural}`, list);
    const one = { ...watched, name: `${scopeName}${kind}`, parameters: named };
    add("watch", `${root}/watch${scope}/${plural}/{name}`, one);
  }
  for (const subresource of resource.subresources) {
    const body = openApiTypeName(typeOfSubresource(resource, type, subresource));
    for (const verb of ["create", "get", "update", "patch"] as const) {
      if (!subresource.verbs.includes(verb)) continue;
      add(verb, `${object}/${subresource.name}`, {
        name: `${scopeName}${kind}${capitalised(subresource.name)}`,
        schema: body,
        parameters: named,
        kind: {
          group: subresource.group,
          version: subresource.version,
          kind: subresource.kind,
        },
      });
    }
  }
  return operations;
}

type Verb =
  | "create"
  | "delete"
  | "deletecollection"
  | "get"
  | "list"
  | "patch"
  | "update"
  | "watch"
  | "watchlist";

/** The method, the word that begins an id, and what is said of it. */
const forms: Readonly<
  Record<
    Verb,
    {
      readonly method: Operation["method"];
      readonly word: string;
      readonly action: string;
      readonly parameters: readonly ParameterName[];
      readonly codes: readonly number[];
    }
  >
> = {
  create: {
    method: "post",
    word: "create",
    action: "post",
    parameters: writeParameters,
    codes: [200, 201, 202],
  },
  delete: {
    method: "delete",
    word: "delete",
    action: "delete",
    parameters: deleteParameters,
    codes: [200, 202],
  },
  deletecollection: {
    method: "delete",
    word: "delete",
    action: "deletecollection",
    parameters: [
      ...deleteParameters,
      ...listParameters.filter((name) => name !== "watch" && name !== "allowWatchBookmarks"),
    ],
    codes: [200],
  },
  get: { method: "get", word: "read", action: "get", parameters: [], codes: [200] },
  list: { method: "get", word: "list", action: "list", parameters: listParameters, codes: [200] },
  patch: {
    method: "patch",
    word: "patch",
    action: "patch",
    parameters: patchParameters,
    codes: [200, 201],
  },
  update: {
    method: "put",
    word: "replace",
    action: "put",
    parameters: writeParameters,
    codes: [200, 201],
  },
  watch: {
    method: "get",
    word: "watch",
    action: "watch",
    parameters: listParameters,
    codes: [200],
  },
  watchlist: {
    method: "get",
    word: "watch",
    action: "watchlist",
    parameters: listParameters,
    codes: [200],
  },
};

function operationOf(
  verb: Verb,
  path: string,
  details: {
    readonly resource: Resource;
    readonly kind: KindOfOperation;
    readonly name: string;
    readonly schema: string;
    readonly parameters: readonly ParameterName[];
  },
): Operation {
  const { resource, kind, name, schema, parameters } = details;
  const form = forms[verb];
  const rest = verb === "deletecollection" ? `collection${name}` : name;
  const isStreamed = verb === "list" || verb === "watch" || verb === "watchlist";
  const body = bodyOf(verb, schema);
  return {
    path,
    method: form.method,
    id: operationId(form.word, resource, rest),
    tag: tagOf(resource.group, resource.version),
    action: form.action,
    kind,
    parameters: ["pretty", ...parameters, ...form.parameters],
    ...(body === undefined ? {} : { body }),
    consumes: verb === "patch" ? resource.patchTypes.map((type) => patchTypes[type]) : ["*/*"],
    produces: isStreamed ? streams : formats,
    responses: {
      ...Object.fromEntries(form.codes.map((code) => [code, schema])),
      401: undefined,
    },
  };
}

function bodyOf(verb: Verb, schema: string): Operation["body"] {
  switch (verb) {
    case "create":
    case "update":
      return { schema, isRequired: true };
    case "patch":
      return { schema: patchSchema, isRequired: true };
    case "delete":
    case "deletecollection":
      return { schema: deleteOptionsSchema, isRequired: false };
    case "get":
    case "list":
    case "watch":
    case "watchlist":
      return undefined;
  }
}

/** The type of a subresource's body, by the names that Kubernetes gives its packages. */
function typeOfSubresource(resource: Resource, type: string, body: Subresource): string {
  if (body.kind === resource.kind && body.group === resource.group) return type;
  const folder = body.group === "" ? "core" : (body.group.split(".")[0] ?? "");
  return `${folder}.${body.version}.${body.kind}`;
}
