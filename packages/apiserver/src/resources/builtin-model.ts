// What is done to the objects of a built-in kind: its Go type, its defaults and its rules.

import { isJsonArray, isJsonObject, type JsonObject, type MutableJsonObject } from "@keelson/base";
import {
  emptyOf,
  fieldManager,
  managedFieldsOf,
  metadataChecks,
  rulesOf,
  subdomainNames,
  subresourceRulesOf,
  typedKind,
  type BuiltinKind,
  type BuiltinKinds,
  type FieldManager,
  type KindRules,
} from "@keelson/kube";

import type { Shapes } from "./builtin-shapes.ts";
import { once, onceByKey } from "./once.ts";
import { resetFieldsOf } from "./reset-fields.ts";
import { scaleManager } from "./scale-manager.ts";
import type { Model } from "./resource.ts";

/**
 * The model of a built-in kind. Objects are stored defaulted and in their typed form, so reading one changes
 * nothing: a release that adds a default migrates what is stored.
 */
export function builtinModel(
  kinds: BuiltinKinds,
  kind: BuiltinKind,
  shapes: Shapes | undefined,
): Model {
  const inShape = (rules: KindRules): KindRules =>
    shapes?.rulesAreOfStored === true ? inStoredShape(rules, shapes) : rules;
  const rules = inShape(rulesOf(kind));
  const typed = once(() => typedKind(kinds, kind));
  const empty = once(() => typed().empty());
  const managers = onceByKey((subresource) => managerOf(kinds, kind, { subresource, shapes }));
  const nothing = (): readonly never[] => [];
  const leave = (): void => undefined;
  return {
    namesFor: rules.namesFor ?? (() => rules.names ?? subdomainNames),
    takesBareFinalizers: rules.takesBareFinalizers ?? false,
    metadataChecks: (subresource) => metadataChecks(kind, subresource),
    get empty() {
      return empty();
    },
    read: (value, { now }, said) => {
      const { object, problems } = typed().decode(value, said);
      typed().applyDefaults(object, { now });
      keepReset(value, object);
      return { object, problems };
    },
    fromStored: shapes === undefined ? (stored) => stored : shapes.fromStored,
    readsAsStored: shapes === undefined || shapes.isStored,
    settle: (object) => typed().toStored(object),
    toStored: (object) => {
      typed().toStored(object);
      return shapes === undefined ? object : shapes.toStored(object);
    },
    prepareForCreate: rules.prepareForCreate ?? leave,
    prepareForUpdate: rules.prepareForUpdate ?? leave,
    validate: rules.validate ?? nothing,
    validateUpdate:
      rules.validateUpdate ?? ((object, _old, context) => rules.validate?.(object, context) ?? []),
    subresource: onceByKey((name) => {
      const own = inShape(subresourceRulesOf(kind, name));
      return {
        prepareForUpdate: own.prepareForStatusUpdate ?? leave,
        validateUpdate: own.validateStatusUpdate ?? nothing,
      };
    }),
    warnings: rules.warnings ?? nothing,
    fieldManager: managers,
    get mergeSchema() {
      return kinds.schemaOf(kind.type);
    },
  };
}

/** An empty list of managed fields says nothing as a value, but asks to forget them (KB 47). */
function keepReset(value: JsonObject, object: MutableJsonObject): void {
  const sent = managedFieldsOf(value);
  const { metadata } = object;
  if (!isJsonArray(sent) || sent.length > 0 || !isJsonObject(metadata)) return;
  metadata["managedFields"] = [];
}

/** Rules that speak of the stored shape, for objects in the other. None of them changes its object. */
function inStoredShape(rules: KindRules, { toStored }: Shapes): KindRules {
  const { names, namesFor, validate, validateUpdate, validateStatusUpdate } = rules;
  return {
    ...(names === undefined ? {} : { names }),
    ...(namesFor === undefined ? {} : { namesFor: (object) => namesFor(toStored(object)) }),
    validate: (object, context) => validate?.(toStored(object), context) ?? [],
    validateUpdate: (object, old, context) =>
      (validateUpdate === undefined
        ? validate?.(toStored(object), context)
        : validateUpdate(toStored(object), toStored(old), context)) ?? [],
    validateStatusUpdate: (object, old, context) =>
      validateStatusUpdate?.(toStored(object), toStored(old), context) ?? [],
  };
}

function managerOf(
  kinds: BuiltinKinds,
  kind: BuiltinKind,
  { subresource, shapes }: { readonly subresource: string; readonly shapes: Shapes | undefined },
): FieldManager {
  if (subresource === "scale") return scaleManager();
  const { group, version, kind: name, type } = kind;
  const resetFields = resetFieldsOf(kind, subresource);
  return fieldManager({
    group,
    version,
    kind: name,
    schema: kinds.schemaOf(type),
    subresource,
    empty: emptyOf(kinds, kind),
    ...(resetFields === undefined ? {} : { resetFields }),
    ...(shapes === undefined ? {} : { versions: shapes.others() }),
  });
}
