// Where objects are on an API server.

interface Resource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
}

/** The collection, in a namespace if one is given, else across all. */
export function collectionPath({ group, version, plural }: Resource, namespace?: string): string {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  return namespace === undefined
    ? `${root}/${plural}`
    : `${root}/namespaces/${namespace}/${plural}`;
}

export function apiVersionOf({ group, version }: Pick<Resource, "group" | "version">): string {
  return group === "" ? version : `${group}/${version}`;
}
