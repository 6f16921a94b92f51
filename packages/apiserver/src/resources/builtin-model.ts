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
  type ManagedVersion,
} from "@keelson/kube";

import { eventFromCore, eventToCore } from "./event-conversion.ts";
import { once, onceByKey } from "./once.ts";
import { resetFieldsOf } from "./reset-fields.ts";
import { scaleManager } from "./scale-manager.ts";
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
    read: (value, { now }, said) => {
      const { object, problems } = typed().decode(value, said);
      typed().applyDefaults(object, { now });
      return { object, problems };
    },
    fromStored: isConverted ? eventFromCore : (stored) => stored,
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
  if (subresource === "scale") return scaleManager();
  const { group, version, kind: name, type } = kind;
  const resetFields = resetFieldsOf(kind, subresource);
  const versions = otherVersions(kinds, kind);
  return fieldManager({
    group,
    version,
    kind: name,
    schema: kinds.schemaOf(type),
    subresource,
    empty: emptyOf(kinds, kind),
    ...(resetFields === undefined ? {} : { resetFields }),
    ...(versions.size > 0 ? { versions } : {}),
  });
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
