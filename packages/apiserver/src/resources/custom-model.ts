// What is done to the objects of a custom kind: all of it is in its schema.

import { append, cloneJson, type JsonObject, type MutableJsonObject } from "@keelson/base";
import {
  applyDefaults,
  coerceEmbedded,
  coerceMetadata,
  convertByName,
  customKindSchema,
  EmbeddedInvalid,
  printFieldError,
  fieldManager,
  FieldSet,
  memberOf,
  prepareObject,
  subdomainNames,
  TypedDecodeError,
  validateObject,
  type CustomKind,
  type FieldError,
  type FieldManager,
  type ManagedVersion,
  type StructuralSchema,
  quote,
  type DuplicateKeys,
} from "@keelson/kube";

import { finalizerWarnings } from "./finalizer-warnings.ts";
import { once, onceByKey } from "./once.ts";
import type { Model } from "./resource.ts";
import { scaleManager } from "./scale-manager.ts";
import { scaleSpecErrors, scaleStatusErrors } from "./scale-errors.ts";

export interface CustomModelOptions {
  /** Every version of the kind, by name. */
  readonly versions: ReadonlyMap<string, CustomKind>;
  readonly readsAsStored: boolean;
}

export function customModel(
  kind: CustomKind,
  { versions, readsAsStored }: CustomModelOptions,
): Model {
  const { schema = {} } = kind;
  const storage = [...versions.values()].find(({ isStorage }) => isStorage) ?? kind;
  const mergeSchemas = once(() => mergeSchemasOf(versions));
  // What a rule lets through because it was so before is told when the object is.
  const ruleWarnings = new WeakMap<JsonObject, readonly string[]>();
  const judge = (
    object: JsonObject,
    options: Parameters<typeof validateObject>[2],
  ): readonly FieldError[] => {
    const { errors, warnings } = validateObject(schema, object, options);
    if (warnings.length > 0) ruleWarnings.set(object, warnings);
    return errors;
  };
  const scaleErrors = (object: JsonObject): FieldError[] => [
    ...scaleSpecErrors(object, kind.scale),
    ...scaleStatusErrors(object, kind.scale),
  ];
  const leave = (): void => undefined;
  return {
    namesFor: () => subdomainNames,
    takesBareFinalizers: false,
    metadataChecks: () => ["changes"],
    settle: () => undefined,
    empty: {},
    read: (value, _context, { duplicates } = noDuplicates) => {
      const object = cloneJson(value);
      const problems = [
        ...duplicates.map((path) => `duplicate field ${quote(path)}`),
        ...readObject(kind, object).map((path) => `unknown field ${quote(path)}`),
      ];
      return { object, problems };
    },
    fromStored: readsAsStored
      ? (stored) => stored
      : (stored) => {
          const object = cloneJson(convertByName(stored, kind));
          prepare(kind, object);
          return object;
        },
    readsAsStored,
    toStored: (object) => convertByName(object, storage),
    prepareForCreate: leave,
    prepareForUpdate: leave,
    validate: (object) => judge(object, { others: scaleErrors(object) }),
    validateUpdate: (object, old) => judge(object, { old, others: scaleErrors(object) }),
    subresource: () => ({
      prepareForUpdate: leave,
      validateUpdate: (object, old) =>
        judge(object, { old, onlyStatus: true, others: scaleStatusErrors(object, kind.scale) }),
    }),
    warnings: (object, old) => [
      ...(ruleWarnings.get(object) ?? []),
      ...finalizerWarnings(object, old),
    ],
    fieldManager: onceByKey((subresource) => managerOf(kind, subresource, mergeSchemas())),
    mergeSchema: undefined,
  };
}

const noDuplicates: DuplicateKeys = { duplicates: [], membersBefore: [] };

/** Brings a body into the form of its kind, in place. Gives the fields that went. */
function readObject(kind: CustomKind, object: MutableJsonObject): string[] {
  const unknown: string[] = [];
  const metadata = memberOf(object, "metadata");
  if (metadata !== undefined) {
    const coerced = coerceMetadata(metadata);
    if (coerced.error !== undefined) throw new TypedDecodeError(coerced.error);
    append(
      unknown,
      coerced.unknown.map((path) => `metadata.${path}`),
    );
    object["metadata"] = coerced.metadata;
  }
  return [...unknown, ...prepare(kind, object)];
}

function prepare({ schema, preservesUnknownFields }: CustomKind, object: MutableJsonObject) {
  if (schema === undefined) return [];
  try {
    if (!preservesUnknownFields) return prepareObject(schema, object);
    applyDefaults(object, schema);
    return coerceEmbedded(schema, object);
  } catch (error) {
    if (!(error instanceof EmbeddedInvalid)) throw error;
    throw new TypedDecodeError(printFieldError(error.error));
  }
}

/** Compiled once for a kind, whichever version is written. */
function mergeSchemasOf(
  versions: ReadonlyMap<string, CustomKind>,
): ReadonlyMap<string, StructuralSchema> {
  return new Map(
    [...versions.values()].map(({ version, schema, preservesUnknownFields }) => [
      version,
      customKindSchema(preservesUnknownFields ? undefined : schema),
    ]),
  );
}

function managerOf(
  kind: CustomKind,
  subresource: string,
  schemas: ReadonlyMap<string, StructuralSchema>,
): FieldManager {
  if (subresource === "scale") return scaleManager();
  const { group, version } = kind;
  const apiVersion = `${group}/${version}`;
  const versions = new Map<string, ManagedVersion>();
  for (const [other, schema] of schemas) {
    if (other === version) continue;
    const convert = (object: JsonObject): JsonObject =>
      convertByName(object, { group, version: other });
    versions.set(`${group}/${other}`, { schema, convert });
  }
  const reset = resetPaths(kind, subresource);
  return fieldManager({
    group,
    version,
    kind: kind.kind,
    schema: schemas.get(version),
    subresource,
    isCustom: true,
    versions,
    ...(reset.length === 0 ? {} : { resetFields: new Map([[apiVersion, FieldSet.of(...reset)]]) }),
  });
}

function resetPaths({ hasStatus }: CustomKind, subresource: string): string[][] {
  if (subresource === "status") return [["metadata"], ["spec"]];
  return hasStatus ? [["status"]] : [];
}
