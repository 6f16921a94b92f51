import type { MutableJsonObject } from "@keelson/base";

import { isUnset, objectAt, objectsAt } from "./default-rule.ts";
import type { DefaultRule, DefaultRules } from "./default-rule.ts";
import { imageTag } from "./image-tag.ts";
import { addAmounts, addMissing, raiseAmounts } from "./resource-lists.ts";

export const podDefaults: DefaultRules = {
  "core.v1.Pod": {
    owns: [],
    apply: (pod) => {
      const spec = objectAt(pod, "spec");
      if (spec === undefined) return;
      const containers = [...objectsAt(spec, "containers"), ...objectsAt(spec, "initContainers")];
      for (const container of containers) requestLimits(container);
      setPodResources(spec);
      if (spec["hostNetwork"] === true) {
        for (const container of containers) useHostPorts(container);
      }
    },
  },
  "core.v1.Volume": {
    owns: ["emptyDir"],
    apply: (volume) => {
      // Every field but the name is a source.
      const hasSource = Object.keys(volume).some((name) => name !== "name");
      if (!hasSource) volume["emptyDir"] = {};
    },
  },
  "core.v1.Container": pullsByTag("image", "imagePullPolicy"),
  "core.v1.EphemeralContainer": pullsByTag("image", "imagePullPolicy"),
  "core.v1.ImageVolumeSource": pullsByTag("reference", "pullPolicy"),
};

function pullsByTag(image: string, policy: string): DefaultRule {
  return {
    owns: [policy],
    apply: (struct) => {
      if (!isUnset(struct, policy)) return;
      const name = struct[image];
      const isLatest = imageTag(typeof name === "string" ? name : "") === "latest";
      struct[policy] = isLatest ? "Always" : "IfNotPresent";
    },
  };
}

/** What is limited and not requested is requested as it is limited. */
function requestLimits(container: MutableJsonObject): void {
  const resources = objectAt(container, "resources");
  const limits = objectAt(resources, "limits");
  if (resources === undefined || limits === undefined) return;
  const requests = objectAt(resources, "requests") ?? {};
  addMissing(requests, limits);
  resources["requests"] = requests;
}

function useHostPorts(container: MutableJsonObject): void {
  for (const port of objectsAt(container, "ports")) {
    const number = port["containerPort"] ?? 0;
    if ((port["hostPort"] ?? 0) === 0 && number !== 0) port["hostPort"] = number;
  }
}

/** What the pod as a whole may use, where its containers say something and it does not. */
function setPodResources(spec: MutableJsonObject): void {
  const resources = objectAt(spec, "resources");
  if (resources === undefined) return;
  const limits = objectAt(resources, "limits") ?? {};
  const requests = objectAt(resources, "requests") ?? {};
  if (!hasMembers(limits) && !hasMembers(requests)) return;

  const limited = picked(aggregate(spec, "limits"), isHugePages);
  for (const name of Object.keys(requests)) delete limited[name];
  addMissing(limits, limited);
  if (hasMembers(limits)) resources["limits"] = limits;

  if (!hasMembers(limits)) return;
  addMissing(
    requests,
    picked(aggregate(spec, "requests"), (name) => isOfPods(name) && !isHugePages(name)),
  );
  addMissing(requests, picked(limits, isOfPods));
  if (hasMembers(requests)) resources["requests"] = requests;
}

/** The sum over what runs side by side, or more if initialising needs more. */
function aggregate(spec: MutableJsonObject, what: "limits" | "requests"): MutableJsonObject {
  const total: MutableJsonObject = {};
  const amountsOf = (container: MutableJsonObject): MutableJsonObject =>
    objectAt(container, "resources", what) ?? {};
  for (const container of objectsAt(spec, "containers")) addAmounts(total, amountsOf(container));
  const sidecars: MutableJsonObject = {};
  const initial: MutableJsonObject = {};
  for (const container of objectsAt(spec, "initContainers")) {
    const amounts = amountsOf(container);
    if (container["restartPolicy"] === "Always") {
      addAmounts(total, amounts);
      addAmounts(sidecars, amounts);
      raiseAmounts(initial, sidecars);
    } else {
      const together: MutableJsonObject = {};
      addAmounts(together, amounts);
      addAmounts(together, sidecars);
      raiseAmounts(initial, together);
    }
  }
  raiseAmounts(total, initial);
  return total;
}

function picked(list: MutableJsonObject, isWanted: (name: string) => boolean): MutableJsonObject {
  return Object.fromEntries(Object.entries(list).filter(([name]) => isWanted(name)));
}

function isHugePages(name: string): boolean {
  return name.startsWith("hugepages-");
}

function isOfPods(name: string): boolean {
  return name === "cpu" || name === "memory" || isHugePages(name);
}

function hasMembers(list: MutableJsonObject): boolean {
  return Object.keys(list).length > 0;
}
