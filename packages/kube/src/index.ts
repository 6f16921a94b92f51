// What a Kubernetes object is, as pure rules that run anywhere.

export { validateSchema, type SchemaValidity } from "./cel/validate-schema.ts";
export { validateObject, type ObjectValidation } from "./cel/validate-object.ts";
export { celLimits, validateRules, type RuleOptions, type RuleReport } from "./cel/rules.ts";
export {
  causeMessage,
  fieldErrorMessage,
  type FieldError,
  type FieldErrorType,
} from "./schema/field-error.ts";
export { applyDefaults, dropNulls } from "./schema/default.ts";
export {
  coerceEmbedded,
  EmbeddedInvalid,
  validateEmbedded,
  type MetadataRules,
} from "./schema/embedded.ts";
export { validateListTypes } from "./schema/list-types.ts";
export { prepareObject } from "./schema/prepare.ts";
export { prune, type PruneOptions } from "./schema/prune.ts";
export { readSchema, type WrittenSchema } from "./schema/read-schema.ts";
export type {
  ListType,
  MapType,
  SchemaType,
  StructuralSchema,
  ValidationReason,
  ValidationRule,
  ValueValidation,
} from "./schema/structural.ts";
export { validateStructure } from "./schema/structure.ts";
export { validate, validateUpdate } from "./schema/validate.ts";
export type {
  BuiltinColumn,
  BuiltinKind,
  BuiltinSubresource,
  Switches,
} from "./kinds/builtin-kind.ts";
export { usualSwitches } from "./kinds/builtin-kind.ts";
export type { Defaults, KindExample, KindName } from "./kinds/builtin-kinds.ts";
export { BuiltinKinds, loadBuiltinKinds, loadKindExamples } from "./kinds/builtin-kinds.ts";
export type { FieldType, GoField, GoStruct, Scalar } from "./kinds/go-struct.ts";
export { openApiTypeName, shortTypeName } from "./kinds/type-name.ts";
