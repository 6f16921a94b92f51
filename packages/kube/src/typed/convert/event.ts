// The two shapes of an Event: one object, stored once, which two groups show under different names.

import {
  cloneJson,
  isJsonObject,
  type JsonObject,
  type MutableJson,
  type MutableJsonObject,
} from "@keelson/base";

import { memberOf } from "../../object/member.ts";

/** Which group's shape an Event has. */
export type EventShape = "core" | "events";

/** Fields of `v1`, and of `events.k8s.io/v1`, that hold the same. What is not here has one name in both. */
const names: readonly (readonly [core: string, events: string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["reportingComponent", "reportingController"],
];

const apiVersions: Readonly<Record<EventShape, string>> = {
  core: "v1",
  events: "events.k8s.io/v1",
};

/** The same Event in the shape of a group; a copy, also if it has that shape already. Decoded objects are expected. */
export function convertEvent(event: JsonObject, shape: EventShape): MutableJsonObject {
  const target = apiVersions[shape];
  const copy = cloneJson(event);
  if (event["apiVersion"] === target) return copy;
  const renamed: MutableJsonObject = {};
  const nameOf = new Map(
    names.map(([core, events]) => (shape === "core" ? [events, core] : [core, events])),
  );
  for (const [name, value] of Object.entries(copy)) renamed[nameOf.get(name) ?? name] = value;
  renamed["apiVersion"] = target;
  for (const name of ["reportingComponent", "reportingController", "reportingInstance"] as const) {
    printText(renamed, name, shape);
  }
  printCount(renamed, shape);
  return renamed;
}

/** How long a series is, is always said in `events.k8s.io/v1`, and in `v1` only if it is not 0. */
function printCount(event: MutableJsonObject, shape: EventShape): void {
  const series = memberOf(event, "series");
  if (!isJsonObject(series)) return;
  if (shape === "events") event["series"] = { count: 0, ...series };
  else if (series["count"] === 0) delete series["count"];
}

/** Who reports is always said in `v1`, and in the other group only if there is somebody. */
function printText(event: MutableJsonObject, name: string, shape: EventShape): void {
  const value: MutableJson | undefined = memberOf(event, name);
  if (shape === "events") {
    if (value === "") delete event[name];
  } else if (name !== "reportingController") {
    event[name] = value ?? "";
  }
}
