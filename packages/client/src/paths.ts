// The URLs of a Kubernetes API.

import type { Resource } from "./kinds.ts";

export interface Place {
  readonly namespace?: string | undefined;
  /** Left out: the collection. */
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** `/apis/apps/v1/namespaces/default/deployments/web/status`. */
export function pathOf(
  { group, version, resource, isNamespaced }: Resource,
  { namespace, name, subresource }: Place,
): string {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  if (isNamespaced && namespace === undefined && name !== undefined) {
    throw new TypeError(`${resource} live in namespaces, and ${name} has none`);
  }
  const scope =
    isNamespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  const object = name === undefined ? "" : `/${segmentOf(resource, name)}`;
  const part = subresource === undefined ? "" : `/${subresource}`;
  return `${root}${scope}/${resource}${object}${part}`;
}

/** A query with the parameters that are given; empty if none is. */
export function queryOf(
  parameters: Readonly<Record<string, string | number | boolean | undefined>>,
): string {
  const parts = Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}

/** A name as a segment. One that would climb out of its path is no name. */
function segmentOf(resource: string, name: string): string {
  if (name === "" || name === "." || name === "..") {
    throw new TypeError(`${JSON.stringify(name)} is no name of an object (${resource})`);
  }
  return encodeURIComponent(name);
}
