import type { JsonObject } from "@keelson/base";

import { apiVersionOf } from "../object/api-version.ts";
import type { StructuralSchema } from "../schema/structural.ts";
import type { FieldSet } from "./field-set.ts";
import { mergeTypeOf, type MergeType } from "./merge-type.ts";

/** A kind at one endpoint, as managed fields need to know it. */
export interface ManagedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** The schema of that version, with `apiVersion`, `kind` and `metadata`; undefined if there is none. */
  readonly schema: StructuralSchema | undefined;
  /** The endpoint: "" for the object itself, else `status`, `scale`, … */
  readonly subresource?: string;
  /** What a write to this endpoint cannot change, by version: `status` at the object itself. Never owned. */
  readonly resetFields?: ReadonlyMap<string, FieldSet>;
  /** The object as if nothing had been said: what creation starts from. Built-in kinds have empty structs in it. */
  readonly empty?: JsonObject;
  /** Whether it is a custom kind: these read managed fields less leniently. */
  readonly isCustom?: boolean;
  /**
   * The other versions by `apiVersion`. What is managed in a version that is not here is forgotten; for a custom
   * kind it cannot be understood at all, and an apply fails.
   */
  readonly versions?: ReadonlyMap<string, ManagedVersion>;
}

/** Another version of a kind. */
export interface ManagedVersion {
  readonly schema: StructuralSchema | undefined;
  /** The object in this version, from whichever version it has. */
  readonly convert: (object: JsonObject) => JsonObject;
}

/** A kind whose objects are seen in one version or another. */
export interface VersionedKind {
  readonly apiVersion: string;
  /** The type in a version; undefined if there is no such version. */
  typeIn(apiVersion: string): MergeType | undefined;
  /** The object in a version that `typeIn` knows. */
  convert(object: JsonObject, apiVersion: string): JsonObject;
  /** Whether an unknown version is an error. */
  readonly isCustom: boolean;
  /** What nobody can own in a version. */
  resetIn(apiVersion: string): FieldSet | undefined;
}

/** Types are compiled here, once for the life of the result. */
export function versionedKind(kind: ManagedKind): VersionedKind {
  const own = apiVersionOf(kind);
  const types = new Map([[own, mergeTypeOf(kind.schema)]]);
  for (const [apiVersion, { schema }] of kind.versions ?? []) {
    types.set(apiVersion, mergeTypeOf(schema));
  }
  return {
    apiVersion: own,
    isCustom: kind.isCustom === true,
    typeIn: (apiVersion) => types.get(apiVersion),
    convert: (object, apiVersion) => {
      if (object["apiVersion"] === apiVersion) return object;
      return kind.versions?.get(apiVersion)?.convert(object) ?? object;
    },
    resetIn: (apiVersion) => kind.resetFields?.get(apiVersion),
  };
}
