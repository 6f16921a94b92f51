// What the rules of a Pod let through because the old object already had it: a stricter rule must not make
// an object that exists impossible to change.

import type { JsonObject } from "@keelson/base";

import {
  annotationsOf,
  flagOf,
  has,
  listOf,
  maybeObject,
  objectOf,
  objectsOf,
  textOf,
} from "../../../../object/members.ts";
import { hasInvalidValue, isInvalidSelector } from "../../label-selectors.ts";
import { Place } from "../../place.ts";
import { checkLocal } from "../paths.ts";
import { preferred, required } from "./affinity-terms.ts";
import { checkMatchLabelKeys } from "./affinity.ts";
import { hasInvalidNodeTerms } from "../node-selectors.ts";
import { hasWrongDeletionCost } from "./annotations.ts";
import { allContainers } from "./each-container.ts";
import { hasIndivisiblePages } from "./resources.ts";
import { isHostSysctl } from "./sysctls.ts";

export interface PodRuleOptions {
  /** A Pod itself, not a template of one. */
  readonly isPod: boolean;
  readonly allowInvalidDeletionCost: boolean;
  readonly allowIndivisiblePages: boolean;
  readonly allowInvalidSelectorValues: boolean;
  readonly allowInvalidNodeAffinityValues: boolean;
  readonly allowInvalidSpreadSelector: boolean;
  readonly allowOldMatchLabelKeys: boolean;
  readonly allowNonLocalTokenPath: boolean;
  readonly allowHostSysctls: boolean;
  readonly allowDevicesInUserNamespace: boolean;
  readonly allowHostNetworkInUserNamespace: boolean;
  readonly allowAnySelinuxPolicy: boolean;
  readonly allowComparingTolerations: boolean;
  readonly allowRestartOnInitResize: boolean;
}

/** The options for a new Pod or template. */
export const strictOptions: PodRuleOptions = {
  isPod: false,
  allowInvalidDeletionCost: false,
  allowIndivisiblePages: false,
  allowInvalidSelectorValues: false,
  allowInvalidNodeAffinityValues: false,
  allowInvalidSpreadSelector: false,
  allowOldMatchLabelKeys: false,
  allowNonLocalTokenPath: false,
  allowHostSysctls: false,
  allowDevicesInUserNamespace: false,
  allowHostNetworkInUserNamespace: false,
  allowAnySelinuxPolicy: false,
  allowComparingTolerations: false,
  allowRestartOnInitResize: false,
};

/** The options for what replaces `old`: a Pod or a template, with its metadata. */
export function optionsForUpdate(old: JsonObject): PodRuleOptions {
  const spec = objectOf(old, "spec");
  const annotations = annotationsOf(old);
  const security = objectOf(spec, "securityContext");
  const isInUserNamespace = spec["hostUsers"] === false;
  const spreads = objectsOf(spec, "topologySpreadConstraints");
  return {
    isPod: false,
    allowInvalidDeletionCost: hasWrongDeletionCost(annotations),
    allowIndivisiblePages: allContainers(spec).some(({ container }) =>
      hasIndivisiblePages(objectOf(container, "resources")),
    ),
    allowInvalidSelectorValues: affinityTerms(spec).some((term) =>
      hasInvalidValue(maybeObject(term, "labelSelector")),
    ),
    allowInvalidNodeAffinityValues: hasInvalidNodeAffinity(spec),
    allowInvalidSpreadSelector: spreads.some((spread) =>
      isInvalidSelector(maybeObject(spread, "labelSelector")),
    ),
    allowOldMatchLabelKeys: spreads.some((spread) =>
      isWrong((place) => checkMatchLabelKeys(spread, place)),
    ),
    allowNonLocalTokenPath: hasNonLocalTokenPath(spec),
    allowHostSysctls: objectsOf(security, "sysctls").some((sysctl) =>
      isHostSysctl(textOf(sysctl, "name"), spec),
    ),
    allowDevicesInUserNamespace:
      isInUserNamespace &&
      allContainers(spec).some(({ container }) => listOf(container, "volumeDevices").length > 0),
    allowHostNetworkInUserNamespace: isInUserNamespace && flagOf(spec, "hostNetwork"),
    allowAnySelinuxPolicy: has(security, "seLinuxChangePolicy"),
    allowComparingTolerations: objectsOf(spec, "tolerations").some((toleration) =>
      ["Lt", "Gt"].includes(textOf(toleration, "operator")),
    ),
    allowRestartOnInitResize: objectsOf(spec, "initContainers").some(
      (container) =>
        textOf(container, "restartPolicy") !== "Always" &&
        objectsOf(container, "resizePolicy").some(
          (policy) => textOf(policy, "restartPolicy") === "RestartContainer",
        ),
    ),
  };
}

function isWrong(check: (place: Place) => void): boolean {
  const place = Place.root("");
  check(place);
  return place.errors.length > 0;
}

function affinityTerms(spec: JsonObject): readonly JsonObject[] {
  const affinity = objectOf(spec, "affinity");
  return ["podAffinity", "podAntiAffinity"].flatMap((name) => {
    const part = objectOf(affinity, name);
    return [
      ...objectsOf(part, required),
      ...objectsOf(part, preferred).map((term) => objectOf(term, "podAffinityTerm")),
    ];
  });
}

function hasInvalidNodeAffinity(spec: JsonObject): boolean {
  const node = objectOf(objectOf(spec, "affinity"), "nodeAffinity");
  return hasInvalidNodeTerms(objectsOf(objectOf(node, required), "nodeSelectorTerms"));
}

function hasNonLocalTokenPath(spec: JsonObject): boolean {
  return objectsOf(spec, "volumes").some((volume) =>
    objectsOf(objectOf(volume, "projected"), "sources").some((source) => {
      const token = maybeObject(source, "serviceAccountToken");
      return token !== undefined && isWrong((place) => checkLocal(textOf(token, "path"), place));
    }),
  );
}
