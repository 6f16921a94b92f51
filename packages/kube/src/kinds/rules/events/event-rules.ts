// The rules of Events of events.k8s.io. Their fields are named as in the older group, whose form is stored.

import type { JsonObject } from "@keelson/base";

import { goJson } from "../../../go-text/go-json.ts";
import { quote } from "../../../go-text/quote.ts";
import { printShape, struct } from "../../../go-text/struct-text.ts";
import { memberOf } from "../../../object/member.ts";
import type { FieldError } from "../../../status/field-error.ts";
import type { KindRules } from "../../kind-rules.ts";
import { has, maybeObject, numberOf, objectOf, textOf } from "../../../object/members.ts";
import { checkImmutableShown, isSame } from "../meta/checks.ts";
import { Place } from "../place.ts";
import { anyEventErrors, type EventFields } from "./any-event.ts";

const fields: EventFields = { about: "regarding", reporter: "reportingController", text: "note" };

export const event: KindRules = {
  validate: (object) => {
    const errors = anyEventErrors(object, fields);
    checkSeries(object, errors);
    const at = (name: string): Place => Place.root(name, errors);
    if (!has(object, "eventTime")) at("eventTime").required();
    const type = textOf(object, "type");
    if (type !== "Normal" && type !== "Warning") {
      at("type").invalid("", `has invalid value: ${type}`);
    }
    const isUnset = "needs to be unset";
    if (has(object, "deprecatedFirstTimestamp")) at("firstTimestamp").invalid("", isUnset);
    if (has(object, "deprecatedLastTimestamp")) at("lastTimestamp").invalid("", isUnset);
    if (numberOf(object, "deprecatedCount") !== 0) at("count").invalid("", isUnset);
    const source = objectOf(object, "deprecatedSource");
    if (textOf(source, "component") !== "" || textOf(source, "host") !== "") {
      at("source").invalid("", isUnset);
    }
    return errors;
  },
  validateUpdate: (object, old) => {
    const errors = anyEventErrors(object, fields);
    if (!isSame(memberOf(object, "series"), memberOf(old, "series"))) checkSeries(object, errors);
    for (const [name, path, shown] of immutable) {
      const [next, before] = [memberOf(object, name), memberOf(old, name)];
      checkImmutableShown(next ?? emptyOf(next, before), before ?? emptyOf(next, before), {
        at: Place.root(path, errors),
        shown: () => shown(object, name),
      });
    }
    return errors;
  },
};

const reference = struct(
  `Kind kind string
  Namespace namespace string
  Name name string
  UID uid string
  APIVersion apiVersion string
  ResourceVersion resourceVersion string
  FieldPath fieldPath string`,
);
const source = struct("Component component string\nHost host string");

type Show = (object: JsonObject, name: string) => string;
const showText: Show = (object, name) => quote(textOf(object, name));
const showTime: Show = (object, name) => goJson(memberOf(object, name) ?? null);

/** What may not change: its name here, where the real server says it stands, and how it is shown. */
const immutable: readonly (readonly [name: string, path: string, shown: Show])[] = [
  ["regarding", "involvedObject", (object) => printShape(reference, memberOf(object, "regarding"))],
  ["reason", "reason", showText],
  ["note", "message", showText],
  [
    "deprecatedSource",
    "source",
    (object) => printShape(source, memberOf(object, "deprecatedSource")),
  ],
  ["deprecatedFirstTimestamp", "firstTimestamp", showTime],
  ["deprecatedLastTimestamp", "lastTimestamp", showTime],
  ["deprecatedCount", "count", (object, name) => String(numberOf(object, name))],
  ["reason", "reason", showText],
  ["type", "type", showText],
  ["eventTime", "eventTime", showTime],
  ["action", "action", showText],
  [
    "related",
    "related",
    (object) => printShape({ pointer: reference }, memberOf(object, "related")),
  ],
  ["reportingController", "reportingController", showText],
  ["reportingInstance", "reportingInstance", showText],
];

/** Absent is the same as empty. */
function emptyOf(...values: readonly unknown[]): string | number | null {
  const known = values.find((value) => value !== undefined);
  if (typeof known === "string") return "";
  return typeof known === "number" ? 0 : null;
}

function checkSeries(object: JsonObject, errors: FieldError[]): void {
  const series = maybeObject(object, "series");
  if (series === undefined) return;
  if (numberOf(series, "count") < 2) {
    Place.root("series.count", errors).invalid("", "should be at least 2");
  }
  if (!has(series, "lastObservedTime")) Place.root("series.lastObservedTime", errors).required();
}
