// The metrics of an autoscaler in its two versions: the second nests what the first says flat.

import type { JsonObject, MutableJsonObject } from "@keelson/base";

import { objectAt } from "../defaults/default-rule.ts";

type Source = "object" | "pods" | "resource" | "containerResource" | "external";

const sources: readonly Source[] = ["object", "pods", "resource", "containerResource", "external"];

/** A metric of the first version, as that of the second. `what` is what it says: a target, or what is. */
export function metricToV2(
  metric: MutableJsonObject,
  what: "target" | "current",
): MutableJsonObject {
  const converted: MutableJsonObject = { type: metric["type"] ?? "" };
  for (const source of sources) {
    const value = objectAt(metric, source);
    if (value !== undefined) converted[source] = upgraded(source, value, what);
  }
  return converted;
}

/** A metric of the second version, as that of the first. */
export function metricToV1(
  metric: MutableJsonObject,
  what: "target" | "current",
): MutableJsonObject {
  const converted: MutableJsonObject = { type: metric["type"] ?? "" };
  for (const source of sources) {
    const value = objectAt(metric, source);
    if (value !== undefined) converted[source] = downgraded(source, value, what);
  }
  return converted;
}

function upgraded(
  source: Source,
  value: MutableJsonObject,
  what: "target" | "current",
): MutableJsonObject {
  const average = value[`${what}AverageValue`];
  const utilization = value[`${what}AverageUtilization`];
  const absolute = value[`${what}Value`];
  switch (source) {
    case "resource":
    case "containerResource":
      return present({
        name: value["name"],
        container: source === "resource" ? undefined : value["container"],
        [what]: present({
          type: typeFor(what, utilization === undefined ? "AverageValue" : "Utilization"),
          averageValue: average,
          averageUtilization: utilization,
        }),
      });
    case "pods":
      return present({
        metric: metricOf(value, "selector"),
        [what]: present({ type: typeFor(what, "AverageValue"), averageValue: average }),
      });
    case "external":
      return present({
        metric: metricOf(value, "metricSelector"),
        [what]: present({
          type: typeFor(what, absolute === undefined ? "AverageValue" : "Value"),
          value: absolute,
          averageValue: average,
        }),
      });
    case "object": {
      const averageValue = value["averageValue"];
      const isAverage = averageValue !== undefined;
      const isLeftOut = what === "target" && isAverage && absolute === "0";
      return present({
        describedObject: value["target"],
        metric: metricOf(value, "selector"),
        [what]: present({
          type: typeFor(what, isAverage ? "AverageValue" : "Value"),
          value: isLeftOut ? undefined : absolute,
          averageValue,
        }),
      });
    }
  }
}

function downgraded(
  source: Source,
  value: MutableJsonObject,
  what: "target" | "current",
): MutableJsonObject {
  const amount = objectAt(value, what) ?? {};
  const metric = objectAt(value, "metric") ?? {};
  const isTarget = what === "target";
  const { averageValue, averageUtilization } = amount;
  switch (source) {
    case "resource":
    case "containerResource":
      return present({
        name: value["name"],
        [`${what}AverageUtilization`]: averageUtilization,
        [`${what}AverageValue`]: isTarget ? averageValue : (averageValue ?? "0"),
        container: source === "resource" ? undefined : value["container"],
      });
    case "pods":
      return present({
        metricName: metric["name"],
        [`${what}AverageValue`]: averageValue ?? "0",
        selector: metric["selector"],
      });
    case "external":
      return present({
        metricName: metric["name"],
        metricSelector: metric["selector"],
        [`${what}Value`]: isTarget ? amount["value"] : (amount["value"] ?? "0"),
        [`${what}AverageValue`]: averageValue,
      });
    case "object":
      return present({
        target: value["describedObject"],
        metricName: metric["name"],
        [`${what}Value`]: amount["value"] ?? "0",
        selector: metric["selector"],
        averageValue,
      });
  }
}

function typeFor(what: "target" | "current", type: string): string | undefined {
  return what === "target" ? type : undefined;
}

function metricOf(value: MutableJsonObject, selector: string): MutableJsonObject {
  return present({ name: value["metricName"], selector: value[selector] });
}

/** Without what is not there. */
function present(
  members: Readonly<Record<string, MutableJsonObject[string] | undefined>>,
): MutableJsonObject {
  const object: MutableJsonObject = {};
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined) object[name] = value;
  }
  return object;
}

/** The amount of CPU, in percent of what is requested, that a metric of the second version wants; undefined for others. */
export function cpuTarget(metric: JsonObject): MutableJsonObject[string] | undefined {
  if (metric["type"] !== "Resource") return undefined;
  const resource = objectAt(metric as MutableJsonObject, "resource");
  if (resource?.["name"] !== "cpu") return undefined;
  return objectAt(resource, "target")?.["averageUtilization"];
}
