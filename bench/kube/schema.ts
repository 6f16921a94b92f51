// How long schemas, rules, protobuf and tables take for a Deployment of 10 KB.

import { cloneJson, readJson, writeJson } from "@keelson/base";
import type { JsonObject, MutableJsonObject } from "@keelson/base";
import {
  builtinRow,
  loadBuiltinKinds,
  prepareObject,
  ProtobufCodec,
  prune,
  validate,
  validateObject,
  type StructuralSchema,
} from "@keelson/kube";
import type { Row } from "../report.ts";
import { deployment } from "./deployment.ts";

const goalUs = 50;
const rounds = 15;
const callsPerRound = 300;

/** Measures each; a row is the time of one call in the fastest round, which a busy machine disturbs least. */
export async function bench(): Promise<readonly Row[]> {
  const kinds = await loadBuiltinKinds();
  const schema = kinds.schemaOf("apps.v1.Deployment") ?? {};
  const codec = new ProtobufCodec(kinds);
  const object = deployment();
  const bytes = codec.encode(object);
  const text = writeJson(object);
  const ruled = ruledSchema();
  const small = { apiVersion: "a/v1", kind: "A", metadata: { name: "a" }, spec: ruledSpec };
  const wrong = cloneJson(object);
  (wrong["spec"] as MutableJsonObject)["replicas"] = "three";

  const validation = fastestUs(() => validate(schema, object));
  return [
    {
      name: "validate Deployment 10 KB",
      value: validation,
      unit: "µs",
      goal: `≤ ${goalUs} µs`,
      met: validation <= goalUs,
    },
    {
      name: "validate Deployment 10 KB, one error",
      value: fastestUs(() => validate(schema, wrong)),
      unit: "µs",
    },
    {
      name: "prune Deployment 10 KB",
      value: fastestUs(() => prune(object, schema, { isObject: true })),
      unit: "µs",
    },
    {
      name: "prepare and validate with 3 rules",
      value: fastestUs(() => validateSmall(ruled, small)),
      unit: "µs",
    },
    {
      name: "protobuf encode Deployment",
      value: fastestUs(() => codec.encode(object)),
      unit: "µs",
    },
    withBaseline(
      "protobuf decode Deployment",
      fastestUs(() => codec.decode(bytes)),
      fastestUs(() => readJson(text)),
    ),
    {
      name: "table row of Deployment",
      value: fastestUs(() => builtinRow({ group: "apps", kind: "Deployment" }, object, 0)),
      unit: "µs",
    },
  ];
}

function withBaseline(name: string, value: number, baseline: number): Row {
  return { name, value, unit: "µs", baseline, ratio: value / baseline };
}

function validateSmall(schema: StructuralSchema, object: JsonObject): void {
  const copy = cloneJson(object);
  prepareObject(schema, copy);
  validateObject(schema, copy);
}

function fastestUs(call: () => unknown): number {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const started = performance.now();
    for (let index = 0; index < callsPerRound; index++) call();
    times.push(((performance.now() - started) * 1000) / callsPerRound);
  }
  return Math.min(...times);
}

const ruledSpec = { replicas: 3, names: ["a", "b", "c"], mode: "x" };

function ruledSchema(): StructuralSchema {
  const spec: StructuralSchema = {
    type: "object",
    properties: {
      replicas: { type: "integer", "x-kubernetes-validations": [{ rule: "self > 0" }] },
      names: { type: "array", items: { type: "string" } },
      mode: { type: "string", enum: ["x", "y"], default: "x" },
    },
    "x-kubernetes-validations": [
      { rule: "self.names.all(n, n.matches('^[a-z]+$'))" },
      { rule: "!has(self.mode) || self.mode != 'y' || self.replicas > 1" },
    ],
  };
  return { type: "object", properties: { spec } };
}
