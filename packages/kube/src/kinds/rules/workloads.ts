// What all that makes Pods has in common.

import type { Json, JsonObject, MutableJsonObject } from "@keelson/base";

import {
  maybeNumber,
  maybeObject,
  numberOf,
  objectOf,
  textOf,
  writableObject,
  has,
} from "../../object/members.ts";
import { dnsLabelProblems } from "../../object/names.ts";
import { goJson } from "../../go-text/go-json.ts";
import { chooses, readSelector } from "./label-selectors.ts";
import { checkNotNegative } from "./meta/checks.ts";
import type { Place } from "./place.ts";
import { dropDisabledFields } from "./core/pod/dropped-fields.ts";
import { semanticEqual } from "./semantic-equal.ts";

/** Reports counts that are more than all. */
export function checkNotAbove(
  status: JsonObject,
  at: Place,
  pairs: readonly (readonly [name: string, bound: string, said?: string])[],
): void {
  for (const [name, bound, said = `status.${bound}`] of pairs) {
    const value = numberOf(status, name);
    if (value > numberOf(status, bound)) {
      at.child(name).invalid(value, `cannot be greater than ${said}`);
    }
  }
}

/** The status of what keeps a number of Pods. */
export function checkReplicaStatus(status: JsonObject, at: Place): void {
  checkNotNegative(status, at, [
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "observedGeneration",
    "terminatingReplicas",
  ]);
  checkNotAbove(status, at, [
    ["fullyLabeledReplicas", "replicas"],
    ["readyReplicas", "replicas"],
    ["availableReplicas", "replicas"],
    ["availableReplicas", "readyReplicas", "readyReplicas"],
  ]);
}

/** Reports a count of collisions that went back. */
export function checkCollisions(status: JsonObject, old: JsonObject, at: Place): void {
  const [next, before] = [
    maybeNumber(status, "collisionCount"),
    maybeNumber(old, "collisionCount"),
  ];
  if (before !== undefined && (next === undefined || next < before)) {
    at.child("collisionCount").invalid(next ?? 0, "cannot be decremented");
  }
}

/** Reports a field that must not change and means something else than it did. */
export function checkSameMeaning(
  next: Json | undefined,
  old: Json | undefined,
  at: Place,
  show: (value: Json) => string = goJson,
): void {
  if (!semanticEqual(next, old)) at.invalidShown(show(next ?? null), "field is immutable");
}

/** The template of an object's Pods. */
export function templateOf(object: JsonObject): JsonObject {
  return objectOf(objectOf(object, "spec"), "template");
}

/** Reports a template that the selector does not choose; true if the selector could be read. */
export function checkTemplateChosen(
  selector: JsonObject | undefined,
  template: JsonObject,
  at: Place,
): boolean {
  const read = readSelector(selector);
  if (read === undefined) return false;
  const labels = maybeObject(objectOf(template, "metadata"), "labels");
  if (!chooses(read, labels ?? {})) {
    at.child("metadata")
      .child("labels")
      .invalid(labels ?? null, "`selector` does not match template `labels`");
  }
  return true;
}

/** Reports a template whose Pods would end. */
export function checkRunsForever(template: JsonObject, at: Place, kind: string): void {
  const spec = objectOf(template, "spec");
  const policy = textOf(spec, "restartPolicy");
  if (policy !== "Always") at.child("spec").child("restartPolicy").notSupported(policy, ["Always"]);
  if (has(spec, "activeDeadlineSeconds")) {
    at.child("spec")
      .child("activeDeadlineSeconds")
      .forbidden(`activeDeadlineSeconds in ${kind} is not Supported`);
  }
}

/** Takes out of a template what is behind gates that are off. */
export function dropFromTemplate(
  holder: MutableJsonObject,
  old: JsonObject | undefined,
  name = "template",
): void {
  const template = writableObject(holder, name);
  const spec = template && writableObject(template, "spec");
  if (spec === undefined) return;
  const before = old && maybeObject(objectOf(old, name), "spec");
  dropDisabledFields(spec, before);
}

/** Whether an update is one of the status: the main endpoint keeps it, and of statuses other things are said. */
export function isStatusChange(object: JsonObject, old: JsonObject | undefined): boolean {
  return old !== undefined && !semanticEqual(objectOf(object, "status"), objectOf(old, "status"));
}

/** A name that becomes part of names of Pods. */
export function podNameWarnings(object: JsonObject, use: string): readonly string[] {
  const problems = dnsLabelProblems(textOf(objectOf(object, "metadata"), "name"));
  if (problems.length === 0) return [];
  return [
    `metadata.name: this is used in ${use}, which can result in surprising behavior; a DNS label is recommended: [${problems.join(" ")}]`,
  ];
}
