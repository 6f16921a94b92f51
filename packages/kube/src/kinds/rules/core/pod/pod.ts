import {
  isJsonArray,
  type JsonObject,
  type MutableJson,
  type MutableJsonObject,
} from "@keelson/base";

import {
  annotationsOf,
  has,
  listOf,
  maybeObject,
  maybeText,
  numberOf,
  objectOf,
  objectsOf,
  textOf,
  textsOf,
  writableObject,
  writableObjects,
  writableOrMade,
} from "../../../../object/members.ts";
import type { KindRules } from "../../../kind-rules.ts";
import { addressWarnings } from "../../addresses.ts";
import { Place } from "../../place.ts";
import { semanticEqual } from "../../semantic-equal.ts";
import { isStatusChange, podNameWarnings } from "../../workloads.ts";
import { preferred, required } from "./affinity-terms.ts";
import { appArmorPrefix, checkProfilesMatch } from "./annotations.ts";
import { appArmorWarning, takenProfileOf } from "./app-armor.ts";
import { dropDisabledFields, dropDisabledStatusFields } from "./dropped-fields.ts";
import { checkPod } from "./check-pod.ts";
import { containerLists } from "./each-container.ts";
import { optionsForUpdate, strictOptions } from "./pod-options.ts";
import { checkPodStatus } from "./pod-status.ts";
import { checkAnnotationUpdates, checkPodUpdate } from "./pod-update.ts";
import { podSpecWarnings } from "./pod-warnings.ts";
import { qosClass } from "./qos.ts";

export const podRules: KindRules = {
  prepareForCreate: (pod, { warn = () => undefined }) => {
    const spec = writableOrMade(pod, "spec");
    const status: MutableJsonObject = { phase: "Pending", qosClass: qosClass(spec) };
    pod["status"] = status;
    dropDisabledFields(spec, undefined);
    if (listOf(spec, "schedulingGates").length > 0) {
      status["conditions"] = [
        {
          type: "PodScheduled",
          status: "False",
          reason: "SchedulingGated",
          message: "Scheduling is blocked due to non-empty scheduling gates",
          lastProbeTime: null,
          lastTransitionTime: null,
        },
      ];
    }
    completeSelectors(pod, spec);
    takeAppArmorFromAnnotations(pod, spec, warn);
  },
  prepareForUpdate: (pod, old) => {
    const spec = writableObject(pod, "spec");
    if (spec !== undefined) dropDisabledFields(spec, objectOf(old, "spec"));
  },
  prepareForStatusUpdate: (pod, old) => {
    const status = writableOrMade(pod, "status");
    const before = objectOf(old, "status");
    if (textOf(status, "qosClass") === "" && has(before, "qosClass")) {
      status["qosClass"] = textOf(before, "qosClass");
    }
    keepGenerations(status, before);
    dropDisabledStatusFields(status, before);
  },
  validate: (pod) => {
    const at = Place.root("spec");
    const spec = objectOf(pod, "spec");
    checkPod(pod, at, { ...strictOptions, isPod: true });
    if (listOf(spec, "ephemeralContainers").length > 0) {
      at.child("ephemeralContainers").forbidden("cannot be set on create");
    }
    if (textOf(spec, "nodeName") !== "" && listOf(spec, "schedulingGates").length > 0) {
      at.child("nodeName").forbidden("cannot be set until all schedulingGates have been cleared");
    }
    checkProfilesMatch(pod, at);
    return at.errors;
  },
  validateUpdate: (pod, old) => {
    const at = Place.root("spec");
    checkPodUpdate(pod, old, { at, options: { ...optionsForUpdate(old), isPod: true } });
    return at.errors;
  },
  validateStatusUpdate: (pod, old) => {
    const at = Place.root("status");
    checkAnnotationUpdates(pod, old, { at, options: { ...optionsForUpdate(old), isPod: true } });
    checkPodStatus(pod, old, at);
    return at.errors;
  },
  warnings: (pod, old) => {
    if (old === undefined) {
      return [...podNameWarnings(pod, "the Pod's hostname"), ...podSpecWarnings(pod)];
    }
    // Only a change of the status is spoken of.
    if (!isStatusChange(pod, old)) return [];
    return ["podIPs", "hostIPs"].flatMap((list) =>
      objectsOf(objectOf(pod, "status"), list).flatMap((own, index) =>
        addressWarnings(textOf(own, "ip"), `status.${list}[${index}].ip`),
      ),
    );
  },
};

/** What a client leaves out of its status, it does not mean to take back. */
function keepGenerations(status: MutableJsonObject, old: JsonObject): void {
  if (numberOf(status, "observedGeneration") === 0 && has(old, "observedGeneration")) {
    status["observedGeneration"] = numberOf(old, "observedGeneration");
  }
  const before = Map.groupBy(objectsOf(old, "conditions"), (own) => textOf(own, "type"));
  const taken = new Map<string, number>();
  for (const condition of writableObjects(status, "conditions")) {
    const type = textOf(condition, "type");
    const index = taken.get(type) ?? 0;
    taken.set(type, index + 1);
    const generation = numberOf(before.get(type)?.[index] ?? {}, "observedGeneration");
    if (numberOf(condition, "observedGeneration") === 0 && generation !== 0) {
      condition["observedGeneration"] = generation;
    }
  }
}

/** Selectors that refer to the Pod's own labels get their values. */
function completeSelectors(pod: JsonObject, spec: MutableJsonObject): void {
  const labels = objectOf(objectOf(pod, "metadata"), "labels");
  const complete = (holder: MutableJsonObject): void => {
    const selector = writableObject(holder, "labelSelector");
    if (selector === undefined) return;
    const added: MutableJson[] = [];
    for (const [member, operator] of [
      ["matchLabelKeys", "In"],
      ["mismatchLabelKeys", "NotIn"],
    ] as const) {
      for (const key of textsOf(holder, member)) {
        const value = maybeText(labels, key);
        if (value !== undefined) added.push({ key, operator, values: [value] });
      }
    }
    if (added.length === 0) return;
    const expressions: MutableJson | undefined = selector["matchExpressions"];
    selector["matchExpressions"] = [
      ...(expressions !== undefined && isJsonArray(expressions) ? expressions : []),
      ...added,
    ];
  };
  const affinity = writableObject(spec, "affinity");
  for (const name of affinity === undefined ? [] : ["podAffinity", "podAntiAffinity"]) {
    const part = writableObject(affinity ?? {}, name);
    if (part === undefined) continue;
    for (const term of writableObjects(part, preferred)) {
      const own = writableObject(term, "podAffinityTerm");
      if (own !== undefined) complete(own);
    }
    writableObjects(part, required).forEach(complete);
  }
  writableObjects(spec, "topologySpreadConstraints").forEach(complete);
}

/** Old clients say the profile of a container in an annotation. They are told where to say it, unless the Pod's own says the same. */
function takeAppArmorFromAnnotations(
  pod: JsonObject,
  spec: MutableJsonObject,
  warn: (text: string) => void,
): void {
  if (textOf(objectOf(spec, "os"), "name") === "windows") return;
  const annotations = annotationsOf(pod);
  const ofPod = maybeObject(objectOf(spec, "securityContext"), "appArmorProfile");
  for (const list of containerLists) {
    for (const container of writableObjects(spec, list)) {
      const key = appArmorPrefix + textOf(container, "name");
      const text = maybeText(annotations, key);
      const isSet = has(objectOf(container, "securityContext"), "appArmorProfile");
      if (text === undefined || isSet) continue;
      const profile = takenProfileOf(text);
      if (profile !== undefined && semanticEqual(profile, ofPod)) continue;
      warn(appArmorWarning("", key));
      if (profile === undefined) continue;
      writableOrMade(container, "securityContext")["appArmorProfile"] = Object.fromEntries(
        Object.keys(profile).map((name) => [name, textOf(profile, name)]),
      );
    }
  }
}
