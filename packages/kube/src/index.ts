// What a Kubernetes object is, as pure rules that run anywhere: objects and their names, the failures of the
// API with their exact texts, selectors, the four kinds of patches, managed fields, schemas, quantities, times and the
// negotiation of formats. Nothing here reads a clock, draws chance or does input or output, and no argument
// is changed.

export { validateSchema, type SchemaValidity } from "./cel/validate-schema.ts";
export { validateObject, type ObjectValidation } from "./cel/validate-object.ts";
export { celLimits, validateRules, type RuleOptions, type RuleReport } from "./cel/rules.ts";
export {
  fieldManager,
  type Applied,
  type ApplyOptions,
  type FieldManager,
  type WriteOptions,
} from "./apply/field-manager.ts";
export { FieldSet, printPath, type PathStep } from "./apply/field-set.ts";
export { decodeFieldsV1, encodeFieldsV1 } from "./apply/fields-v1.ts";
export { apiVersionOf, type ManagedKind, type ManagedVersion } from "./apply/versioned-kind.ts";
export { applyJsonPatch, copyBytesMax } from "./patch/json-patch.ts";
export {
  decodeJsonPatch,
  operationsMax,
  type DecodedJsonPatch,
  type JsonPatchOperation,
} from "./patch/json-patch-decode.ts";
export { applyMergePatch } from "./patch/merge-patch.ts";
export { applyStrategicMergePatch } from "./patch/strategic-merge.ts";
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
export type { Defaults, KindName } from "./kinds/builtin-kinds.ts";
export { BuiltinKinds, loadBuiltinKinds } from "./kinds/builtin-kinds.ts";
export type { FieldType, GoField, GoStruct, Scalar } from "./kinds/go-struct.ts";
export { openApiTypeName, shortTypeName } from "./kinds/type-name.ts";
export * as failures from "./status/failures.ts";
export { codeOfReason, type StatusReason } from "./status/reason.ts";
export {
  printGroupKind,
  printGroupResource,
  StatusError,
  type GroupKind,
  type GroupResource,
  type Status,
  type StatusCause,
  type StatusDetails,
} from "./status/status.ts";
export { JsonPath } from "./jsonpath/evaluate.ts";
export { JsonPathError } from "./jsonpath/parse.ts";
export { ProtobufCodec, type ProtobufKinds } from "./protobuf/codec.ts";
export { isProtobuf, readEnvelope, writeEnvelope, type Envelope } from "./protobuf/envelope.ts";
export { ProtobufError } from "./protobuf/protobuf-error.ts";
export { builtinRow } from "./table/builtin-row.ts";
export {
  CustomColumns,
  defaultPrinterColumns,
  type PrinterColumn,
} from "./table/custom-columns.ts";
export { ageOf, humanDuration } from "./table/human-duration.ts";
export {
  partialMetadata,
  partialMetadataList,
  renderTable,
  type IncludeObject,
  type TableColumn,
  type TableOptions,
  type TableRow,
} from "./table/table.ts";
