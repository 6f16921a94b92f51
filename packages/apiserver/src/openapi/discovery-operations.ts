// The operations that ask what there is.

import { openApiTypeName } from "@keelson/kube";

import { builtinFormats } from "./builtin-operations.ts";
import type { Operation } from "./operation.ts";
import { groupOperationId, operationId, tagOf } from "./operation-names.ts";

/** Of a version of a built-in group: custom groups do not speak of it. */
export function versionOperation(group: string, version: string): Operation {
  return discoveryOperation({
    path: group === "" ? `/api/${version}/` : `/apis/${group}/${version}/`,
    id: operationId("get", { group, version }, "APIResources"),
    tag: tagOf(group, version),
    type: "meta.v1.APIResourceList",
  });
}

/** The documents that belong to no version, by their names in the index of OpenAPI v3. */
export function unversionedOperations(groups: readonly string[]): Map<string, Operation> {
  const operations = new Map<string, Operation>();
  for (const group of groups) {
    if (group === "") {
      const details = { path: "/api/", id: "getCoreAPIVersions", tag: "core" };
      operations.set("api", discoveryOperation({ ...details, type: "meta.v1.APIVersions" }));
    } else {
      const details = { path: `/apis/${group}/`, id: groupOperationId(group), tag: tagOf(group) };
      operations.set(`apis/${group}`, discoveryOperation({ ...details, type: "meta.v1.APIGroup" }));
    }
  }
  const all = { path: "/apis/", id: "getAPIVersions", tag: "apis" };
  operations.set("apis", discoveryOperation({ ...all, type: "meta.v1.APIGroupList" }));
  const version = { path: "/version/", id: "getCodeVersion", tag: "version" };
  operations.set("version", {
    ...discoveryOperation({ ...version, type: "version.Info" }),
    consumes: ["application/json"],
    produces: ["application/json"],
  });
  return operations;
}

function discoveryOperation({
  type,
  ...names
}: {
  readonly path: string;
  readonly id: string;
  readonly tag: string;
  readonly type: string;
}): Operation {
  return {
    ...names,
    method: "get",
    parameters: [],
    consumes: builtinFormats,
    produces: builtinFormats,
    responses: { 200: openApiTypeName(type), 401: undefined },
  };
}
