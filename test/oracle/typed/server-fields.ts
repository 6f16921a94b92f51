// What neither decoding nor defaulting decides: the server sets it, or takes it out, when it creates an object.

import { cloneJson, isJsonArray, isJsonObject } from "@keelson/base";
import type { JsonObject, MutableJson, MutableJsonObject } from "@keelson/base";
import type { BuiltinKind } from "@keelson/kube";

const everywhere: readonly string[] = [
  "metadata.uid",
  "metadata.resourceVersion",
  "metadata.generation",
  "metadata.creationTimestamp",
  "metadata.deletionTimestamp",
  "metadata.deletionGracePeriodSeconds",
  "metadata.selfLink",
  "metadata.managedFields",
  "status",
];

/** By kind, paths from the root: what is filled in, and what belongs to features that are off. */
const ofKind: Readonly<Record<string, readonly string[]>> = {
  "/v1/Namespace": ["spec.finalizers"],
  "/v1/Node": ["spec.taints", "spec.configSource"],
  "/v1/PersistentVolume": ["metadata.finalizers"],
  "/v1/PersistentVolumeClaim": ["metadata.finalizers", "spec.dataSource", "spec.dataSourceRef"],
  "/v1/Pod": ["spec.preemptionPolicy", "spec.priority", "spec.tolerations"],
  "/v1/Service": [
    "spec.clusterIP",
    "spec.clusterIPs",
    "spec.healthCheckNodePort",
    "spec.ipFamilies",
    "spec.ipFamilyPolicy",
  ],
  "/v1/ServiceAccount": ["secrets"],
  "apps/v1/DaemonSet": ["metadata.annotations"],
  // It is status that is kept there.
  "autoscaling/v1/HorizontalPodAutoscaler": ["metadata.annotations"],
  "batch/v1/Job": ["metadata.labels", "spec.selector", "spec.template.metadata.labels"],
  "certificates.k8s.io/v1/CertificateSigningRequest": [
    "spec.extra",
    "spec.groups",
    "spec.username",
    "spec.uid",
  ],
  "coordination.k8s.io/v1/Lease": ["spec.strategy", "spec.preferredHolder"],
  "storage.k8s.io/v1/CSIDriver": ["spec.preventPodSchedulingIfMissing"],
  "storage.k8s.io/v1/VolumeAttributesClass": ["metadata.finalizers"],
};

/** Wherever they are: of pods what belongs to features that are off, of services the ports of nodes. */
const anywhere = ["lifecycle", "schedulingGroup", "nodePort"];

/** A copy without them. */
export function withoutServerFields(kind: BuiltinKind, object: JsonObject): JsonObject {
  const copy = cloneJson(object);
  const name = `${kind.group}/${kind.version}/${kind.kind}`;
  for (const path of [...everywhere, ...(ofKind[name] ?? [])]) remove(copy, path.split("."));
  removeNamed(copy, anywhere);
  return copy;
}

function remove(object: MutableJsonObject, [name = "", ...rest]: readonly string[]): void {
  const inside = object[name];
  if (rest.length === 0) delete object[name];
  else if (isJsonObject(inside)) remove(inside, rest);
}

function removeNamed(value: MutableJson, names: readonly string[]): void {
  if (isJsonArray(value)) for (const item of value) removeNamed(item, names);
  if (!isJsonObject(value)) return;
  for (const name of names) delete value[name];
  for (const member of Object.values(value)) removeNamed(member, names);
}
