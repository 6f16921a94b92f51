// OpenAPI v3: a document for each version of a group.

import type { ApiVersion } from "../discovery/api-groups.ts";
import { kubernetesRelease } from "../discovery/server-version.ts";
import type { BuiltinSchemas } from "./builtin-schemas.ts";
import { customSchemas, type Dialect } from "./custom-schemas.ts";
import { objectText, textOf } from "./json-text.ts";
import {
  byPath,
  isInPath,
  ownParameters,
  parameterTypes,
  responseWords,
  type KindOfOperation,
  type Operation,
  type ParameterName,
} from "./operation.ts";
import { isCustom, operationsOf, schemasOf } from "./operations-of.ts";

const dialect: Dialect = { isV2: false, reference: (name) => `#/components/schemas/${name}` };

const core: KindOfOperation = { group: "", version: "v1", kind: "" };

/** The document of a version, as JSON. */
export function versionDocument(version: ApiVersion, schemas: BuiltinSchemas): string {
  const operations = operationsOf(version);
  const own = { group: version.group, version: version.version, kind: "" };
  const custom = version.resources
    .filter(({ shape }) => shape.from === "schema")
    .flatMap((resource) => customSchemas(resource, dialect))
    .map(([name, schema]) => [name, textOf(schema)] as const);
  const named = new Set([...schemasOf(operations), ...customReferences]);
  const components = new Map([
    ...schemas.collect(
      custom.length === 0 ? schemasOf(operations) : named,
      dialect,
      version.group === "" ? [core] : [core, own],
    ),
    ...custom,
  ]);
  return isCustom(version)
    ? documentOf(operations, components, { title: "Kubernetes CRD Swagger", version: "v0.1.0" })
    : documentOf(operations, components, kubernetes, security);
}

/** A document of one operation that belongs to no version, as JSON. */
export function unversionedDocument(operation: Operation, schemas: BuiltinSchemas): string {
  const components = schemas.collect(schemasOf([operation]), dialect, [core]);
  return documentOf([operation], components, kubernetes, security);
}

/** What the schemas of custom kinds always name. */
const customReferences = ["ObjectMeta", "ListMeta"].map(
  (name) => `io.k8s.apimachinery.pkg.apis.meta.v1.${name}`,
);

const kubernetes = {
  title: "Kubernetes",
  version: `${kubernetesRelease.major}.${kubernetesRelease.minor}`,
};

const security = {
  securitySchemes: {
    BearerToken: {
      type: "apiKey",
      description: "Bearer Token authentication",
      name: "authorization",
      in: "header",
    },
  },
};

function documentOf(
  operations: readonly Operation[],
  schemas: ReadonlyMap<string, string>,
  info: object,
  components: Readonly<Record<string, object>> = {},
): string {
  const sorted = [...schemas].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const paths = byPath(operations).map(({ path, operations: members, common }) => {
    const body = {
      ...Object.fromEntries(members.map((one) => [one.method, operationBody(one, common)])),
      ...(common.length === 0 ? {} : { parameters: common.map(parameter) }),
    };
    return [path, textOf(body)] as const;
  });
  const parts = Object.entries(components).map(([name, part]) => [name, textOf(part)] as const);
  return objectText([
    ["openapi", '"3.0.0"'],
    ["info", textOf(info)],
    ["paths", objectText(paths)],
    ["components", objectText([["schemas", objectText(sorted)], ...parts])],
  ]);
}

function operationBody(operation: Operation, common: readonly ParameterName[]): object {
  const { tag, id, body, consumes, produces, responses, action, kind } = operation;
  const own = ownParameters(operation, common);
  const content = (types: readonly string[], schema: string): object =>
    Object.fromEntries(
      types.toSorted().map((type) => [type, { schema: { $ref: dialect.reference(schema) } }]),
    );
  return {
    tags: [tag],
    operationId: id,
    ...(own.length === 0 ? {} : { parameters: own.map(parameter) }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            content: content(consumes, body.schema),
            ...(body.isRequired ? { required: true } : {}),
          },
        }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([code, schema]) => [
        code,
        {
          description: responseWords[Number(code)],
          ...(schema === undefined ? {} : { content: content(produces, schema) }),
        },
      ]),
    ),
    ...(action === undefined ? {} : { "x-kubernetes-action": action }),
    ...(kind === undefined ? {} : { "x-kubernetes-group-version-kind": kind }),
  };
}

function parameter(name: ParameterName): object {
  return {
    name,
    in: isInPath(name) ? "path" : "query",
    ...(isInPath(name) ? { required: true } : {}),
    schema: { type: parameterTypes[name], uniqueItems: true },
  };
}
