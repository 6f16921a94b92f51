// The object in a body of a create or an update.

import { isJsonObject, type MutableJsonObject } from "@keelson/base";
import {
  apiVersionOf,
  failures,
  quote,
  sentKindProblem,
  TypedDecodeError,
  unrecognizedMessage,
} from "@keelson/kube";

import { textAt } from "../fields.ts";
import { builtinFormats, customFormats } from "../encoding/read-body.ts";
import { readSent } from "../encoding/read-sent.ts";
import { header, type ResourceExchange } from "../http/exchange.ts";
import { nameOf, namespaceOf, ownMetadata } from "../object-metadata.ts";
import type { Resource } from "../resources/resource.ts";
import { ruleContext } from "../writes/write-request.ts";
import type { Verbs } from "./verb.ts";
import { judgeFields, strictText, type WriteOptions } from "./write-options.ts";

/** Reads, checks against the address, and defaults. Throws a `StatusError`: 400, or 415 for the format. */
export function sentObject(
  verbs: Verbs,
  exchange: ResourceExchange,
  options: Pick<WriteOptions, "fieldValidation">,
): MutableJsonObject {
  const { resource, body, warn } = exchange;
  const formats = resource.isCustom ? customFormats : builtinFormats;
  const contentType = header(exchange, "content-type");
  const { value, said, duplicates } = readSent(body, resource, {
    contentType,
    formats,
    codec: verbs.codec,
  });
  const { kind, apiVersion } = kindOf(verbs, exchange, value);
  const described = `${resource.kind} in version "${resource.version}" cannot be handled as a ${resource.kind}`;
  let read;
  try {
    read = resource.model.read({ ...value, apiVersion, kind }, ruleContext(verbs), said);
  } catch (error) {
    if (error instanceof TypedDecodeError)
      throw failures.badRequest(`${described}: ${error.message}`);
    throw error;
  }
  const isYaml = said.duplicates.length === 0 && duplicates.length > 0;
  const problems = isYaml ? [...duplicates, ...read.problems] : read.problems;
  judgeFields(problems, { ...options, warn }, () => {
    const twice = `yaml: unmarshal errors:\n  ${duplicates.join("\n  ")}`;
    const all = isYaml ? [twice, ...read.problems] : problems;
    return failures.badRequest(`${described}: ${strictText(all)}`);
  });
  return read.object;
}

/** The kind in a body must be the resource's; one that says nothing is taken to be it. */
function kindOf(
  { kinds }: Verbs,
  { resource, body }: ResourceExchange,
  value: MutableJsonObject,
): { readonly kind: string; readonly apiVersion: string } {
  const expected = { kind: resource.kind, apiVersion: apiVersionOf(resource) };
  const builtin = resource.isCustom ? undefined : kinds.find(resource);
  if (builtin !== undefined) {
    const problem = sentKindProblem(kinds, builtin, { value, bytes: body });
    if (problem !== undefined) throw failures.badRequest(problem);
    return expected;
  }
  const kind = textAt(value, "kind");
  const apiVersion = textAt(value, "apiVersion");
  if (!resource.isCustom && kind !== "" && kind !== resource.kind) {
    const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
    throw failures.badRequest(
      `${kind} in version ${quote(version)} cannot be handled as a ${resource.kind}: converting (${version}.${kind}) to (${resource.group}.${resource.kind}): unknown conversion`,
    );
  }
  if (kind === "" && resource.isCustom) {
    const missing = `Object 'Kind' is missing in '${new TextDecoder().decode(body)}'`;
    throw failures.badRequest(unrecognizedMessage(resource.kind, missing, body));
  }
  if (apiVersion !== "" && apiVersion !== expected.apiVersion) {
    throw failures.badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected.apiVersion})`,
    );
  }
  if (kind !== "" && kind !== resource.kind) {
    throw otherKind(resource, { kind, name: nameOf(value) });
  }
  return expected;
}

function otherKind(
  { group, kind }: Resource,
  sent: { readonly kind: string; readonly name: string },
): Error {
  return failures.invalid({ group, kind: sent.kind }, sent.name, [
    { type: "FieldValueInvalid", field: "kind", value: sent.kind, detail: `must be ${kind}` },
  ]);
}

/** An object may name the namespace it is sent to, and no other (KB 28). */
export function checkNamespace(
  { resource, info }: ResourceExchange,
  object: MutableJsonObject,
): void {
  const expected = resource.isNamespaced ? info.namespace : "";
  const sent = namespaceOf(object);
  if (sent === "") {
    if (expected !== "") ownMetadata(object)["namespace"] = expected;
    return;
  }
  if (sent === expected) return;
  if (expected === "") {
    // Kinds without namespaces do not mind one.
    const metadata = object["metadata"];
    if (isJsonObject(metadata)) delete metadata["namespace"];
    return;
  }
  throw failures.badRequest(
    "the namespace of the provided object does not match the namespace sent on the request",
  );
}

/** An object may have the name it is sent to, and no other (KB 28). */
export function checkName({ info }: ResourceExchange, object: MutableJsonObject): void {
  const name = nameOf(object);
  if (name === "") {
    throw failures.badRequest(
      `the name of the object (${info.name} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (name !== info.name) {
    throw failures.badRequest(
      `the name of the object (${name}) does not match the name on the URL (${info.name})`,
    );
  }
}
