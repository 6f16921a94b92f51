import {
  cloneJson,
  isJsonObject,
  JsonSyntaxError,
  readJsonReport,
  writeJson,
  type Json,
  type JsonObject,
  type MutableJsonObject,
} from "@keelson/base";
import {
  apiVersionOf,
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  decodeJsonPatch,
  failures,
  goJsonSyntax,
  negotiatePatch,
  otherKindProblem,
  printValue,
  StatusError,
  type PatchType,
  TypedDecodeError,
  unregisteredKind,
} from "@keelson/kube";

import { duplicateField, fromJson, fromYaml, UnreadableBody } from "../encoding/read-body.ts";
import { header, type ResourceExchange } from "../http/exchange.ts";
import { uidOf } from "../object-metadata.ts";
import { updateObject } from "../writes/update-object.ts";
import { ruleContext } from "../writes/write-request.ts";
import { authorizeCreate } from "./authorize-create.ts";
import { checkName, checkNamespace } from "./sent-object.ts";
import { formatFor, objectAnswer, type Verb, type Verbs } from "./verb.ts";
import {
  judgeFields,
  strictText,
  writeOptions,
  writeRequest,
  type WriteOptions,
} from "./write-options.ts";

/** Changes an object, or its status, by a patch of one of the four types (KB 30–32, 41–50). */
export const patch: Verb = async (verbs, exchange) => {
  const { info, signal } = exchange;
  const request = patchRequest(exchange);
  const { type, options } = request;
  const isApply = type === "apply";
  const format = formatFor(exchange);
  const change = patcherOf(verbs, exchange, request);
  const written = await updateObject(
    verbs,
    writeRequest(exchange, options),
    {
      change,
      mayCreate: isApply && info.subresource === "",
      beforeCreate: () => authorizeCreate(verbs, exchange),
      isUnconditional: true,
    },
    signal,
  );
  return objectAnswer(verbs, exchange, format, { ...written, code: written.isCreated ? 201 : 200 });
};

export interface Patch {
  readonly type: PatchType;
  readonly options: WriteOptions;
}

/** What a request wants to be patched, and how. Throws a `StatusError`. */
export function patchRequest(exchange: ResourceExchange): Patch {
  const type = patchTypeOf(exchange);
  return { type, options: writeOptions(exchange, "PatchOptions", { isApply: type === "apply" }) };
}

/** Of built-in kinds another format is refused before anybody looks at the patch, and with other words. */
function patchTypeOf(exchange: ResourceExchange): PatchType {
  const { patchTypes, isCustom } = exchange.resource;
  try {
    return negotiatePatch(header(exchange, "content-type"), patchTypes);
  } catch (error) {
    // Two at once get past the first look.
    const isList = header(exchange, "content-type").includes(",");
    if (isCustom || isList || !(error instanceof StatusError)) throw error;
    throw new StatusError({ ...error.status, message: "415: Unsupported Media Type", details: {} });
  }
}

/** A function from the live object to the patched one, managed fields included. */
export function patcherOf(
  verbs: Verbs,
  exchange: ResourceExchange,
  patch: Patch,
): (live: JsonObject | undefined) => MutableJsonObject {
  const { resource, info } = exchange;
  const fields = resource.model.fieldManager(info.subresource);
  const { manager } = patch.options;
  const checked = (object: MutableJsonObject): MutableJsonObject => {
    checkNamespace(exchange, object);
    checkName(exchange, object);
    return object;
  };
  if (patch.type === "apply") return applier(verbs, exchange, patch.options, checked);

  const merge = merger(exchange, patch);
  return (live) => {
    if (live === undefined) {
      throw failures.notFound({ group: resource.group, resource: resource.plural }, info.name);
    }
    const { now } = ruleContext(verbs);
    const object = readPatched(verbs, exchange, { ...merge(live), options: patch.options });
    return checked(fields.update(live, object, { manager, now }) as MutableJsonObject);
  };
}

function applier(
  verbs: Verbs,
  exchange: ResourceExchange,
  { manager, force, fieldValidation }: WriteOptions,
  checked: (object: MutableJsonObject) => MutableJsonObject,
): (live: JsonObject | undefined) => MutableJsonObject {
  const { resource, info, body, warn } = exchange;
  const fields = resource.model.fieldManager(info.subresource);
  const { value: config, duplicates } = applyBody(body);
  return (live) => {
    const { now } = ruleContext(verbs);
    if (live === undefined && uidOf(config) !== "") {
      throw failures.conflict(
        { group: resource.group, resource: resource.plural },
        info.name,
        `uid mismatch: the provided object specified uid ${uidOf(config)}, and no existing object was found`,
      );
    }
    const { object } = fields.apply(live, config, { manager, force, now });
    judgeFields(duplicates, { fieldValidation, warn }, (problems) =>
      failures.badRequest(
        `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  ${problems.join("\n  ")}`,
      ),
    );
    try {
      return checked(resource.model.read(object, ruleContext(verbs)).object);
    } catch (error) {
      if (!(error instanceof TypedDecodeError)) throw error;
      // KB 32: Kubernetes answers 500, but it is the client who can mend it.
      throw failures.invalid({ group: resource.group, kind: resource.kind }, info.name, [
        { type: "FieldValueInvalid", field: "patch", value: info.name, detail: error.message },
      ]);
    }
  };
}

function applyBody(body: Uint8Array): ReturnType<typeof fromYaml> {
  const text = new TextDecoder().decode(body);
  // JSON is YAML too, and much sooner read.
  if (/^\s*\{/.test(text)) {
    try {
      const read = fromJson(text);
      if (read.duplicates.length === 0) return read;
    } catch {
      // Not JSON after all.
    }
  }
  try {
    return fromYaml(text);
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error;
    const what = /json: cannot unmarshal (\w+) into/.exec(error.message)?.[1];
    throw failures.badRequest(
      what === undefined
        ? `error decoding YAML: error converting YAML to JSON: ${error.message}`
        : `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${what} into Go value of type map[string]interface {}`,
    );
  }
}

/** What a patch makes of an object, before it is read as one. */
interface Merged {
  readonly value: Json;
  readonly problems: readonly string[];
  /** The patch, or the outcome, as a refusal shows it. */
  readonly shown: () => string;
  /** Whether the outcome is turned into an object without being written and read again. */
  readonly isStrategic?: boolean;
}

function merger(
  { resource, body }: ResourceExchange,
  { type }: Patch,
): (live: JsonObject) => Merged {
  const { value: sent, duplicates } = patchBody(body);
  if (type === "json") {
    const { operations, unknownFields } = decodeJsonPatch(sent);
    const problems = [...duplicates.map((text) => `json patch ${text}`), ...unknownFields].toSorted(
      (a, b) => operationOf(a) - operationOf(b),
    );
    return (live) => shownWhole(applyJsonPatch(live, operations), problems);
  }
  if (type === "merge") return (live) => shownWhole(applyMergePatch(live, sent), duplicates);
  const schema = resource.model.mergeSchema ?? {};
  return (live) => ({
    value: applyStrategicMergePatch(live, sent, schema),
    problems: duplicates,
    isStrategic: true,
    shown: () => printValue(sent),
  });
}

function shownWhole(value: Json, problems: readonly string[]): Merged {
  return { value, problems, shown: () => writeJson(value) };
}

function patchBody(body: Uint8Array): {
  readonly value: Json;
  readonly duplicates: readonly string[];
} {
  try {
    const { value, duplicates } = readJsonReport(new TextDecoder().decode(body));
    return { value, duplicates: duplicates.map(duplicateField) };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const text = new TextDecoder().decode(body);
    throw failures.badRequest(`error decoding patch: ${goJsonSyntax(text)}`);
  }
}

/** The outcome of a patch as an object of its kind. Wrong types are `Invalid`, not a bad request (KB 32). */
function readPatched(
  verbs: Verbs,
  { resource, warn }: ResourceExchange,
  { value, problems, shown, isStrategic, options }: Merged & { readonly options: WriteOptions },
): MutableJsonObject {
  const refuse = (detail: string): Error =>
    failures.invalid({ group: "", kind: "" }, "", [
      { type: "FieldValueInvalid", field: "patch", value: shown(), detail },
    ]);
  if (!isJsonObject(value)) throw refuse("the outcome of the patch is not an object");
  // A strategic patch makes a struct of its own kind, whatever it says of it.
  if (!resource.isCustom && isStrategic !== true) {
    const problem = otherKind(verbs, resource, value);
    if (problem !== undefined) throw refuse(problem);
  }
  try {
    const { object, problems: own } = resource.model.read(cloneJson(value), ruleContext(verbs));
    const named = isStrategic === true ? own.toSorted() : own;
    judgeFields([...problems, ...named], { ...options, warn }, (all) => refuse(strictText(all)));
    return object;
  } catch (error) {
    if (error instanceof TypedDecodeError) {
      throw refuse(isStrategic === true ? conversionProblem(error) : error.message);
    }
    throw error;
  }
}

/** Why the outcome is not of the kind of the address. */
function otherKind(
  { kinds }: Verbs,
  resource: ResourceExchange["resource"],
  value: JsonObject,
): string | undefined {
  const { kind = "", apiVersion = "" } = value;
  if (kind === resource.kind && apiVersion === apiVersionOf(resource)) return undefined;
  if (typeof kind !== "string" || typeof apiVersion !== "string") {
    return unregistered(kind, apiVersion);
  }
  if (kind === "" && apiVersion === "") return undefined;
  const target = kinds.find(resource);
  if (target === undefined) return unregistered(kind, apiVersion);
  const slash = apiVersion.indexOf("/");
  const said = {
    group: apiVersion.slice(0, Math.max(slash, 0)),
    version: apiVersion.slice(slash + 1),
    kind,
  };
  return otherKindProblem(kinds, target, { said, value });
}

/** To which operation a problem belongs: they are told in its order. */
function operationOf(problem: string): number {
  return Number(/"\[(\d+)\]/.exec(problem)?.[1] ?? 0);
}

/** A kind that nobody knows. */
export function unregistered(kind: Json, apiVersion: Json): string {
  const text = (value: Json): string => (typeof value === "string" ? value : "");
  return unregisteredKind(text(kind), text(apiVersion));
}

/** A wrong type, as turning a map into a struct says it. */
function conversionProblem({ mismatch, message }: TypedDecodeError): string {
  if (mismatch === undefined) return message;
  const { value, type } = mismatch;
  if (type.startsWith("map[")) return value === "array" ? "cannot restore map from slice" : message;
  if (type.startsWith("[]")) return value === "object" ? "cannot restore slice from map" : message;
  return `unrecognized type: ${type}`;
}
