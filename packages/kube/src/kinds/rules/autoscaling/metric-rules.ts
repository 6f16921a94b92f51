// What an autoscaler goes by.

import type { JsonObject } from "@keelson/base";

import { memberOf } from "../../../object/member.ts";
import { has, maybeNumber, maybeObject, objectOf, textOf } from "../../../object/members.ts";
import { dnsLabelProblems, pathSegmentProblems } from "../../../object/names.ts";
import { showAmount, signOf } from "../amounts.ts";
import type { Place } from "../place.ts";
import { checkContainerResourceName } from "../resource-names.ts";

const metricTypes = ["ContainerResource", "External", "Object", "Pods", "Resource"];
const targetTypes = ["Utilization", "Value", "AverageValue"];

/** Where each type of metric stands, in the order in which they are looked at. */
const sources = {
  object: "Object",
  external: "External",
  pods: "Pods",
  resource: "Resource",
  containerResource: "ContainerResource",
} as const;

type Source = keyof typeof sources;

/** Reports what is wrong with a metric; `checkDescribed` judges the object that one of them describes. */
export function checkMetric(
  metric: JsonObject,
  at: Place,
  checkDescribed: (described: JsonObject, at: Place) => void,
): void {
  const type = textOf(metric, "type");
  if (type === "") at.child("type").required("must specify a metric source type");
  if (!metricTypes.includes(type)) at.child("type").notSupported(type, metricTypes);
  const present = (Object.keys(sources) as Source[]).filter((name) => has(metric, name));
  const [first] = present;
  // Only the first is looked at more closely.
  if (first !== undefined) {
    checkSource(first, maybeObject(metric, first) ?? {}, {
      at: at.child(first),
      checkDescribed,
    });
  }
  const expected = (Object.keys(sources) as Source[]).find((name) => sources[name] === type);
  if (expected === undefined) at.child("type").notSupported(type, metricTypes);
  else if (!present.includes(expected)) {
    at.child(expected).required("must populate information for the given metric source");
  }
  if (present.length === 1) return;
  for (const name of present.filter((one) => one !== expected)) {
    at.child(name).forbidden("must populate the given metric source only");
  }
}

function checkSource(
  name: Source,
  source: JsonObject,
  {
    at,
    checkDescribed,
  }: {
    readonly at: Place;
    readonly checkDescribed: (described: JsonObject, at: Place) => void;
  },
): void {
  const target = objectOf(source, "target");
  const place = at.child("target");
  const [hasValue, hasAverage] = [has(target, "value"), has(target, "averageValue")];
  switch (name) {
    case "object":
      checkDescribed(objectOf(source, "describedObject"), at.child("describedObject"));
      checkIdentifier(source, at.child("metric"));
      checkTarget(target, place);
      if (!hasValue && !hasAverage) {
        place.child("averageValue").required("must set either a target value or averageValue");
      }
      break;
    case "external":
      checkIdentifier(source, at.child("metric"));
      checkTarget(target, place);
      if (!hasValue && !hasAverage) {
        const detail = "must set either a target value for metric or a per-pod target";
        place.child("averageValue").required(detail);
      }
      if (hasValue && hasAverage) {
        const detail = "may not set both a target value for metric and a per-pod target";
        place.child("value").forbidden(detail);
      }
      break;
    case "pods":
      checkIdentifier(source, at.child("metric"));
      checkTarget(target, place);
      if (!hasAverage) {
        place.child("averageValue").required("must specify a positive target averageValue");
      }
      break;
    case "resource":
      if (textOf(source, "name") === "") {
        at.child("name").required("must specify a resource name");
      }
      checkTarget(target, place);
      checkUtilization(target, place);
      break;
    case "containerResource": {
      const [resource, container] = [textOf(source, "name"), textOf(source, "container")];
      if (resource === "") at.child("name").required("must specify a resource name");
      else checkContainerResourceName(resource, at.child("name"), { isPlain: true });
      if (container === "") at.child("container").required("must specify a container");
      else at.child("container").invalidEach(container, dnsLabelProblems(container));
      checkTarget(target, place);
      checkUtilization(target, place);
      break;
    }
  }
}

function checkUtilization(target: JsonObject, at: Place): void {
  const [hasShare, hasAverage] = [has(target, "averageUtilization"), has(target, "averageValue")];
  if (!hasShare && !hasAverage) {
    const detail = "must set either a target raw value or a target utilization";
    at.child("averageUtilization").required(detail);
  }
  if (hasShare && hasAverage) {
    const detail = "may not set both a target raw value and a target utilization";
    at.child("averageValue").forbidden(detail);
  }
}

function checkIdentifier(source: JsonObject, at: Place): void {
  const name = textOf(objectOf(source, "metric"), "name");
  if (name === "") at.child("name").required("must specify a metric name");
  else at.child("name").invalidEach(name, pathSegmentProblems(name));
}

function checkTarget(target: JsonObject, at: Place): void {
  const type = textOf(target, "type");
  if (type === "") at.child("type").required("must specify a metric target type");
  if (!targetTypes.includes(type)) {
    at.child("type").invalidWord(type, "must be either Utilization, Value, or AverageValue");
  }
  for (const name of ["value", "averageValue"]) {
    const amount = memberOf(target, name) ?? null;
    if (amount !== null && signOf(amount) <= 0) {
      at.child(name).invalid(showAmount(amount), "must be positive");
    }
  }
  const share = maybeNumber(target, "averageUtilization");
  if (share !== undefined && share < 1) {
    at.child("averageUtilization").invalid(share, "must be greater than 0");
  }
}
