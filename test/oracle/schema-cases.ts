// Random schemas, and random values that more often than not fit them.

import type { Json, MutableJson, MutableJsonObject, Random } from "@keelson/base";
import { JsonNumber } from "@keelson/base";
import type { StructuralSchema } from "@keelson/kube";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Draft = Mutable<StructuralSchema>;

const names = ["a", "b", "c", "name", "kind", "x-y", "d"];
const words = ["", "a", "b", "abc", "hello", "A", "ü", "a\nb", "😀", "x".repeat(12), "1", "<&>"];
const patterns = ["^a", "b$", "^[a-z]+$", "^(a+)+$", "[0-9]", "^\\p{L}*$", "(?i)abc"];
const stringFormats = [
  "date",
  "date-time",
  "uuid",
  "ipv4",
  "ipv6",
  "cidr",
  "byte",
  "hostname",
  "email",
  "uri",
  "mac",
  "duration",
  "k8s-short-name",
  "k8s-long-name",
  "hexcolor",
  "unheard-of",
  "isbn",
  "password",
];
const formatted = [
  "2026-01-02",
  "2026-02-30",
  "2026-01-02T03:04:05Z",
  "2026-01-02t03:04:05.5+01:00",
  "10.0.0.1",
  "010.0.0.1",
  "::1",
  "::ffff:1.2.3.4",
  "1::2::3",
  "10.0.0.0/8",
  "10.0.0.0/33",
  "YWJj",
  "YWJ",
  "example.com",
  "-a.com",
  "a@b.c",
  "A <a@b.c>",
  "a@",
  "http://a/b?c",
  "/a",
  "a",
  "http://[::1]:80/",
  "http://a b/",
  "%zz",
  "00:11:22:33:44:55",
  "0011.2233.4455",
  "1h",
  "1h30m",
  "5 days",
  "1x",
  "a-b",
  "a.b-c",
  "#fff",
  "#ffff",
  "0321751043",
  "978-0321751041",
  "123e4567-e89b-12d3-a456-426614174000",
  "http://a:x/",
  "//a",
  "mailto:x",
];

export interface SchemaOptions {
  /** Whether rules about merging and keeping (list types, embedded objects) may appear. */
  readonly extensions: boolean;
}

/** A structural schema for a field. */
export function randomSchema(
  random: Random,
  depth: number,
  options: SchemaOptions,
): StructuralSchema {
  const schema = randomPlain(random, depth, options);
  if (random.integer(8) === 0) schema.nullable = true;
  if (random.integer(6) === 0) addCombination(random, schema);
  if (random.integer(6) === 0) addDefault(random, schema);
  return schema;
}

function chance(random: Random, times: number): boolean {
  return random.integer(times) === 0;
}

function randomPlain(random: Random, depth: number, options: SchemaOptions): Draft {
  const kinds = ["string", "string", "integer", "number", "boolean", "intOrString", "preserve"];
  if (depth > 0) kinds.push("object", "object", "object", "array", "array", "map");
  if (depth > 0 && options.extensions) kinds.push("set", "listMap", "embedded");
  const kind = random.pick(kinds);
  const schema: Draft = {};
  switch (kind) {
    case "string":
    case "integer":
    case "number":
    case "boolean":
      schema.type = kind;
      addLimits(random, schema);
      return schema;
    case "intOrString":
      schema["x-kubernetes-int-or-string"] = true;
      if (chance(random, 3)) schema.anyOf = [{ type: "integer" }, { type: "string" }];
      addLimits(random, schema);
      return schema;
    case "preserve":
      schema["x-kubernetes-preserve-unknown-fields"] = true;
      if (chance(random, 2)) schema.type = "object";
      if (chance(random, 3)) schema.properties = { a: randomSchema(random, 0, options) };
      if (schema.properties !== undefined) schema.type = "object";
      return schema;
    case "array":
      schema.type = "array";
      schema.items = randomSchema(random, depth - 1, options);
      if (chance(random, 3)) schema.maxItems = random.integer(4);
      if (chance(random, 4)) schema.minItems = random.integer(3);
      return schema;
    case "set":
      schema.type = "array";
      schema["x-kubernetes-list-type"] = "set";
      schema.items = { type: random.pick(["string", "integer", "number"] as const) };
      return schema;
    case "listMap": {
      schema.type = "array";
      schema["x-kubernetes-list-type"] = "map";
      const keys = chance(random, 2) ? ["name"] : ["name", "b"];
      schema["x-kubernetes-list-map-keys"] = keys;
      const properties: Record<string, StructuralSchema> = {
        name: { type: "string" },
        b: { type: "integer", default: 1 },
        c: randomSchema(random, depth - 1, options),
      };
      schema.items = { type: "object", properties, required: ["name"] };
      return schema;
    }
    case "map":
      schema.type = "object";
      schema.additionalProperties = chance(random, 5)
        ? true
        : randomSchema(random, depth - 1, options);
      if (chance(random, 4)) schema.maxProperties = random.integer(3);
      if (chance(random, 4)) schema.minProperties = random.integer(3);
      return schema;
    case "embedded":
      schema.type = "object";
      schema["x-kubernetes-embedded-resource"] = true;
      if (chance(random, 2)) schema["x-kubernetes-preserve-unknown-fields"] = true;
      schema.properties = { spec: randomSchema(random, depth - 1, options) };
      return schema;
    default: {
      schema.type = "object";
      const chosen = random.shuffle(names).slice(0, 1 + random.integer(4));
      schema.properties = Object.fromEntries(
        chosen.map((name) => [name, randomSchema(random, depth - 1, options)]),
      );
      if (chance(random, 3)) schema.required = chosen.filter(() => chance(random, 2));
      if (chance(random, 6)) schema.maxProperties = 1 + random.integer(3);
      if (chance(random, 8)) schema["x-kubernetes-preserve-unknown-fields"] = true;
      if (chance(random, 8)) schema["x-kubernetes-map-type"] = "atomic";
      return schema;
    }
  }
}

function addLimits(random: Random, schema: Draft): void {
  const { type } = schema;
  if (type === "string" || type === undefined) {
    if (chance(random, 5)) schema.maxLength = random.integer(6);
    if (chance(random, 5)) schema.minLength = random.integer(4);
    if (chance(random, 5)) schema.pattern = random.pick(patterns);
    if (type === "string" && chance(random, 3)) schema.format = random.pick(stringFormats);
    if (chance(random, 6)) schema.enum = ["a", "b", "hello"];
  }
  if (type === "integer" || type === "number" || type === undefined) {
    const limits = type === "integer" ? [0, 1, 3, 5] : [0, 1.5, 2, 0.5, -2, 3];
    if (chance(random, 4)) schema.minimum = random.pick(limits);
    if (chance(random, 4)) schema.maximum = random.pick(limits);
    if (chance(random, 6)) schema.exclusiveMinimum = true;
    if (chance(random, 6)) schema.exclusiveMaximum = true;
    if (chance(random, 5))
      schema.multipleOf = random.pick(type === "integer" ? [1, 2, 3] : [0.5, 2, 0.1]);
    if (type === "integer" && chance(random, 3)) schema.format = random.pick(["int32", "int64"]);
    if (type === "number" && chance(random, 3)) schema.format = random.pick(["float", "double"]);
    if (type !== undefined && chance(random, 7)) schema.enum = [1, 2, new JsonNumber("1.5")];
  }
}

/** What narrows a schema without declaring anything. */
function randomValidation(random: Random, schema: StructuralSchema): StructuralSchema {
  const narrowing: Draft = {};
  switch (schema.type) {
    case "string":
      if (chance(random, 2)) narrowing.minLength = random.integer(4);
      else narrowing.pattern = random.pick(patterns);
      break;
    case "integer":
    case "number":
      if (chance(random, 2)) narrowing.minimum = random.integer(4);
      else narrowing.enum = [1, 2, 3];
      break;
    case "object":
      if (chance(random, 2)) narrowing.required = [random.pick(names)];
      else narrowing.minProperties = random.integer(3);
      for (const [name, property] of Object.entries(schema.properties ?? {})) {
        if (name === "metadata" || !chance(random, 3)) continue;
        narrowing.properties = {
          ...narrowing.properties,
          [name]: randomValidation(random, property),
        };
      }
      break;
    case "array":
      narrowing.minItems = random.integer(3);
      if (schema.items !== undefined && chance(random, 2)) {
        narrowing.items = randomValidation(random, schema.items);
      }
      break;
    case "boolean":
    case undefined:
      narrowing.enum = ["a", 1, true];
  }
  return narrowing;
}

function addCombination(random: Random, schema: Draft): void {
  if (schema["x-kubernetes-int-or-string"] === true) return;
  const parts = [randomValidation(random, schema), randomValidation(random, schema)];
  switch (random.integer(4)) {
    case 0:
      schema.allOf = parts;
      break;
    case 1:
      schema.anyOf = parts;
      break;
    case 2:
      schema.oneOf = parts;
      break;
    default:
      schema.not = randomValidation(random, schema);
  }
}

/** Only defaults that every rule of ours allows: the real server refuses others. */
function addDefault(random: Random, schema: Draft): void {
  const isLimited =
    Object.keys(schema).filter((key) => !["type", "nullable", "properties", "format"].includes(key))
      .length > 0;
  if (isLimited || schema.format !== undefined) return;
  switch (schema.type) {
    case "string":
      schema.default = random.pick(["", "a", "hello"]);
      break;
    case "integer":
      schema.default = random.pick([0, 1, 42]);
      break;
    case "number":
      schema.default = random.pick([0, 1.5, 2]);
      break;
    case "boolean":
      schema.default = random.pick([true, false]);
      break;
    case "object":
      if (schema.properties !== undefined) schema.default = {};
      break;
    case "array":
    case undefined:
      break;
  }
}

const integers: Json[] = [0, 1, 2, 3, 4, -1, 5, 6, 9007199254740993n, 2147483648, -2147483649];
const numbers: Json[] = [
  0,
  1.5,
  new JsonNumber("1.0"),
  2,
  -3,
  0.1,
  new JsonNumber("1e3"),
  1e300,
  3.5,
];
const anything: Json[] = [null, true, "a", 1, 1.5, [], {}, [1], { z: 1 }];

/** A value for a schema: right in most places. */
export function randomValue(random: Random, schema: StructuralSchema): MutableJson {
  return valueOf(random, schema, 12) as MutableJson;
}

/** `oddOneIn` says how often a value is of any type at all. */
function valueOf(random: Random, schema: StructuralSchema, oddOneIn: number): Json {
  if (chance(random, oddOneIn)) return random.pick(anything);
  const allowed = schema.enum ?? [];
  if (allowed.length > 0 && !chance(random, 4)) return random.pick(allowed);
  if (schema["x-kubernetes-int-or-string"] === true) {
    return chance(random, 2) ? random.pick(integers) : random.pick(words);
  }
  if (schema["x-kubernetes-embedded-resource"] === true) return embeddedValue(random, schema);
  switch (schema.type) {
    case "string":
      return random.pick(schema.format === undefined ? words : [...formatted, "a"]);
    case "integer":
      return chance(random, 6) ? random.pick(numbers) : random.pick(integers);
    case "number":
      return chance(random, 3) ? random.pick(integers) : random.pick(numbers);
    case "boolean":
      return chance(random, 2);
    case "array": {
      const { items } = schema;
      const length = random.integer(4);
      return items === undefined ? [] : Array.from({ length }, () => valueOf(random, items, 20));
    }
    case "object":
      return objectValue(random, schema);
    case undefined:
      break;
  }
  return random.pick(anything);
}

function objectValue(random: Random, schema: StructuralSchema): MutableJsonObject {
  const object: MutableJsonObject = {};
  const { properties = {}, additionalProperties, required = [] } = schema;
  for (const [name, property] of Object.entries(properties)) {
    if (chance(random, required.includes(name) ? 10 : 3)) continue;
    object[name] = valueOf(random, property, 15) as MutableJson;
  }
  if (typeof additionalProperties === "object") {
    for (const name of random.shuffle([...names, "a.b/c"]).slice(0, random.integer(4))) {
      object[name] = valueOf(random, additionalProperties, 15) as MutableJson;
    }
  }
  if (chance(random, 6)) object["unknown"] = random.pick(anything) as MutableJson;
  return object;
}

function embeddedValue(random: Random, schema: StructuralSchema): MutableJsonObject {
  const object = objectValue(random, schema);
  if (!chance(random, 8)) object["apiVersion"] = random.pick(["v1", "a/v1", "v1", "a/b/c", ""]);
  if (!chance(random, 8)) object["kind"] = random.pick(["Pod", "Pod", "Foo", "po d", ""]);
  if (chance(random, 2)) {
    object["metadata"] = random.pick<MutableJson>([
      { name: "a" },
      { name: "a", labels: { a: "b" } },
      { generateName: "a-", unheard: 1 },
      { name: "a/b" },
      {},
      { annotations: { a: "b" }, finalizers: [] },
    ]);
  }
  return object;
}
