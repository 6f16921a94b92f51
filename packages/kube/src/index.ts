// What a Kubernetes object is, as pure rules that run anywhere: objects and their names, the failures of the
// API with their exact texts, selectors, the four kinds of patches, managed fields, schemas, quantities, times and the
// negotiation of formats. Nothing here reads a clock, draws chance or does input or output, and no argument
// is changed.

export { validateSchema, type SchemaValidity } from "./cel/validate-schema.ts";
export { validateObject, type ObjectValidation } from "./cel/validate-object.ts";
export { celLimits, validateRules, type RuleOptions, type RuleReport } from "./cel/rules.ts";
export { customKindSchema, metadataSchema } from "./apply/custom-kind-schema.ts";
export {
  fieldManager,
  type Applied,
  type ApplyOptions,
  type FieldManager,
  type WriteOptions,
} from "./apply/field-manager.ts";
export { keepTimes } from "./apply/keep-times.ts";
export { BadManagedFields, managedFieldsOf } from "./apply/managed-fields.ts";
export {
  parentManagedFields,
  scaleManagedFields,
  type ReplicasPaths,
} from "./apply/scale-fields.ts";
export { FieldSet, printPath, type PathStep } from "./apply/field-set.ts";
export { decodeFieldsV1, encodeFieldsV1 } from "./apply/fields-v1.ts";
export type { ManagedKind, ManagedVersion } from "./apply/versioned-kind.ts";
export { applyJsonPatch, copyBytesMax } from "./patch/json-patch.ts";
export {
  decodeJsonPatch,
  operationsMax,
  type DecodedJsonPatch,
  type JsonPatchOperation,
} from "./patch/json-patch-decode.ts";
export { applyMergePatch } from "./patch/merge-patch.ts";
export { applyStrategicMergePatch } from "./patch/strategic-merge.ts";
export { applyDefaults, dropNulls } from "./schema/default.ts";
export { coerceEmbedded, EmbeddedInvalid, validateEmbedded } from "./schema/embedded.ts";
export { validateListTypes } from "./schema/list-types.ts";
export { coerceMetadata, type CoercedMetadata } from "./schema/metadata-shape.ts";
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
export { loadKindNames, type KindNames } from "./kinds/kind-names.ts";
export { BuiltinKinds, loadBuiltinKinds } from "./kinds/builtin-kinds.ts";
export { WarningList } from "./kinds/warning-list.ts";
export type { KindRules, RuleContext } from "./kinds/kind-rules.ts";
export { clusterIpProblems } from "./kinds/rules/core/service-addresses.ts";
export type { SignedBytes } from "./kinds/rules/certificates/request-signature.ts";
export { requestedGroups } from "./kinds/rules/certificates/requested-groups.ts";
export { refusedAs, type Refused } from "./kinds/rules/refused-kind.ts";
export { metadataChecks, type MetadataCheck } from "./kinds/rules/metadata-checks.ts";
export { rulesOf, subresourceRulesOf } from "./kinds/rules/rules-of.ts";
export type { FieldType, GoField, GoStruct, Scalar } from "./kinds/go-struct.ts";
export { openApiTypeName, shortTypeName } from "./kinds/type-name.ts";
export { printValue } from "./go-text/go-print.ts";
export {
  convertByName,
  kindOfDefinition,
  servedKinds,
  storageVersionOf,
} from "./crd/custom-kind.ts";
export type { CustomKind, ScalePaths } from "./crd/custom-kind.ts";
export {
  conditionOf as definitionConditionOf,
  isConditionTrue as isDefinitionConditionTrue,
  type DefinitionCondition,
  type DefinitionConditionType,
} from "./crd/conditions.ts";
export { definitionOf, type DeclaredKind } from "./crd/definition.ts";
export {
  beginTermination,
  cleanupFinalizer,
  hasInstances,
  settleDefinition,
  settleDefinitions,
  terminate,
  type Termination,
} from "./crd/lifecycle.ts";
export { compareVersions } from "./crd/versions.ts";
export * as failures from "./status/failures.ts";
export {
  causeOf,
  printFieldError,
  printFieldErrors,
  type FieldError,
  type FieldErrorType,
} from "./status/field-error.ts";
export { codeOfReason, type StatusReason } from "./status/reason.ts";
export { Place as FieldPlace } from "./kinds/rules/place.ts";
export { compilePattern, type Pattern } from "./schema/pattern.ts";
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
export { compareBytes } from "./go-text/byte-order.ts";
export { goJsonString } from "./go-text/go-json.ts";
export { goJsonSyntax } from "./go-text/json-syntax.ts";
export { jsonTypeName } from "./go-text/json-type-name.ts";
export { quote } from "./go-text/quote.ts";
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
export {
  clausesMax,
  negotiateAnswer,
  parseAccept,
  type AcceptClause,
  type Conversion,
  type Negotiated,
  type Offer,
  type OfferedFormat,
} from "./negotiation/accept.ts";
export {
  builtInPatches,
  customPatches,
  negotiateBody,
  negotiatePatch,
  patchTypes,
  wantsPretty,
  type PatchType,
} from "./negotiation/content-type.ts";
export { apiVersionOf } from "./object/api-version.ts";
export { generatedNamesMax, generateName } from "./object/generate-name.ts";
export { memberOf } from "./object/member.ts";
export {
  annotationsBytesMax,
  fieldManagerBytesMax,
  managerFromUserAgent,
  validateAnnotations,
  validateFieldManager,
  validateFinalizers,
  validateLabels,
  validateMetadata,
  sharedMetadataProblems,
  validateMetadataUpdate,
  validateNamePrefix,
  validateFinalizerDomains,
  type MetadataRuleOptions,
} from "./object/metadata-rules.ts";
export {
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  label1035Names,
  labelKeyProblems,
  labelNames,
  labelValueProblems,
  pathSegmentNames,
  pathSegmentProblems,
  subdomainNames,
  type NameRule,
  type Problems,
} from "./object/names.ts";
export { nestingMax, refuseDeepNesting } from "./object/nesting.ts";
export { refuseParameters, type WriteKind, type WriteParameters } from "./object/write-options.ts";
export {
  addQuantities,
  BadQuantity,
  compareQuantities,
  exponentMax,
  parseQuantity,
  printQuantity,
  quantityFromJson,
  roundUpQuantity,
  scaledValue,
  subtractQuantities,
  type Quantity,
  type QuantityFormat,
} from "./quantity/quantity.ts";
export {
  exactField,
  matchesFields,
  parseFieldSelector,
  printFieldSelector,
  type FieldRequirement,
  type FieldSelector,
} from "./selectors/field-selector.ts";
export {
  matchesLabels,
  printLabelSelector,
  type LabelOperator,
  type LabelRequirement,
  type Labels,
  type LabelSelector,
} from "./selectors/label-selector.ts";
export { parseLabelSelector } from "./selectors/parse-label-selector.ts";
export { BadSelector, labelRequirement } from "./selectors/requirement.ts";
export { selectorFromObject } from "./selectors/selector-object.ts";
export {
  decodeFailureMessage,
  strictFailureMessage,
  TypedDecodeError,
  type TypeMismatch,
} from "./typed/decode-error.ts";
export { AutoscalerConversion } from "./typed/convert/autoscaler.ts";
export { convertEvent, type EventShape } from "./typed/convert/event.ts";
export type { DuplicateKeys } from "./typed/decode-state.ts";
export {
  otherKindProblem,
  sentKindProblem,
  unrecognizedMessage,
  unregisteredKind,
  type SentBody,
} from "./typed/sent-kind.ts";
export {
  emptyOf,
  typedBody,
  typedKind,
  type DecodedObject,
  type DefaultsContext,
  type TypedKind,
} from "./typed/typed-kind.ts";
export { BadDuration, parseDuration, printDuration } from "./time/duration.ts";
export {
  BadTime,
  isZeroTime,
  microTimeFromMs,
  parseMicroTime,
  parseTime,
  printMicroTime,
  printTime,
  timeFromMs,
  type Instant,
} from "./time/time.ts";
