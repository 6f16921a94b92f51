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
import { processorUs } from "../measure.ts";
import type { Row } from "../report.ts";
import { deployment } from "./deployment.ts";

const goalUs = 50;

/** Measures each. */
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

  const validation = processorUs(() => validate(schema, object));
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
      value: processorUs(() => validate(schema, wrong)),
      unit: "µs",
    },
    {
      name: "prune Deployment 10 KB",
      value: processorUs(() => prune(object, schema, { isObject: true })),
      unit: "µs",
    },
    {
      name: "prepare and validate with 3 rules",
      value: processorUs(() => validateSmall(ruled, small)),
      unit: "µs",
    },
    {
      name: "protobuf encode Deployment",
      value: processorUs(() => codec.encode(object)),
      unit: "µs",
    },
    withBaseline(
      "protobuf decode Deployment",
      processorUs(() => codec.decode(bytes)),
      processorUs(() => readJson(text)),
    ),
    {
      name: "table row of Deployment",
      value: processorUs(() => builtinRow({ group: "apps", kind: "Deployment" }, object, 0)),
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
