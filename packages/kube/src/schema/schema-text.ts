// A written schema as messages show it: as the struct that the real server keeps it in.

import { isJsonArray, isJsonObject, type Json, type MutableJsonObject } from "@keelson/base";

import { printShape, struct, type Shape, type StructShape } from "../go-text/struct-text.ts";
import { memberOf } from "../object/member.ts";

/** The struct behind a schema: its fields, in order. */
export const schemaShape: StructShape = struct(
  `ID id string
  Schema $schema string
  Ref $ref *string
  Description description string
  Type type string
  Nullable nullable boolean
  Format format string
  Title title string
  Default default any
  Maximum maximum *number
  ExclusiveMaximum exclusiveMaximum boolean
  Minimum minimum *number
  ExclusiveMinimum exclusiveMinimum boolean
  MaxLength maxLength *number
  MinLength minLength *number
  Pattern pattern string
  MaxItems maxItems *number
  MinItems minItems *number
  UniqueItems uniqueItems boolean
  MultipleOf multipleOf *number
  Enum enum []any
  MaxProperties maxProperties *number
  MinProperties minProperties *number
  Required required []string
  Items items *orList
  AllOf allOf []schema
  OneOf oneOf []schema
  AnyOf anyOf []schema
  Not not *schema
  Properties properties {}schema
  AdditionalProperties additionalProperties *orFlag
  PatternProperties patternProperties {}schema
  Dependencies dependencies {}any
  AdditionalItems additionalItems *orFlag
  Definitions definitions {}schema
  ExternalDocs externalDocs *docs
  Example example any
  XPreserveUnknownFields x-kubernetes-preserve-unknown-fields *boolean
  XEmbeddedResource x-kubernetes-embedded-resource boolean
  XIntOrString x-kubernetes-int-or-string boolean
  XListMapKeys x-kubernetes-list-map-keys []string
  XListType x-kubernetes-list-type *string
  XMapType x-kubernetes-map-type *string
  XValidations x-kubernetes-validations []rule`,
  {
    schema: (): Shape => schemaShape,
    orList: (): Shape => struct("Schema schema *schema\nJSONSchemas list []schema", nested),
    orFlag: (): Shape => struct("Allows allows boolean\nSchema schema *schema", nested),
    docs: (): Shape => struct("Description description string\nURL url string"),
    rule: (): Shape =>
      struct(
        `Rule rule string
        Message message string
        MessageExpression messageExpression string
        Reason reason *string
        FieldPath fieldPath string
        OptionalOldSelf optionalOldSelf *boolean`,
      ),
  },
);

const nested = { schema: (): Shape => schemaShape };

/** The text of a schema in a message. */
export function schemaText(schema: Json): string {
  return printShape(schemaShape, structured(schema));
}

/** A schema whose unions are spelled out, as the struct has them. */
export function structured(schema: Json): Json {
  if (!isJsonObject(schema)) return schema;
  const made: MutableJsonObject = {};
  for (const key of Object.keys(schema)) {
    made[key] = structuredMember(key, memberOf(schema, key) ?? null) as MutableJsonObject;
  }
  return made;
}

function structuredMember(key: string, value: Json): Json {
  switch (key) {
    case "items":
      return isJsonArray(value)
        ? { list: value.map(structured) }
        : { schema: structured(value), list: null };
    case "additionalProperties":
    case "additionalItems":
      return typeof value === "boolean"
        ? { allows: value }
        : { allows: true, schema: structured(value) };
    case "allOf":
    case "anyOf":
    case "oneOf":
      return isJsonArray(value) ? value.map(structured) : value;
    case "not":
      return structured(value);
    case "properties":
    case "patternProperties":
    case "definitions": {
      if (!isJsonObject(value)) return value;
      return Object.fromEntries(
        Object.entries(value).map(([name, part]) => [name, structured(part)]),
      );
    }
    default:
      return value;
  }
}
