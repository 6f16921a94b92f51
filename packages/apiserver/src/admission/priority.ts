// The priority of a pod, from its class.

import type { JsonObject } from "@keelson/base";

import { objectAt, textAt } from "../fields.ts";
import type { Mirror } from "../mirror.ts";
import { nameOf } from "../object-metadata.ts";
import type { AdmissionPlugin, AdmissionRequest } from "./admission.ts";
import { isResource, ownSpec, refused } from "./pod-spec.ts";

/** Classes that are there even before they are. */
const systemClasses: Readonly<Record<string, number>> = {
  "system-cluster-critical": 2_000_000_000,
  "system-node-critical": 2_000_001_000,
};

interface Priority {
  readonly className: string;
  readonly value: number;
  readonly preemptionPolicy: string;
}

export function priorityAdmission({ classes }: { readonly classes: Mirror }): AdmissionPlugin {
  return {
    name: "Priority",
    handles: (resource, operation) =>
      (isResource(resource, "pods") && operation !== "DELETE") ||
      (isResource(resource, "priorityclasses.scheduling.k8s.io") && operation !== "DELETE"),
    admit: (request) => {
      const { object: pod, old, operation, subresource, resource } = request;
      if (pod === undefined || subresource !== "" || !isResource(resource, "pods")) return;
      const spec = ownSpec(pod);
      if (operation === "UPDATE") {
        for (const name of ["priority", "preemptionPolicy"]) {
          const before = objectAt(old ?? {}, "spec")[name];
          if (
            spec[name] === undefined &&
            (typeof before === "number" || typeof before === "string")
          ) {
            spec[name] = before;
          }
        }
        return;
      }
      const priority = priorityOf(request, classes, textAt(spec, "priorityClassName"));
      const { className, value, preemptionPolicy } = priority;
      if (className !== "") spec["priorityClassName"] = className;
      const sent = spec["priority"];
      if (typeof sent === "number" && sent !== value) {
        throw refused(
          request,
          `the integer value of priority (${sent}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
        );
      }
      spec["priority"] = value;
      const policy = textAt(spec, "preemptionPolicy");
      if (policy !== "" && policy !== preemptionPolicy) {
        throw refused(
          request,
          `the string value of PreemptionPolicy (${policy}) must not be provided in pod spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`,
        );
      }
      spec["preemptionPolicy"] = preemptionPolicy;
    },
    validate: (request) => {
      const { object, resource } = request;
      if (object === undefined || !isResource(resource, "priorityclasses.scheduling.k8s.io"))
        return;
      if (object["globalDefault"] !== true) return;
      const other = globalDefault(classes);
      if (other === undefined || nameOf(other) === nameOf(object)) return;
      throw refused(
        request,
        `PriorityClass ${nameOf(other)} is already marked as default. Only one default can exist`,
      );
    },
  };
}

function priorityOf(request: AdmissionRequest, classes: Mirror, name: string): Priority {
  if (name === "") {
    const standard = globalDefault(classes);
    if (standard === undefined) {
      return { className: "", value: 0, preemptionPolicy: "PreemptLowerPriority" };
    }
    return { className: nameOf(standard), ...valuesOf(standard) };
  }
  const found = classes.get("", name)?.object;
  if (found !== undefined) return { className: name, ...valuesOf(found) };
  const system = Object.hasOwn(systemClasses, name) ? systemClasses[name] : undefined;
  if (system !== undefined) {
    return { className: name, value: system, preemptionPolicy: "PreemptLowerPriority" };
  }
  throw refused(request, `no PriorityClass with name ${name} was found`);
}

/** The default class; of several the least important. */
function globalDefault(classes: Mirror): JsonObject | undefined {
  return [...classes.values()]
    .map(({ object }) => object)
    .filter((object) => object["globalDefault"] === true)
    .sort((a, b) => valuesOf(a).value - valuesOf(b).value)[0];
}

function valuesOf(object: JsonObject): Omit<Priority, "className"> {
  const { value } = object;
  return {
    value: typeof value === "number" ? value : 0,
    preemptionPolicy: textAt(object, "preemptionPolicy") || "PreemptLowerPriority",
  };
}
