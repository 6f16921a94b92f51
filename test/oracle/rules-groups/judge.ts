// What our rules say of a request, in the form in which the real server says it.

import {
  cloneJson,
  isJsonObject,
  type Json,
  type JsonObject,
  type MutableJsonObject,
} from "@keelson/base";
import {
  failures,
  pathSegmentNames,
  refusedAs,
  rulesOf,
  subresourceRulesOf,
  subdomainNames,
  validateMetadata,
  validateMetadataUpdate,
  type BuiltinKind,
  type RuleContext,
} from "@keelson/kube";

import { isSigned } from "../../../packages/apiserver/src/auth/pki/is-signed.ts";

// The server brings cryptography along.
const context: RuleContext = {
  isSigned,
  now: "2026-01-01T00:00:00Z",
  uuid: () => "7a3c1f5e-0000-4000-8000-00000000000a",
};

/** An answer as it is compared: the message and the causes of a refusal, each cause once; or that it was taken. */
export function verdictOf(status: number, body: Json | undefined): Json {
  if (status < 300) return "taken";
  if (body === undefined || !isJsonObject(body)) return String(status);
  const { message = "", details } = body;
  const causes = isJsonObject(details) ? details["causes"] : undefined;
  const listed = Array.isArray(causes) ? (causes as Json[]) : [];
  const unique = new Set(listed.map((cause) => withoutManagers(JSON.stringify(cause))));
  return {
    code: body["code"] ?? status,
    message: typeof message === "string" ? withoutManagers(message) : message,
    causes: [...unique].map((cause) => JSON.parse(cause) as Json),
  };
}

/** Metadata that a message shows has managers in it; whose they are is not the rules' affair. */
function withoutManagers(text: string): string {
  return text.replaceAll(/,?\\?"managedFields\\?":\[.*\]\}(?=: must be empty)/g, "}");
}

type Errors = Parameters<typeof failures.invalid>[2];

function verdict(kind: BuiltinKind, object: JsonObject, errors: Errors): Json {
  if (errors.length === 0) return "taken";
  const name = metadataOf(object)["name"];
  const refused = refusedAs(kind, typeof name === "string" ? name : "");
  const error = failures.invalid(refused.kind, refused.name, errors);
  return verdictOf(error.status.code ?? 0, error.status as unknown as Json);
}

export interface Judged {
  readonly verdict: Json;
  readonly object: JsonObject;
  readonly warnings: readonly string[];
}

/** A creation. The object is decoded and defaulted; system metadata is there. */
export function judgeCreate(kind: BuiltinKind, object: JsonObject): Judged {
  const rules = rulesOf(kind);
  const copy = cloneJson(object);
  const told: string[] = [];
  rules.prepareForCreate?.(copy, { ...context, warn: (text) => void told.push(text) });
  const nameRule = rules.namesFor?.(copy) ?? rules.names ?? subdomainNames;
  const isBuiltIn = rules.takesBareFinalizers !== true;
  const options = { isNamespaced: kind.isNamespaced, nameRule, isBuiltIn };
  const isStored = kind.listKind !== undefined;
  const errors = [
    ...(isStored ? validateMetadata(metadataOf(copy), options) : []),
    ...(rules.validate?.(copy, context) ?? []),
  ];
  const warnings =
    errors.length === 0 ? [...told, ...(rules.warnings?.(copy, undefined) ?? [])] : [];
  return { verdict: verdict(kind, copy, errors), object: copy, warnings };
}

/** An update of an object that is as the server gave it. */
export function judgeUpdate(kind: BuiltinKind, object: JsonObject, old: JsonObject): Judged {
  const rules = rulesOf(kind);
  const copy = cloneJson(object);
  keepStatus(kind, copy, old);
  rules.prepareForUpdate?.(copy, old, context);
  const errors = [
    ...metadataErrors(kind, copy, old),
    ...(rules.validateUpdate?.(copy, old, context) ?? rules.validate?.(copy, context) ?? []),
  ];
  const warnings = errors.length === 0 ? (rules.warnings?.(copy, old) ?? []) : [];
  return { verdict: verdict(kind, copy, errors), object: copy, warnings };
}

/** An update through a subresource: all that is not its part stays as it was. */
export function judgeSubresourceUpdate(
  kind: BuiltinKind,
  object: JsonObject,
  old: JsonObject,
  subresource: string,
): Judged {
  const rules = subresourceRulesOf(kind, subresource);
  const copy = cloneJson(old);
  switch (subresource) {
    case "finalize":
    case "resize":
      copyMember(copy, object, "spec");
      break;
    case "ephemeralcontainers": {
      const [spec, sent] = [copy["spec"], object["spec"]];
      if (isJsonObject(spec) && isJsonObject(sent)) copyMember(spec, sent, "ephemeralContainers");
      break;
    }
    default:
      copyMember(copy, object, "status");
  }
  rules.prepareForStatusUpdate?.(copy, old, context);
  const errors = [
    ...metadataErrors(kind, copy, old),
    ...(rules.validateStatusUpdate?.(copy, old, context) ?? []),
  ];
  return { verdict: verdict(kind, copy, errors), object: copy, warnings: [] };
}

function copyMember(target: MutableJsonObject, source: JsonObject, name: string): void {
  if (source[name] === undefined) delete target[name];
  else target[name] = cloneJson(source[name]);
}

function metadataErrors(kind: BuiltinKind, object: JsonObject, old: JsonObject): Errors {
  const options = { isNamespaced: kind.isNamespaced, nameRule: pathSegmentNames };
  return [
    ...validateMetadata(metadataOf(object), options),
    ...validateMetadataUpdate(metadataOf(object), metadataOf(old)),
  ];
}

function keepStatus(kind: BuiltinKind, object: MutableJsonObject, old: JsonObject): void {
  if (kind.subresources.some(({ name }) => name === "status")) copyMember(object, old, "status");
}

function metadataOf(object: JsonObject): JsonObject {
  const { metadata } = object;
  return metadata !== undefined && isJsonObject(metadata) ? metadata : {};
}
