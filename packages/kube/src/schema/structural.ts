// The schema language of Kubernetes: the part of OpenAPI v3 that a structural schema may use.

import type { Json } from "@keelson/base";

/** The types a value of a structural schema may have. */
export type SchemaType = "object" | "array" | "string" | "integer" | "number" | "boolean";

/** How a list merges: as a whole, as a set of scalars, or as a map by the keys of its items. */
export type ListType = "atomic" | "set" | "map";

/** How a map or struct merges: field by field, or as a whole. */
export type MapType = "granular" | "atomic";

/**
 * What says something about a value without giving it structure. It may be nested in `allOf`, `anyOf`,
 * `oneOf` and `not`, where `properties` and `items` only narrow what the structure above declares.
 */
export interface ValueValidation {
  readonly format?: string;
  /** Never written: whether the format counts even where it does not fit the type, as for defaults. */
  readonly isFormatLiteral?: boolean;
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly maxItems?: number;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly multipleOf?: number;
  readonly enum?: readonly Json[];
  readonly maxProperties?: number;
  readonly minProperties?: number;
  readonly required?: readonly string[];
  readonly allOf?: readonly StructuralSchema[];
  readonly anyOf?: readonly StructuralSchema[];
  readonly oneOf?: readonly StructuralSchema[];
  readonly not?: StructuralSchema;
}

/**
 * A structural schema, keyed exactly as in OpenAPI and in a CustomResourceDefinition, so that the published
 * schema *is* this value.
 *
 * It describes a tree: there are no references. Unknown keys are ignored. A schema is never changed once it is in use:
 * what is compiled from it is kept by identity.
 */
export interface StructuralSchema extends ValueValidation {
  readonly type?: SchemaType;
  readonly title?: string;
  readonly description?: string;
  readonly nullable?: boolean;
  readonly default?: Json;
  readonly example?: Json;
  readonly externalDocs?: { readonly description?: string; readonly url?: string };
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema | boolean;
  readonly items?: StructuralSchema;

  /** Fields the schema does not name are kept. */
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  /** The value is a whole object: `apiVersion`, `kind` and `metadata` are known and checked. */
  readonly "x-kubernetes-embedded-resource"?: boolean;
  /** An integer or a string; `type` is absent. */
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-list-type"?: ListType;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: MapType;
  /** Built-in kinds only: `merge`, `replace`, `retainKeys`, or several joined by commas. */
  readonly "x-kubernetes-patch-strategy"?: string;
  /** Built-in kinds only: the field by which strategic merge finds items. */
  readonly "x-kubernetes-patch-merge-key"?: string;
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
}

/** A rule in the Common Expression Language. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: ValidationReason;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** The causes a rule may report, as they appear in `details.causes`. */
export type ValidationReason =
  | "FieldValueInvalid"
  | "FieldValueForbidden"
  | "FieldValueRequired"
  | "FieldValueDuplicate";
