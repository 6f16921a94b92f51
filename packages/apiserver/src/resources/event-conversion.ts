// An Event of the core group and one of events.k8s.io are one object in two shapes.

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";
import { memberOf } from "@keelson/kube";

/** Names in events.k8s.io/v1, and in core v1. What is not here is called the same in both. */
const renamed = [
  ["regarding", "involvedObject"],
  ["note", "message"],
  ["reportingController", "reportingComponent"],
  ["deprecatedSource", "source"],
  ["deprecatedFirstTimestamp", "firstTimestamp"],
  ["deprecatedLastTimestamp", "lastTimestamp"],
  ["deprecatedCount", "count"],
] as const;

const coreNames: ReadonlyMap<string, string> = new Map(renamed);
const eventsNames: ReadonlyMap<string, string> = new Map(renamed.map(([own, core]) => [core, own]));

/** The fields in the order in which they are printed. */
const coreFields = `kind apiVersion metadata involvedObject reason message source firstTimestamp
  lastTimestamp count type eventTime series action related reportingComponent
  reportingInstance`.split(/\s+/);
const eventsFields =
  `kind apiVersion metadata eventTime series reportingController reportingInstance
  action reason regarding related note type deprecatedSource deprecatedFirstTimestamp
  deprecatedLastTimestamp deprecatedCount`.split(/\s+/);

/** A core Event as events.k8s.io/v1 shows it. */
export function eventFromCore(event: JsonObject): JsonObject {
  return convert(event, eventsFields, (name, read) => {
    if (name === "apiVersion") return "events.k8s.io/v1";
    const value = read(coreNames.get(name) ?? name);
    // Here these are printed only when there is something to say.
    if (name === "reportingController" || name === "reportingInstance") return value || undefined;
    return name === "series" && isJsonObject(value) ? { count: 0, ...value } : value;
  });
}

/** An Event of events.k8s.io/v1 as core v1 shows it. */
export function eventToCore(event: JsonObject): JsonObject {
  return convert(event, coreFields, (name, read) => {
    if (name === "apiVersion") return "v1";
    const value = read(eventsNames.get(name) ?? name);
    if (name === "reportingComponent" || name === "reportingInstance") return value ?? "";
    if (name !== "series" || !isJsonObject(value) || value["count"] !== 0) return value;
    const { count: _, ...rest } = value;
    return rest;
  });
}

function convert(
  event: JsonObject,
  names: readonly string[],
  valueOf: (name: string, read: (name: string) => Json | undefined) => Json | undefined,
): JsonObject {
  const converted: Record<string, Json> = {};
  for (const name of names) {
    const value = valueOf(name, (source) => memberOf(event, source));
    if (value !== undefined) converted[name] = value;
  }
  return converted;
}
