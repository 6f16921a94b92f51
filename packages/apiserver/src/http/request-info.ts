// What a request is about, by its method and path alone: the same for authorisation, dispatch and audit.

import { exactField, parseFieldSelector } from "@keelson/kube";

import { isTrue } from "./query-values.ts";

export type Verb =
  | "get"
  | "list"
  | "watch"
  | "create"
  | "update"
  | "patch"
  | "delete"
  | "deletecollection";

/** A request to a resource. */
export interface ResourceRequest {
  readonly isResource: true;
  readonly path: string;
  readonly verb: Verb | (string & {});
  readonly group: string;
  readonly version: string;
  /** Empty at the cluster scope, and for all namespaces. */
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  /** What comes after the subresource: no resource of ours has any. */
  readonly rest: readonly string[];
  /** Empty for a collection. A collection that is narrowed to one name by a field selector keeps it here too. */
  readonly name: string;
  /** Whether the path itself names the object. */
  readonly isNamed: boolean;
}

/** A request to anything else: discovery, health, documents. */
export interface PathRequest {
  readonly isResource: false;
  readonly path: string;
  /** The HTTP method in lower case. */
  readonly verb: string;
}

export type RequestInfo = ResourceRequest | PathRequest;

const verbsOfMethods: Readonly<Record<string, string>> = {
  POST: "create",
  GET: "get",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

/** Subresources of a namespace: what else follows its name is a resource inside it. */
const ofNamespaces = new Set(["status", "finalize"]);

/** Reads a request. `path` is decoded as a whole nowhere: each segment is, once. */
export function requestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const parts = segmentsOf(path);
  const root = parts[0];
  if ((root !== "api" && root !== "apis") || parts.length < (root === "api" ? 3 : 4)) {
    return { isResource: false, path, verb: method.toLowerCase() };
  }
  let next = 1;
  const group = root === "api" ? "" : (parts[next++] ?? "");
  const version = parts[next++] ?? "";
  let verb = verbsOfMethods[method] ?? "";
  if (parts[next] === "watch" && parts.length > next + 1) {
    next += 1;
    verb = "watch"; // The old way to ask for one.
  }
  const place = placeOf(parts.slice(next));
  const { namespace, resource, subresource, rest } = place;
  let { name } = place;
  const isNamed = name !== "";
  if (verb === "get" && !isNamed) verb = isTrue(query.get("watch")) ? "watch" : "list";
  else if (verb === "delete" && !isNamed) verb = "deletecollection";
  if (!isNamed && (verb === "list" || verb === "watch" || verb === "deletecollection")) {
    name = nameInSelector(query.get("fieldSelector"));
  }
  return {
    isResource: true,
    path,
    verb,
    group,
    version,
    namespace,
    resource,
    subresource,
    rest,
    name,
    isNamed,
  };
}

/** What stands between slashes, decoded. */
function segmentsOf(path: string): string[] {
  const segments: string[] = [];
  let start = 0;
  while (start < path.length) {
    let end = path.indexOf("/", start);
    if (end < 0) end = path.length;
    if (end > start) segments.push(decode(path.slice(start, end)));
    start = end + 1;
  }
  return segments;
}

/** Where a path leads below its version. */
function placeOf(
  parts: readonly string[],
): Pick<ResourceRequest, "namespace" | "resource" | "subresource" | "rest" | "name"> {
  const [first = "", second = "", third] = parts;
  let namespace = "";
  let rest: readonly string[] = parts;
  if (first === "namespaces" && second !== "") {
    namespace = second;
    if (third !== undefined && !ofNamespaces.has(third)) rest = parts.slice(2);
  }
  const [resource = "", name = "", subresource = "", ...more] = rest;
  return { namespace, resource, subresource, rest: more, name };
}

function nameInSelector(text: string | null): string {
  if (text === null) return "";
  try {
    return exactField(parseFieldSelector(text), "metadata.name") ?? "";
  } catch {
    return ""; // Whoever reads the whole selector says what is wrong with it.
  }
}

function decode(part: string): string {
  if (!part.includes("%")) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // No name holds a stray percent sign: it will not be found.
  }
}
