// Which kind a body says it is, and what the server says if that is not the kind of the address.

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";

import { jsonTypeName } from "../go-text/json-type-name.ts";
import { quote } from "../go-text/quote.ts";
import type { BuiltinKind } from "../kinds/builtin-kind.ts";
import type { BuiltinKinds } from "../kinds/builtin-kinds.ts";
import { apiVersionOf } from "../object/api-version.ts";
import { TypedDecodeError } from "./decode-error.ts";
import { typedBody } from "./typed-kind.ts";

/** A body, as it was read and as it came. */
export interface SentBody {
  readonly value: Json;
  readonly bytes: Uint8Array;
}

/**
 * Why a body is not taken at the address of a kind: the message of the 400. Undefined for one that says it is of
 * that kind, or says nothing.
 */
export function sentKindProblem(
  kinds: BuiltinKinds,
  target: BuiltinKind,
  { value, bytes }: SentBody,
): string | undefined {
  let said;
  try {
    said = typeMetaOf(value);
  } catch (error) {
    if (error instanceof TypedDecodeError) {
      return unrecognizedMessage(target.kind, error.message, bytes);
    }
    throw error;
  }
  const { group, version, kind } = withDefaults(said, target);
  const expected = apiVersionOf(target);
  const handled = `${kind} in version ${quote(version)} cannot be handled as a ${target.kind}`;
  if (version === "") {
    return `${handled}: Object 'apiVersion' is missing in '${new TextDecoder().decode(bytes)}'`;
  }
  const sent = apiVersionOf({ group, version });
  const problem = otherKindProblem(kinds, target, { said: { group, version, kind }, value });
  if (problem !== undefined) return `${handled}: ${problem}`;
  if (sent === expected) return undefined;
  return `the API version in the data (${sent}) does not match the expected API version (${expected})`;
}

/**
 * Why an object that says it is of another kind is not one of the target's: it is read as what it says first, so
 * it may be wrong as that already. Undefined if only its version is another.
 */
export function otherKindProblem(
  kinds: BuiltinKinds,
  target: BuiltinKind,
  { said, value }: { readonly said: TypeMeta; readonly value: Json },
): string | undefined {
  const meant = withDefaults(said, target);
  const { version, kind } = meant;
  if (!isRegistered(kinds, target, meant)) return unregisteredKind(kind, apiVersionOf(meant));
  if (kind === target.kind) return undefined;
  const problem = isJsonObject(value) ? problemOf(kinds, meant, value) : undefined;
  const conversion = `converting (${version}.${kind}) to (${ownPackage(target.group)}.${target.kind})`;
  return problem ?? `${conversion}: unknown conversion`;
}

function problemOf(kinds: BuiltinKinds, name: TypeMeta, value: JsonObject): string | undefined {
  if (kinds.typeOf(name) === undefined) return undefined;
  try {
    typedBody(kinds, name).decode(value);
    return undefined;
  } catch (error) {
    if (error instanceof TypedDecodeError) return error.message;
    throw error;
  }
}

/** A kind that nobody knows, as the real server's registry of types says it. */
export function unregisteredKind(kind: string, apiVersion: string): string {
  return `no kind ${quote(kind)} is registered for version ${quote(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;
}

/** The message of the 400 for a body of which not even the kind can be told. */
export function unrecognizedMessage(kind: string, problem: string, bytes: Uint8Array): string {
  return `the object provided is unrecognized (must be of type ${kind}): ${problem} (${summary(bytes)})`;
}

/** The kind that an object says it is of. */
interface TypeMeta {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** What a body says of itself. Throws a `TypedDecodeError` where that is no text, or no version. */
function typeMetaOf(value: Json): TypeMeta {
  if (value === null) return { group: "", version: "", kind: "" };
  if (!isJsonObject(value)) {
    throw new TypedDecodeError(
      `${unreadable}: json: cannot unmarshal ${jsonTypeName(value)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
    );
  }
  const { apiversion: apiVersion, kind } = textsIn(value);
  const [first = "", second, ...rest] = apiVersion.split("/");
  if (rest.length > 0) {
    throw new TypedDecodeError(`unexpected GroupVersion string: ${apiVersion}`);
  }
  return { group: second === undefined ? "" : first, version: second ?? first, kind };
}

const unreadable = "couldn't get version/kind; json parse error";

/** At this point Go does not mind how the two names are spelt; the last one counts. */
function textsIn(object: JsonObject): { readonly apiversion: string; readonly kind: string } {
  const found = { apiversion: "", kind: "" };
  let problem: TypedDecodeError | undefined;
  for (const [key, value] of Object.entries(object)) {
    const name = key.toLowerCase();
    if ((name !== "kind" && name !== "apiversion") || value === null) continue;
    if (typeof value === "string") {
      found[name] = value;
      continue;
    }
    const field = name === "kind" ? "kind" : "apiVersion";
    problem ??= new TypedDecodeError(
      `${unreadable}: json: cannot unmarshal ${jsonTypeName(value)} into Go struct field .${field} of type string`,
    );
  }
  if (problem !== undefined) throw problem;
  return found;
}

function withDefaults({ group, version, kind }: TypeMeta, target: BuiltinKind): TypeMeta {
  const isOpen = version === "" && (group === "" || group === target.group);
  return {
    kind: kind === "" ? target.kind : kind,
    group: isOpen ? target.group : group,
    version: isOpen ? target.version : version,
  };
}

/** Groups with servers of their own inside the server: they know no kinds but theirs. */
const ownSchemes = new Set(["apiextensions.k8s.io", "apiregistration.k8s.io"]);

/** Kinds that every group version has. */
const everywhere = new Set([
  "CreateOptions",
  "DeleteOptions",
  "GetOptions",
  "ListOptions",
  "PatchOptions",
  "UpdateOptions",
  "WatchEvent",
]);

/** Kinds that `v1` has besides. */
const unversioned = new Set([
  "APIGroup",
  "APIGroupList",
  "APIResourceList",
  "APIVersions",
  "List",
  "Status",
]);

function isRegistered(kinds: BuiltinKinds, target: BuiltinKind, sent: TypeMeta): boolean {
  const { group, version, kind } = sent;
  const schemeOf = (name: string): string => (ownSchemes.has(name) ? name : "");
  const isMeta = group === "" && version === "v1" && unversioned.has(kind);
  if (isMeta) return true;
  if (schemeOf(group) !== schemeOf(target.group)) return false;
  const isServed = (name: string): boolean =>
    kinds.all.some(
      (one) =>
        (one.group === group && one.version === version && one.kind === name) ||
        one.subresources.some(
          (sub) => sub.group === group && sub.version === version && sub.kind === name,
        ),
    );
  if (isServed(kind) || (kind.endsWith("List") && isServed(kind.slice(0, -4)))) return true;
  const isServedVersion = kinds.all.some((one) => one.group === group && one.version === version);
  if (isServedVersion && everywhere.has(kind)) return true;
  // Its earlier versions are still known, though no longer served.
  const isFormer = /^v\d+(?:alpha|beta)\d+$/.test(version);
  const isFormerGroup = group === target.group || group === "extensions";
  return kind === target.kind && isFormer && isFormerGroup;
}

/** The Go package of the server's own form of a group's kinds. */
function ownPackage(group: string): string {
  if (group === "" || group === "events.k8s.io") return "core";
  if (group === "internal.apiserver.k8s.io") return "apiserverinternal";
  return group.replace(/\..*$/, "");
}

const summaryBytesMax = 30;

function summary(bytes: Uint8Array): string {
  if (bytes.length === 0) return "<empty>";
  const start = bytes.subarray(0, summaryBytesMax);
  const isObject = bytes[0] === 0x7b;
  const text = isObject
    ? new TextDecoder().decode(start)
    : Array.from(start, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return bytes.length > summaryBytesMax ? `${text} ...` : text;
}
