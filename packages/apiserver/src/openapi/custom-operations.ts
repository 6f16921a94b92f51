// The operations of custom resources, and of the kinds that we define ourselves.

import { openApiTypeName, patchTypes } from "@keelson/kube";

import type { Resource } from "../resources/resource.ts";
import { customTypeName } from "./custom-schemas.ts";
import type { Operation, ParameterName } from "./operation.ts";
import { operationId, tagOf } from "./operation-names.ts";
import {
  deleteParameters,
  listParameters,
  patchParameters,
  writeParameters,
} from "./parameters.ts";

const formats = ["application/json", "application/yaml"];
const statusSchema = openApiTypeName("meta.v1.Status");
const patchSchema = openApiTypeName("meta.v1.Patch");
const deleteOptionsSchema = openApiTypeName("meta.v1.DeleteOptions");
const scaleSchema = openApiTypeName("autoscaling.v1.Scale");

/** What can be asked of a resource and its subresources. */
export function customOperations(resource: Resource): Operation[] {
  const { group, version, kind, plural, isNamespaced, patchTypes: patches } = resource;
  const schema = customTypeName(resource, kind);
  const listSchema = customTypeName(resource, resource.listKind ?? `${kind}List`);
  const root = `/apis/${group}/${version}`;
  const collection = `${root}${isNamespaced ? "/namespaces/{namespace}" : ""}/${plural}`;
  const scopeName = isNamespaced ? "Namespaced" : "";
  const namespace: readonly ParameterName[] = isNamespaced ? ["namespace"] : [];
  const named: readonly ParameterName[] = ["name", ...namespace];
  const base = {
    tag: tagOf(group, version),
    kind: { group, version, kind },
    consumes: formats,
    produces: formats,
  };
  const name = `${scopeName}${kind}`;
  const answers = (answer: string, ...codes: readonly number[]): Operation["responses"] => ({
    ...Object.fromEntries(codes.map((code) => [code, answer])),
    401: undefined,
  });
  const list = (path: string, rest: string, parameters: readonly ParameterName[]): Operation => ({
    ...base,
    path,
    method: "get",
    id: operationId("list", resource, rest),
    action: "list",
    parameters: ["pretty", ...parameters, ...listParameters],
    responses: answers(listSchema, 200),
  });
  /** Reading and writing what stands at a path below the collection. */
  const object = (path: string, suffix: string, body: string): Operation[] => [
    {
      ...base,
      path,
      method: "get",
      id: operationId("read", resource, `${name}${suffix}`),
      action: "get",
      parameters: ["pretty", ...named, "resourceVersion"],
      responses: answers(body, 200),
    },
    {
      ...base,
      path,
      method: "put",
      id: operationId("replace", resource, `${name}${suffix}`),
      action: "put",
      parameters: ["pretty", ...named, ...writeParameters],
      body: { schema: body, isRequired: true },
      responses: answers(body, 200, 201),
    },
    {
      ...base,
      path,
      method: "patch",
      id: operationId("patch", resource, `${name}${suffix}`),
      action: "patch",
      parameters: ["pretty", ...named, ...patchParameters],
      body: { schema: patchSchema, isRequired: true },
      consumes: patches.map((type) => patchTypes[type]),
      responses: answers(body, 200),
    },
  ];

  const subresources = new Set(resource.subresources.map((subresource) => subresource.name));
  return [
    ...(isNamespaced ? [list(`${root}/${plural}`, `${kind}ForAllNamespaces`, [])] : []),
    list(collection, name, namespace),
    {
      ...base,
      path: collection,
      method: "post",
      id: operationId("create", resource, name),
      action: "post",
      parameters: ["pretty", ...namespace, ...writeParameters],
      body: { schema, isRequired: true },
      responses: answers(schema, 200, 201, 202),
    },
    {
      ...base,
      path: collection,
      method: "delete",
      id: operationId("delete", resource, `collection${name}`),
      action: "deletecollection",
      parameters: ["pretty", ...namespace, ...listParameters],
      responses: answers(statusSchema, 200),
    },
    {
      ...base,
      path: `${collection}/{name}`,
      method: "delete",
      id: operationId("delete", resource, name),
      action: "delete",
      parameters: ["pretty", ...named, ...deleteParameters],
      body: { schema: deleteOptionsSchema, isRequired: false },
      responses: answers(statusSchema, 200, 202),
    },
    ...object(`${collection}/{name}`, "", schema),
    ...(subresources.has("status") ? object(`${collection}/{name}/status`, "Status", schema) : []),
    ...(subresources.has("scale")
      ? object(`${collection}/{name}/scale`, "Scale", scaleSchema)
      : []),
  ];
}
