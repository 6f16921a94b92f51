// The two versions of a HorizontalPodAutoscaler: one object, stored in the second. What the first has no fields for
// travels in annotations.

import { cloneJson, isJsonArray, isJsonObject, readJson, setMember } from "@keelson/base";
import {
  JsonSyntaxError,
  type JsonObject,
  type MutableJson,
  type MutableJsonObject,
} from "@keelson/base";

import type { BuiltinKinds } from "../../kinds/builtin-kinds.ts";
import type { GoStruct } from "../../kinds/go-struct.ts";
import { TypedDecodeError } from "../decode-error.ts";
import { DecodeState } from "../decode-state.ts";
import { objectAt, objectsAt } from "../defaults/default-rule.ts";
import { StructDecoders } from "../struct-decoder.ts";
import { behaviorFrom, behaviorText } from "./behavior.ts";
import { goStructText } from "./go-struct-text.ts";
import { cpuTarget, metricToV1, metricToV2 } from "./metrics.ts";

const cpuPercentDefault = 80;

/** What the first version keeps in annotations. */
export const autoscalerAnnotations = {
  metrics: "autoscaling.alpha.kubernetes.io/metrics",
  behavior: "autoscaling.alpha.kubernetes.io/behavior",
  currentMetrics: "autoscaling.alpha.kubernetes.io/current-metrics",
  conditions: "autoscaling.alpha.kubernetes.io/conditions",
  scaleDownTolerance: "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
  scaleUpTolerance: "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
} as const;

/** Converts autoscalers; keep it. */
export class AutoscalerConversion {
  readonly #structOf: (name: string) => GoStruct;
  readonly #decoders: StructDecoders;

  constructor(kinds: BuiltinKinds) {
    this.#structOf = (name) => kinds.requireStruct(name);
    this.#decoders = new StructDecoders(this.#structOf);
  }

  /** An `autoscaling/v1` object as one of `autoscaling/v2`; a copy. */
  toV2(autoscaler: JsonObject): MutableJsonObject {
    const object = cloneJson(autoscaler);
    const metadata = objectAt(object, "metadata") ?? {};
    const annotations = objectAt(metadata, "annotations") ?? {};
    const { targetCPUUtilizationPercentage: target, ...spec } = objectAt(object, "spec") ?? {};
    const { currentCPUUtilizationPercentage: current, ...status } =
      objectAt(object, "status") ?? {};

    const targets = target === undefined ? [] : [cpuMetric("target", target)];
    const others = this.#read(annotations, "metrics", "autoscaling.v1.MetricSpec");
    const metrics = [...(others ?? []).map((one) => metricToV2(one, "target")), ...targets];
    spec["metrics"] = metrics.length > 0 ? metrics : [cpuMetric("target", cpuPercentDefault)];
    const behavior = behaviorFrom(this.#value(annotations, "behavior") ?? null);
    const [decoded] = (behavior && this.#decodeAll([behavior], behaviorType)) ?? [];
    if (decoded !== undefined) spec["behavior"] = decoded;

    const seen = this.#read(annotations, "currentMetrics", "autoscaling.v1.MetricStatus");
    const measured = seen?.map((one) => metricToV2(one, "current"));
    status["currentMetrics"] =
      measured ?? (current === undefined ? [] : [cpuMetric("current", current)]);
    const conditions = this.#read(annotations, "conditions", `autoscaling.v1.${conditionType}`);
    if (conditions !== undefined) status["conditions"] = conditions;

    dropAnnotations(metadata);
    return {
      ...object,
      apiVersion: "autoscaling/v2",
      metadata,
      spec: this.#printed("autoscaling.v2.HorizontalPodAutoscalerSpec", spec),
      status: this.#printed("autoscaling.v2.HorizontalPodAutoscalerStatus", status),
    };
  }

  /** An `autoscaling/v2` object as one of `autoscaling/v1`; a copy. */
  toV1(autoscaler: JsonObject): MutableJsonObject {
    const object = cloneJson(autoscaler);
    const metadata = objectAt(object, "metadata") ?? {};
    dropAnnotations(metadata);
    const annotations = objectAt(metadata, "annotations") ?? {};
    const { metrics: _, behavior: _behavior, ...spec } = objectAt(object, "spec") ?? {};
    const {
      currentMetrics: _current,
      conditions: _conditions,
      ...status
    } = objectAt(object, "status") ?? {};

    const metrics = objectsAt(objectAt(object, "spec"), "metrics");
    const target = metrics.map(cpuTarget).find((percent) => percent !== undefined);
    if (target !== undefined) spec["targetCPUUtilizationPercentage"] = target;
    const others = metrics.filter((metric) => cpuTarget(metric) === undefined);
    this.#write(annotations, "metrics", {
      type: "autoscaling.v1.MetricSpec",
      items: others.map((metric) => metricToV1(metric, "target")),
    });
    const behavior = objectAt(object, "spec", "behavior");
    if (behavior !== undefined) {
      setMember(annotations, autoscalerAnnotations.behavior, behaviorText(behavior));
    }

    const current = objectsAt(objectAt(object, "status"), "currentMetrics");
    for (const metric of current) {
      const percent = cpuCurrent(metric);
      if (percent !== undefined) status["currentCPUUtilizationPercentage"] = percent;
    }
    this.#write(annotations, "currentMetrics", {
      type: "autoscaling.v1.MetricStatus",
      items: current.map((metric) => metricToV1(metric, "current")),
    });
    this.#write(annotations, "conditions", {
      type: `autoscaling.v1.${conditionType}`,
      items: objectsAt(objectAt(object, "status"), "conditions"),
    });
    if (Object.keys(annotations).length > 0) metadata["annotations"] = annotations;
    return {
      ...object,
      apiVersion: "autoscaling/v1",
      metadata,
      spec: this.#printed("autoscaling.v1.HorizontalPodAutoscalerSpec", spec),
      status: this.#printed("autoscaling.v1.HorizontalPodAutoscalerStatus", status),
    };
  }

  /** With what the version prints even if it is zero, and without what it then does not print. */
  #printed(type: string, struct: MutableJsonObject): MutableJsonObject {
    const printed = this.#decoders.named(type).zero() as MutableJsonObject;
    for (const [name, value] of Object.entries(struct)) {
      const isOmitted = value === 0 || (isJsonArray(value) && value.length === 0);
      if (!isOmitted || this.#isPointer(type, name)) printed[name] = value;
    }
    return printed;
  }

  #isPointer(type: string, name: string): boolean {
    return this.#structOf(type).fields.find((field) => field.name === name)?.isPointer ?? false;
  }

  #value(
    annotations: MutableJsonObject,
    name: keyof typeof autoscalerAnnotations,
  ): MutableJson | undefined {
    const text = annotations[autoscalerAnnotations[name]];
    if (typeof text !== "string") return undefined;
    try {
      return readJson(text);
    } catch (error) {
      if (error instanceof JsonSyntaxError) return undefined; // Nobody promised that it is one of ours.
      throw error;
    }
  }

  /** A list in an annotation; undefined if there is none that fits. */
  #read(
    annotations: MutableJsonObject,
    name: keyof typeof autoscalerAnnotations,
    type: string,
  ): MutableJsonObject[] | undefined {
    const list = this.#value(annotations, name);
    if (!isJsonArray(list)) return list === null ? [] : undefined;
    return this.#decodeAll(list, type);
  }

  /** Values of a type, decoded; undefined if one does not fit. */
  #decodeAll(list: readonly MutableJson[], type: string): MutableJsonObject[] | undefined {
    const item = this.#decoders.named(type);
    try {
      const state = new DecodeState();
      const items = list.map((one) => (one === null ? item.zero() : item.decode(one, state)));
      state.throwFirst();
      return items.filter((one) => isJsonObject(one));
    } catch (error) {
      if (error instanceof TypedDecodeError) return undefined;
      throw error;
    }
  }

  #write(
    annotations: MutableJsonObject,
    name: keyof typeof autoscalerAnnotations,
    { type, items }: { readonly type: string; readonly items: readonly MutableJsonObject[] },
  ): void {
    if (items.length === 0) return;
    const texts = items.map((item) =>
      goStructText(item, { form: "struct", struct: type }, this.#structOf),
    );
    setMember(annotations, autoscalerAnnotations[name], `[${texts.join(",")}]`);
  }
}

const behaviorType = "autoscaling.v2.HorizontalPodAutoscalerBehavior";
const conditionType = "HorizontalPodAutoscalerCondition";

function cpuMetric(what: "target" | "current", percent: MutableJson): MutableJsonObject {
  const amount: MutableJsonObject = { averageUtilization: percent };
  if (what === "target") amount["type"] = "Utilization";
  return { type: "Resource", resource: { name: "cpu", [what]: amount } };
}

function cpuCurrent(metric: MutableJsonObject): MutableJson | undefined {
  const resource = metric["type"] === "Resource" ? objectAt(metric, "resource") : undefined;
  if (resource?.["name"] !== "cpu") return undefined;
  return objectAt(resource, "current")?.["averageUtilization"];
}

function dropAnnotations(metadata: MutableJsonObject): void {
  const annotations = objectAt(metadata, "annotations");
  if (annotations === undefined) return;
  for (const name of Object.values(autoscalerAnnotations)) delete annotations[name];
  if (Object.keys(annotations).length === 0) delete metadata["annotations"];
}
