// Annotations that say something about a Pod.

import type { JsonObject } from "@keelson/base";

import { compareBytes } from "../../../../go-text/byte-order.ts";
import { quote } from "../../../../go-text/quote.ts";
import {
  annotationsOf,
  has,
  maybeObject,
  maybeText,
  objectOf,
  textOf,
} from "../../../../object/members.ts";
import { parseInteger } from "../../../../selectors/label-selector.ts";
import { readAnnotatedList } from "../../annotated-json.ts";
import type { Place } from "../../place.ts";
import { int32Max } from "../../text-problems.ts";
import { checkDescending } from "../paths.ts";
import { allContainers } from "./each-container.ts";
import type { PodRuleOptions } from "./pod-options.ts";
import { checkTolerations } from "./tolerations.ts";

export const mirrorKey = "kubernetes.io/config.mirror";
export const appArmorPrefix = "container.apparmor.security.beta.kubernetes.io/";
export const seccompKey = "seccomp.security.alpha.kubernetes.io/pod";
export const seccompPrefix = "container.seccomp.security.alpha.kubernetes.io/";

const tolerationsKey = "scheduler.alpha.kubernetes.io/tolerations";
const annotatedToleration = {
  name: "core.Toleration",
  fields: {
    Key: "string",
    Operator: "core.TolerationOperator",
    Value: "string",
    Effect: "core.TaintEffect",
    TolerationSeconds: "int64",
  },
};
const deletionCostKey = "controller.kubernetes.io/pod-deletion-cost";

/** Reports what is wrong with the annotations of a Pod or a template. */
export function checkPodAnnotations(
  annotations: JsonObject,
  at: Place,
  { spec, options }: { readonly spec: JsonObject; readonly options: PodRuleOptions },
): void {
  const keys = Object.keys(annotations);
  if (keys.length === 0) return;
  if (has(annotations, mirrorKey) && textOf(spec, "nodeName") === "") {
    at.key(mirrorKey).invalid(
      textOf(annotations, mirrorKey),
      "must set spec.nodeName if mirror pod annotation is set",
    );
  }
  if (textOf(annotations, tolerationsKey) !== "") checkTolerationsText(annotations, at, options);
  if (!options.allowInvalidDeletionCost && hasWrongDeletionCost(annotations)) {
    at.key(deletionCostKey).invalid(
      textOf(annotations, deletionCostKey),
      "must be a 32bit integer",
    );
  }
  if (has(annotations, seccompKey)) checkSeccompText(annotations, at, seccompKey);
  keys.sort(compareBytes);
  for (const key of keys) if (key.startsWith(seccompPrefix)) checkSeccompText(annotations, at, key);
  const profiled = keys.filter((key) => key.startsWith(appArmorPrefix));
  if (profiled.length === 0) return;
  const names = new Set(allContainers(spec).map(({ container }) => textOf(container, "name")));
  for (const key of profiled) {
    const name = key.slice(appArmorPrefix.length);
    if (!names.has(name)) {
      at.key(key).invalid(name, "container not found");
    }
    const profile = textOf(annotations, key);
    if (!isAppArmorText(profile)) {
      at.key(key).invalid(profile, `invalid AppArmor profile name: ${quote(profile)}`);
    }
  }
}

/** Whether what stands for a cost of deletion is none. */
export function hasWrongDeletionCost(annotations: JsonObject): boolean {
  const text = maybeText(annotations, deletionCostKey);
  if (text === undefined) return false;
  if (!/^(0$|-|[1-9])/.test(text)) return true;
  const value = parseInteger(text);
  return value === undefined || value < -int32Max - 1 || value > int32Max;
}

/** Reports profiles that the annotations and the fields say differently. */
export function checkProfilesMatch(pod: JsonObject, at: Place): void {
  const annotations = annotationsOf(pod);
  if (Object.keys(annotations).length === 0) return;
  const spec = objectOf(pod, "spec");
  checkSeccompMatch(annotations, at, spec);
  if (textOf(objectOf(spec, "os"), "name") !== "windows") checkAppArmorMatch(annotations, at, spec);
}

function checkSeccompMatch(annotations: JsonObject, at: Place, spec: JsonObject): void {
  const check = (key: string, holder: JsonObject, place: Place): void => {
    const profile = maybeObject(objectOf(holder, "securityContext"), "seccompProfile");
    const text = maybeText(annotations, key);
    if (profile === undefined || text === undefined) return;
    const own = place.child("securityContext").child("seccompProfile");
    checkMatch(text, own, {
      profile,
      word: "seccomp",
      defaults: ["runtime/default", "docker/default"],
    });
  };
  check(seccompKey, spec, at);
  for (const { container, list, index } of allContainers(spec)) {
    check(seccompPrefix + textOf(container, "name"), container, at.child(list).item(index));
  }
}

function checkAppArmorMatch(annotations: JsonObject, at: Place, spec: JsonObject): void {
  const ofPod = maybeObject(objectOf(spec, "securityContext"), "appArmorProfile");
  for (const { container, list, index } of allContainers(spec)) {
    const profile = maybeObject(objectOf(container, "securityContext"), "appArmorProfile") ?? ofPod;
    const text = maybeText(annotations, appArmorPrefix + textOf(container, "name"));
    if (profile === undefined || text === undefined) continue;
    const own = at.child(list).item(index).child("securityContext").child("appArmorProfile");
    checkMatch(text, own, { profile, word: "apparmor", defaults: ["runtime/default"] });
  }
}

function checkMatch(
  text: string,
  at: Place,
  {
    profile,
    word,
    defaults,
  }: { readonly profile: JsonObject; readonly word: string; readonly defaults: readonly string[] },
): void {
  const mismatch = (): void =>
    at.child("type").forbidden(`${word} type in annotation and field must match`);
  switch (textOf(profile, "type")) {
    case "Unconfined":
      if (text !== "unconfined") mismatch();
      return;
    case "RuntimeDefault":
      if (!defaults.includes(text)) mismatch();
      return;
    case "Localhost":
      if (!text.startsWith("localhost/")) mismatch();
      else if (maybeText(profile, "localhostProfile") !== text.slice("localhost/".length)) {
        at.child("localhostProfile").forbidden(
          `${word} profile in annotation and field must match`,
        );
      }
  }
}

function checkTolerationsText(annotations: JsonObject, at: Place, options: PodRuleOptions): void {
  const tolerations = readAnnotatedList(textOf(annotations, tolerationsKey), annotatedToleration);
  if (typeof tolerations === "string") at.invalid(tolerationsKey, tolerations);
  else checkTolerations(tolerations, at.child(tolerationsKey), options);
}

function checkSeccompText(annotations: JsonObject, at: Place, key: string): void {
  const profile = textOf(annotations, key);
  if (["runtime/default", "docker/default", "unconfined"].includes(profile)) return;
  const place = at.child(key);
  if (profile.startsWith("localhost/")) {
    checkDescending(profile.slice("localhost/".length), place);
  } else place.invalid(profile, "must be a valid seccomp profile");
}

function isAppArmorText(profile: string): boolean {
  return (
    ["", "runtime/default", "unconfined"].includes(profile) || profile.startsWith("localhost/")
  );
}
