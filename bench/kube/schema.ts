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
import { judged, type Bound, type Row } from "../report.ts";
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

  const measure = (name: string, call: () => unknown, bound?: Bound): Row =>
    judged({ name, value: processorUs(call), unit: "µs" }, bound);
  return [
    measure("validate Deployment 10 KB", () => validate(schema, object), { atMost: goalUs }),
    measure("validate Deployment 10 KB, one error", () => validate(schema, wrong)),
    measure("prune Deployment 10 KB", () => prune(object, schema, { isObject: true })),
    measure("prepare and validate with 3 rules", () => validateSmall(ruled, small)),
    measure("protobuf encode Deployment", () => codec.encode(object)),
    judged({
      name: "protobuf decode Deployment",
      value: processorUs(() => codec.decode(bytes)),
      unit: "µs",
      baseline: processorUs(() => readJson(text)),
    }),
    measure("table row of Deployment", () =>
      builtinRow({ group: "apps", kind: "Deployment" }, object, 0),
    ),
  ];
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
