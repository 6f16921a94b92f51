// OpenAPI v2: one document for everything.

import type { JsonObject } from "@keelson/base";

import type { ApiGroup } from "../discovery/api-groups.ts";
import { kubernetesRelease } from "../discovery/server-version.ts";
import type { BuiltinSchemas } from "./builtin-schemas.ts";
import { customSchemas, type Dialect } from "./custom-schemas.ts";
import { unversionedOperations } from "./discovery-operations.ts";
import { objectText, textOf } from "./json-text.ts";
import {
  byPath,
  isInPath,
  ownParameters,
  parameterTypes,
  responseWords,
  type Operation,
  type ParameterName,
  type PathOperations,
} from "./operation.ts";
import { isCustom, operationsOf, schemasOf } from "./operations-of.ts";

const dialect: Dialect = { isV2: true, reference: (name) => `#/definitions/${name}` };

/** The document of all groups, as JSON. */
export function wholeDocument(groups: readonly ApiGroup[], schemas: BuiltinSchemas): string {
  const versions = groups.flatMap((group) => group.versions);
  const builtin = groups.filter((group) => !group.versions.every(isCustom));
  const operations = [
    ...unversionedOperations(builtin.map(({ name }) => name)).values(),
    ...versions.flatMap(operationsOf),
  ];
  const custom = versions
    .flatMap(({ resources }) => resources)
    .filter(({ shape }) => shape.from === "schema")
    .flatMap((resource) => customSchemas(resource, dialect))
    .map(([name, schema]) => [name, textOf(schema)] as const);
  const everywhere = versions.map(({ group, version }) => ({ group, version, kind: "" }));
  const named = [...schemasOf(operations), ...always];
  const definitions = [...schemas.collect(named, dialect, everywhere), ...custom];
  return objectText([
    ["swagger", '"2.0"'],
    ["info", textOf(info)],
    ["paths", objectText(byPath(operations).map(pathBody))],
    ["definitions", objectText(definitions.toSorted(([a], [b]) => (a < b ? -1 : 1)))],
    ["parameters", objectText(parameterNames.map((name) => [name, parameterText(name)]))],
    ["securityDefinitions", textOf(securityDefinitions)],
    ["security", '[{"BearerToken":[]}]'],
  ]);
}

const info = {
  title: "Kubernetes",
  version: `${kubernetesRelease.major}.${kubernetesRelease.minor}`,
};

const securityDefinitions = {
  BearerToken: {
    description: "Bearer Token authentication",
    type: "apiKey",
    name: "authorization",
    in: "header",
  },
};

/** What the schemas of custom kinds name, and what nothing but a server of theirs would. */
const always = ["ObjectMeta", "ListMeta"].map(
  (name) => `io.k8s.apimachinery.pkg.apis.meta.v1.${name}`,
);

const parameterNames = Object.keys(parameterTypes) as ParameterName[];

function pathBody({ path, operations, common }: PathOperations): readonly [string, string] {
  const body = {
    ...Object.fromEntries(operations.map((one) => [one.method, operationBody(one, common)])),
    ...(common.length === 0 ? {} : { parameters: common.map(parameterReference) }),
  };
  return [path, textOf(body)];
}

function operationBody(operation: Operation, common: readonly ParameterName[]): JsonObject {
  const { tag, id, body, consumes, produces, responses, action, kind } = operation;
  const parameters = [
    ...(body === undefined
      ? []
      : [
          {
            name: "body",
            in: "body",
            ...(body.isRequired ? { required: true } : {}),
            schema: { $ref: dialect.reference(body.schema) },
          },
        ]),
    ...ownParameters(operation, common).map(parameterReference),
  ];
  return {
    consumes,
    produces,
    schemes: ["https"],
    tags: [tag],
    operationId: id,
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([code, schema]) => [
        code,
        {
          description: responseWords[Number(code)] ?? "",
          ...(schema === undefined ? {} : { schema: { $ref: dialect.reference(schema) } }),
        },
      ]),
    ),
    ...(action === undefined ? {} : { "x-kubernetes-action": action }),
    ...(kind === undefined ? {} : { "x-kubernetes-group-version-kind": { ...kind } }),
  };
}

function parameterReference(name: ParameterName): JsonObject {
  return { $ref: `#/parameters/${name}` };
}

function parameterText(name: ParameterName): string {
  return textOf({
    uniqueItems: true,
    type: parameterTypes[name],
    name,
    in: isInPath(name) ? "path" : "query",
    ...(isInPath(name) ? { required: true } : {}),
  });
}
