// The operations of a version, whatever its resources are.

import type { ApiVersion } from "../discovery/api-groups.ts";
import { builtinOperations } from "./builtin-operations.ts";
import { customOperations } from "./custom-operations.ts";
import { versionOperation } from "./discovery-operations.ts";
import type { Operation } from "./operation.ts";

export function operationsOf({ group, version, resources }: ApiVersion): Operation[] {
  return [
    ...(isCustom({ resources }) ? [] : [versionOperation(group, version)]),
    ...resources.flatMap((resource) =>
      resource.shape.from === "builtin"
        ? builtinOperations(resource, resource.shape.type)
        : customOperations(resource),
    ),
  ];
}

/** Whether a version has nothing but custom kinds. */
export function isCustom({ resources }: Pick<ApiVersion, "resources">): boolean {
  return resources.every(({ shape }) => shape.from === "schema");
}

/** The names of the schemas that operations use. */
export function schemasOf(operations: readonly Operation[]): Set<string> {
  const names = new Set<string>();
  for (const { body, responses } of operations) {
    if (body !== undefined) names.add(body.schema);
    for (const schema of Object.values(responses)) if (schema !== undefined) names.add(schema);
  }
  return names;
}
