// An Event of the core group and one of events.k8s.io are one object in two shapes.

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";

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

const toCore: ReadonlyMap<string, string> = new Map(renamed);
const fromCore: ReadonlyMap<string, string> = new Map(renamed.map(([own, core]) => [core, own]));

/** In which order the fields are printed. */
const order = {
  core: `kind apiVersion metadata involvedObject reason message source firstTimestamp lastTimestamp count
    type eventTime series action related reportingComponent reportingInstance`.split(/\s+/),
  events:
    `kind apiVersion metadata eventTime series reportingController reportingInstance action reason
    regarding related note type deprecatedSource deprecatedFirstTimestamp deprecatedLastTimestamp
    deprecatedCount`.split(/\s+/),
} as const;

/** A core Event as events.k8s.io/v1 shows it. */
export function eventFromCore(event: JsonObject): JsonObject {
  const converted = rename(event, fromCore, "events.k8s.io/v1");
  // Printed always in the one shape, only when there is something to say in the other.
  for (const name of ["reportingController", "reportingInstance"]) {
    if (converted[name] === "") delete converted[name];
  }
  const { series } = converted;
  if (isJsonObject(series)) converted["series"] = { count: 0, ...series };
  return inOrder(converted, order.events);
}

/** An Event of events.k8s.io/v1 as core v1 shows it. */
export function eventToCore(event: JsonObject): JsonObject {
  const converted = rename(event, toCore, "v1");
  converted["reportingComponent"] ??= "";
  converted["reportingInstance"] ??= "";
  const { series } = converted;
  if (isJsonObject(series) && series["count"] === 0) {
    const { count: _, ...rest } = series;
    converted["series"] = rest;
  }
  return inOrder(converted, order.core);
}

function rename(
  event: JsonObject,
  names: ReadonlyMap<string, string>,
  apiVersion: string,
): Record<string, Json> {
  const converted: Record<string, Json> = {};
  for (const [name, value] of Object.entries(event)) converted[names.get(name) ?? name] = value;
  converted["apiVersion"] = apiVersion;
  return converted;
}

function inOrder(event: Record<string, Json>, names: readonly string[]): JsonObject {
  const ordered: Record<string, Json> = {};
  for (const name of names) {
    const value = event[name];
    if (value !== undefined) ordered[name] = value;
  }
  return ordered;
}
