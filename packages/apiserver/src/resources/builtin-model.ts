// What is done to the objects of a built-in kind: its Go type, its defaults and its rules.

import type { JsonObject } from "@keelson/base";
import {
  apiVersionOf,
  emptyOf,
  fieldManager,
  rulesOf,
  subdomainNames,
  typedKind,
  type BuiltinKind,
  type BuiltinKinds,
  type FieldManager,
  type ManagedKind,
  type ManagedVersion,
} from "@keelson/kube";

import { eventFromCore, eventToCore } from "./event-conversion.ts";
import { once, onceByKey } from "./once.ts";
import { resetFieldsOf } from "./reset-fields.ts";
import type { Model, Storage } from "./resource.ts";

/**
 * The model of a built-in kind. Objects are stored defaulted and in their typed form, so reading one changes
 * nothing: a release that adds a default migrates what is stored.
 */
export function builtinModel(
  kinds: BuiltinKinds,
  kind: BuiltinKind,
  storage: Storage | undefined,
): Model {
  const rules = rulesOf(kind);
  const apiVersion = apiVersionOf(kind);
  const isConverted = storage !== undefined && storage.apiVersion !== apiVersion;
  const typed = once(() => typedKind(kinds, kind));
  const empty = once(() => typed().empty());
  const managers = onceByKey((subresource) => managerOf(kinds, kind, subresource));
  const nothing = (): readonly never[] => [];
  const leave = (): void => undefined;
  return {
    names: rules.names ?? subdomainNames,
    get empty() {
      return empty();
    },
    read: (value, { now }) => {
      const { object, unknown } = typed().decode(value);
      typed().applyDefaults(object, { now });
      return { object, unknown };
    },
    fromStored: isConverted ? (stored) => eventFromCore(stored) : (stored) => stored,
    readsAsStored: !isConverted,
    toStored: (object) => {
      typed().toStored(object);
      return isConverted ? eventToCore(object) : object;
    },
    prepareForCreate: rules.prepareForCreate ?? leave,
    prepareForUpdate: rules.prepareForUpdate ?? leave,
    prepareForStatusUpdate: rules.prepareForStatusUpdate ?? leave,
    validate: rules.validate ?? nothing,
    validateUpdate:
      rules.validateUpdate ?? ((object, _old, context) => rules.validate?.(object, context) ?? []),
    validateStatusUpdate: rules.validateStatusUpdate ?? nothing,
    warnings: rules.warnings ?? nothing,
    fieldManager: managers,
    get mergeSchema() {
      return kinds.schemaOf(kind.type);
    },
  };
}

function managerOf(kinds: BuiltinKinds, kind: BuiltinKind, subresource: string): FieldManager {
  const body = kind.subresources.find(({ name }) => name === subresource);
  // A scale is an object of its own kind; the other bodies are the object itself.
  const isOwn = body === undefined || body.kind === kind.kind;
  const { group, version, kind: name } = isOwn ? kind : body;
  const type = isOwn ? kind.type : (body.type ?? kind.type);
  const resetFields = isOwn ? resetFieldsOf(kind, subresource) : undefined;
  const versions = otherVersions(kinds, kind);
  const managed: ManagedKind = {
    group,
    version,
    kind: name,
    schema: kinds.schemaOf(type),
    subresource,
    // Of the bodies that are kinds of their own only a scale is managed.
    empty: isOwn ? emptyOf(kinds, kind) : { metadata: {}, spec: {}, status: { replicas: 0 } },
    ...(resetFields === undefined ? {} : { resetFields }),
    ...(isOwn && versions.size > 0 ? { versions } : {}),
  };
  return fieldManager(managed);
}

/** The other shapes of an object, with which somebody may manage its fields. */
function otherVersions(
  kinds: BuiltinKinds,
  { group, kind }: BuiltinKind,
): ReadonlyMap<string, ManagedVersion> {
  if (kind !== "Event") return new Map();
  const convert = (to: (object: JsonObject) => JsonObject, apiVersion: string) => {
    return (object: JsonObject): JsonObject =>
      object["apiVersion"] === apiVersion ? object : to(object);
  };
  return group === ""
    ? new Map([
        [
          "events.k8s.io/v1",
          {
            schema: kinds.schemaOf("events.v1.Event"),
            convert: convert(eventFromCore, "events.k8s.io/v1"),
          },
        ],
      ])
    : new Map([
        ["v1", { schema: kinds.schemaOf("core.v1.Event"), convert: convert(eventToCore, "v1") }],
      ]);
}
