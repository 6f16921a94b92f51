// Bodies of built-in kinds made by chance: mostly what the types allow, with nothing, zero, wrong and unknown things
// in between.

import { cloneJson, JsonNumber, setMember } from "@keelson/base";
import type { Json, JsonObject, MutableJsonObject, Random } from "@keelson/base";
import type { BuiltinKinds, FieldType, GoStruct, Scalar } from "@keelson/kube";

/** How often what happens, from 0 to 1. */
export interface BodyChances {
  /** A field is set; less so deeper down. */
  readonly field: number;
  readonly null: number;
  readonly zero: number;
  /** A value of another type, or one that its type does not allow. */
  readonly wrong: number;
  readonly unknown: number;
}

const depthMax = 7;

/** Makes values of the types of built-in kinds. */
export class BodyMaker {
  readonly #kinds: BuiltinKinds;
  readonly #random: Random;
  readonly #chances: BodyChances;

  constructor(kinds: BuiltinKinds, random: Random, chances: BodyChances) {
    this.#kinds = kinds;
    this.#random = random;
    this.#chances = chances;
  }

  /** A struct of a type, fields in any order. */
  struct(type: string, depth = 0): JsonObject {
    const object: MutableJsonObject = {};
    const names = this.#enums(type);
    for (const { name, type: inner } of this.#random.shuffle(this.#fields(type))) {
      if (this.#random.float() >= this.#fieldChance(depth, inner)) continue;
      const value = this.value(inner, depth + 1, names.get(name));
      setMember(object, name, value as MutableJsonObject);
    }
    if (this.#happens("unknown")) {
      const name = this.#random.pick(unknownNames);
      if (!Object.hasOwn(object, name))
        setMember(object, name, this.#anything() as MutableJsonObject);
    }
    return object;
  }

  /** A value for a field of a type. */
  value(type: FieldType, depth: number, choices?: readonly string[]): Json {
    if (this.#happens("null")) return null;
    if (this.#happens("wrong")) return this.#anything();
    switch (type.form) {
      case "scalar":
        return this.#scalar(type.scalar, choices);
      case "list":
        return Array.from({ length: this.#size() }, () => this.value(type.item, depth, choices));
      case "map": {
        const map: MutableJsonObject = {};
        for (let count = this.#size(); count > 0; count--) {
          const key = this.#random.pick(mapKeys);
          const choices = Object.hasOwn(annotationTexts, key) ? annotationTexts[key] : undefined;
          setMember(map, key, this.value(type.value, depth, choices) as MutableJsonObject);
        }
        return map;
      }
      case "struct":
        return this.#named(type.struct, depth);
    }
  }

  #named(type: string, depth: number): Json {
    const pick = <T>(items: readonly T[]): T => this.#random.pick(items);
    switch (type) {
      case "meta.v1.Time":
        return this.#happens("wrong") ? pick(oddTimes) : pick(times);
      case "meta.v1.MicroTime":
        return this.#happens("wrong") ? pick(oddTimes) : pick(microTimes);
      case "quantity.Quantity":
        return this.#happens("wrong") ? pick(wrongQuantities) : pick(quantities);
      case "intstr.IntOrString":
        return pick([0, 1, 80, 8080, "25%", "http", "", "0"]);
      case "runtime.RawExtension":
      case "meta.v1.FieldsV1":
      case "apiextensions.v1.JSON":
        return this.#anything();
      case "apiextensions.v1.JSONSchemaPropsOrBool":
        return this.#schemaOr([true, false], depth);
      case "apiextensions.v1.JSONSchemaPropsOrArray":
        return this.#schemaOr([[], [{ type: "string" }, { type: "integer", x: 1 }]], depth);
      case "apiextensions.v1.JSONSchemaPropsOrStringArray":
        return this.#schemaOr([[], ["a", "b"]], depth);
      default: {
        const struct = this.#struct(type);
        if (struct.element !== undefined) {
          return this.value({ form: "list", item: struct.element }, depth);
        }
        return this.struct(type, depth);
      }
    }
  }

  #schemaOr(others: readonly Json[], depth: number): Json {
    if (depth > depthMax || this.#random.integer(2) === 0) {
      return cloneJson(this.#random.pick(others));
    }
    return this.struct("apiextensions.v1.JSONSchemaProps", depth + 2);
  }

  #scalar(scalar: Scalar, choices: readonly string[] | undefined): Json {
    const pick = <T>(items: readonly T[]): T => this.#random.pick(items);
    const isZero = this.#happens("zero");
    switch (scalar) {
      case "string":
        if (isZero) return "";
        return choices !== undefined && this.#random.float() < 0.9 ? pick(choices) : pick(texts);
      case "bool":
        return isZero ? false : pick([true, true, false]);
      case "int32":
        return isZero ? 0 : pick([1, 2, 30, 443, 8080, -1, 2_147_483_647, new JsonNumber("-0")]);
      case "uint8":
        return this.#random.integer(256);
      case "int64":
        return isZero ? 0 : pick([1, 300, -5, 9_007_199_254_740_993n, 2n ** 63n - 1n]);
      case "float64":
        return isZero
          ? 0
          : pick([1, 1.5, -2.25, 1e21, new JsonNumber("1.0"), new JsonNumber("1E3")]);
      case "bytes":
        if (isZero) return "";
        return this.#happens("wrong") ? this.#scrambled() : pick(encoded);
      case "any":
        return this.#anything();
    }
  }

  /** Something like base64. */
  #scrambled(): string {
    const length = this.#random.integer(10);
    return Array.from({ length }, () => this.#random.pick(scrambledCharacters)).join("");
  }

  #anything(): Json {
    return cloneJson(this.#random.pick(anything)); // Whoever gets it may change it.
  }

  #happens(what: keyof BodyChances): boolean {
    return this.#random.float() < this.#chances[what];
  }

  #size(): number {
    return this.#random.pick([0, 1, 1, 1, 2, 3]);
  }

  #fieldChance(depth: number, type: FieldType): number {
    if (depth > depthMax && type.form !== "scalar") return 0;
    const isDeep = type.form === "struct" ? 1 : 0.6;
    return Math.max(0.03, (this.#chances.field * isDeep) / (1 + depth / 3));
  }

  #fields(type: string): { readonly name: string; readonly type: FieldType }[] {
    return this.#struct(type).fields.flatMap(({ name, type: inner, isInline }) => {
      if (!isInline || inner.form !== "struct") return [{ name, type: inner }];
      return inner.struct === "meta.v1.TypeMeta" ? [] : this.#fields(inner.struct);
    });
  }

  /** Values that OpenAPI lists, and a few that make a difference. */
  #enums(type: string): ReadonlyMap<string, readonly string[]> {
    const properties = this.#kinds.schemaOf(type)?.properties ?? {};
    const found = new Map<string, readonly string[]>(Object.entries(tellingTexts));
    for (const [name, schema] of Object.entries(properties)) {
      const values = schema.enum ?? schema.items?.enum;
      const texts = values?.filter((value) => typeof value === "string");
      if (texts !== undefined && texts.length > 0) found.set(name, texts);
    }
    return found;
  }

  #struct(type: string): GoStruct {
    const struct = this.#kinds.structOf(type);
    if (struct === undefined) throw new RangeError(`the type ${type} is not known`);
    return struct;
  }
}

/** By field, whatever its struct. */
const tellingTexts: Readonly<Record<string, readonly string[]>> = {
  image: [
    "nginx",
    "nginx:1",
    "nginx:latest",
    "Nginx",
    "localhost:5000/a/b",
    "a.b/c:latest",
    "docker.io/x",
    `x@sha256:${"0".repeat(64)}`,
    `x:latest@sha256:${"a".repeat(64)}`,
    "x@sha256:0",
    "a".repeat(64),
    "UPPER/x:latest",
    "x/Y",
    ":latest",
    "a//b",
  ],
  reference: ["nginx", "nginx:1", "nginx:latest"],
  kind: ["User", "Group", "ServiceAccount", "Deployment", "Straße", "ΑΣ"],
  serviceAccountName: ["one"],
  serviceAccount: ["two", "one"],
  type: ["Container", "Pod", "RollingUpdate", "OnDelete", "Recreate", "LoadBalancer", "NodePort"],
  restartPolicy: ["Always", "Never"],
};

const texts = [
  "a",
  "b",
  "some text",
  "x.example.com/y",
  "\u00e9\u4e2d\u{1f600}",
  "<&>",
  "\ud800x",
  "null",
  "1",
];
/** Annotations that the server's own form keeps elsewhere. */
const annotationTexts: Readonly<Record<string, readonly string[]>> = {
  "deprecated.daemonset.template.generation": ["3", "+07", "-0", "x", "", "9223372036854775808"],
  "deprecated.deployment.rollback.to": ["3", "+07", "x", ""],
  "autoscaling.alpha.kubernetes.io/metrics": [
    '[{"type":"Resource","resource":{"name":"cpu","targetAverageUtilization":70}},{"type":"Pods","pods":{"metricName":"p","targetAverageValue":"1000m"}}]',
    '[{"type":"Object","object":{"target":{"kind":"Service","name":"s"},"metricName":"o","targetValue":"0","averageValue":"2","selector":{"matchLabels":{"b":"<","a":"2"}}}}]',
    '[{"type":"Object","object":{"target":{"kind":"Service","name":"s","apiVersion":"v1"},"metricName":"o","targetValue":"5"}},null]',
    '[{"type":"External","external":{"metricName":"e","metricSelector":{"matchExpressions":[{"key":"a","operator":"Exists"}]},"targetValue":"1k"}},{"type":"ContainerResource","containerResource":{"name":"memory","container":"c","targetAverageValue":"1Gi"}}]',
    '[{"type":5}]',
    "[]",
    "null",
    "no JSON",
  ],
  "autoscaling.alpha.kubernetes.io/behavior": [
    '{"ScaleUp":{"StabilizationWindowSeconds":5,"SelectPolicy":"Min","Policies":[{"Type":"Pods","Value":1,"PeriodSeconds":2}],"Tolerance":null},"ScaleDown":null}',
    '{"ScaleUp":null,"ScaleDown":{"StabilizationWindowSeconds":null,"SelectPolicy":null,"Policies":null,"Tolerance":"100m"}}',
    '{"ScaleUp":null,"ScaleDown":null}',
    '{"ScaleUp":5}',
  ],
  "autoscaling.alpha.kubernetes.io/current-metrics": [
    '[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":70,"currentAverageValue":"1"}},{"type":"Pods","pods":{"metricName":"p","currentAverageValue":"1"}}]',
    '[{"type":"Object","object":{"target":{"kind":"Service","name":"s"},"metricName":"o","currentValue":"1","averageValue":"2"}},{"type":"External","external":{"metricName":"e","currentValue":"1"}},{"type":"ContainerResource","containerResource":{"name":"cpu","container":"c","currentAverageValue":"1"}}]',
  ],
  "autoscaling.alpha.kubernetes.io/conditions": [
    '[{"type":"AbleToScale","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"R","message":"<m>"},{"type":"x","status":"","lastTransitionTime":null}]',
  ],
  "autoscaling.alpha.kubernetes.io/scale-up-tolerance": ["1"],
};

const mapKeys = [
  "a",
  "b",
  "cpu",
  "memory",
  "hugepages-2Mi",
  "x.example.com/y",
  "__proto__",
  "\udc00",
  "pod.beta.kubernetes.io/init-containers",
  ...Object.keys(annotationTexts),
];
const unknownNames = [
  "\u0000",
  "\u007f",
  "\u00ad",
  "\u200b",
  "\u2028",
  "\u{1f600}",
  "\u{e0001}",
  "tab\t",
  "",

  "unknown",
  "Spec",
  "metaData",
  "__proto__",
  "constructor",
  "a.b",
  'q"',
  "\ud800",
];
const quantities: readonly Json[] = [
  "1",
  "100m",
  "0.5",
  "1000m",
  "1024Mi",
  "1.5Gi",
  "1e3",
  "0.0001",
  "100n",
  "1.000001",
  " 2 ",
  "-1",
  "+1",
  "1E",
  "12e6",
  "0",
  "3.0",
  1,
  1.5,
  new JsonNumber("1e3"),
  new JsonNumber("2.50"),
  "9223372036854775808",
  "1Ki",
  "0.1Ki",
  "1Ei",
  "100Ei",
  "1e-10",
  "0.1n",
  "999999999999999999999",
  "123456789012345678",
  "1.5e3",
  "00012",
  "1.",
  ".5",
  "-0.5Mi",
  "1E3",
  "-9223372036854775809",
  "0.000000000001",
  "1234567.891",
  "5e-3",
  "1023Mi",
  "1025Ki",
  9_007_199_254_740_993n,
];
const wrongQuantities: readonly Json[] = [
  "1e",
  "1m5",
  "0x1",
  "1 Mi",
  "\u0661",
  "1mi",
  "1e1.5",
  ".",
  "-",
  "e3",
  "Ki",
  "1KiB",
  "1\n",
  "",
  "abc",
  "1xi",
  "1.2.3",
  "--1",
  true,
  [],
  {},
];
const times: readonly Json[] = [
  "2026-01-01T00:00:00Z",
  "2026-01-01T02:00:00+02:00",
  "2026-02-28T12:34:56.789Z",
  "2024-02-29T23:59:59-01:30",
  "0001-01-01T00:00:00Z",
  "2025-12-31T23:59:59Z",
];
const microTimes: readonly Json[] = [
  "2026-01-01T00:00:00.123456Z",
  "2026-01-01T02:00:00.000000+02:00",
  "2026-01-01T00:00:00.999999Z",
];
const scrambledCharacters = "AQaq09+/==\n\r-\u00e9".split("");
const oddTimes: readonly Json[] = [
  "",
  "2026",
  "2026-01-01",
  "2026-01-01 00:00:00Z",
  "2026-01-01t00:00:00z",
  "2026-01-01T00:00:00",
  "2026-1-1T00:00:00Z",
  "2026-13-01T00:00:00Z",
  "2026-00-01T00:00:00Z",
  "2026-02-29T00:00:00Z",
  "2026-01-32T00:00:00Z",
  "2026-01-00T00:00:00Z",
  "2026-01-01T24:00:00Z",
  "2026-01-01T00:60:00Z",
  "2026-01-01T00:00:60Z",
  "2026-01-01T0:00:00Z",
  "2026-01-01T00:00:00.Z",
  "2026-01-01T00:00:00,5Z",
  "2026-01-01T00:00:00.5Z",
  "2026-01-01T00:00:00.1234567Z",
  "2026-01-01T00:00:00.123456Z",
  "2026-01-01T00:00:00.12345x",
  "2026-01-01T00:00:00+0100",
  "2026-01-01T00:00:00+01",
  "2026-01-01T00:00:00+24:00",
  "2026-01-01T00:00:00+25:00",
  "2026-01-01T00:00:00+01:60",
  "2026-01-01T00:00:00+01:61",
  "2026-01-01T00:00:00-00:00",
  "2026-01-01T00:00:00ZZ",
  "2026-01-01T00:00:00Z\u00e9",
  " 2026-01-01T00:00:00Z",
  "+026-01-01T00:00:00Z",
  "10000-01-01T00:00:00Z",
  "0000-01-01T00:00:00Z",
  "0000-12-31T23:59:59+01:00",
  "0001-01-01T00:00:00+01:00",
  "0001-01-01T01:00:00+01:00",
  "-2026-01-01T00:00:00Z",
  '20"6',
];
const encoded = ["YQ==", "YWI=", "YWJj", "YR==", "YWJjZA==", "YW\nJj", "/+8="];
const anything: readonly Json[] = [
  null,
  true,
  0,
  1,
  1.5,
  -1,
  2_147_483_648,
  9_223_372_036_854_775_807n,
  new JsonNumber("1.0"),
  new JsonNumber("1e3"),
  new JsonNumber("1e400"),
  new JsonNumber("18446744073709551616"),
  "",
  "text",
  "2026-01-01",
  "YQ=",
  "Y===",
  "YQ==x",
  "\u00e9",
  [],
  ["a", 1, null],
  [{ x: 1 }],
  {},
  { a: 1, b: { c: ["x"] } },
  { name: "x" },
];
