// What admission adds to single kinds: tolerations, taints, classes, protection.

import type { JsonObject, MutableJsonObject } from "@keelson/base";

import { textAt } from "../fields.ts";
import type { Mirror } from "../mirror.ts";
import { nameOf, metadataOf, metadataText, ownMetadata, finalizersOf } from "../object-metadata.ts";
import type { AdmissionPlugin } from "./admission.ts";
import { isResource, ownItems, ownSpec } from "./pod-spec.ts";

/** How long a pod stays on a node that is gone, unless it says so itself. */
const tolerationSeconds = 300;

/** The taint of a node that is not ready. */
export const notReadyKey = "node.kubernetes.io/not-ready";

/** DefaultTolerationSeconds: pods outlive a short absence of their node. */
export const defaultTolerations: AdmissionPlugin = {
  name: "DefaultTolerationSeconds",
  handles: (resource, operation) => isResource(resource, "pods") && operation !== "DELETE",
  admit: ({ object: pod, subresource }) => {
    if (pod === undefined || subresource !== "") return;
    const spec = ownSpec(pod);
    const own = ownItems(spec, "tolerations");
    const added = [notReadyKey, "node.kubernetes.io/unreachable"]
      .filter((key) => !own.some((toleration) => tolerates(toleration, key)))
      .map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds }));
    if (added.length > 0) spec["tolerations"] = [...own, ...added];
  },
};

function tolerates(toleration: JsonObject, taint: string): boolean {
  const key = textAt(toleration, "key");
  const effect = textAt(toleration, "effect");
  return (key === taint || key === "") && (effect === "NoExecute" || effect === "");
}

/** TaintNodesByCondition: a new node takes no pods before somebody says that it is ready. */
export const notReadyTaint: AdmissionPlugin = {
  name: "TaintNodesByCondition",
  handles: (resource, operation) => isResource(resource, "nodes") && operation === "CREATE",
  admit: ({ object: node, subresource }) => {
    if (node === undefined || subresource !== "") return;
    const spec = ownSpec(node);
    const taints = ownItems(spec, "taints");
    const key = notReadyKey;
    if (taints.some((one) => one["key"] === key && one["effect"] === "NoSchedule")) return;
    spec["taints"] = [...taints, { key, effect: "NoSchedule" }];
  },
};

/** StorageObjectInUseProtection: volumes and claims are not deleted under those who use them. */
export const storageProtection: AdmissionPlugin = {
  name: "StorageObjectInUseProtection",
  handles: (resource, operation) => protectionOf(resource) !== undefined && operation === "CREATE",
  admit: ({ object, resource, subresource }) => {
    const finalizer = protectionOf(resource);
    if (object === undefined || subresource !== "" || finalizer === undefined) return;
    const finalizers = finalizersOf(object);
    if (finalizers.includes(finalizer)) return;
    ownMetadata(object)["finalizers"] = [...finalizers, finalizer];
  },
};

function protectionOf(resource: Parameters<typeof isResource>[0]): string | undefined {
  if (isResource(resource, "persistentvolumeclaims")) return "kubernetes.io/pvc-protection";
  if (isResource(resource, "persistentvolumes")) return "kubernetes.io/pv-protection";
  return isResource(resource, "volumeattributesclasses.storage.k8s.io")
    ? "kubernetes.io/vac-protection"
    : undefined;
}

/** DefaultStorageClass and DefaultIngressClass: what names no class gets the one that is marked as the default. */
export function defaultClasses({
  storageClasses,
  ingressClasses,
}: {
  readonly storageClasses: Mirror;
  readonly ingressClasses: Mirror;
}): AdmissionPlugin {
  const claims = {
    resource: "persistentvolumeclaims",
    field: "storageClassName",
    classes: storageClasses,
    annotation: "storageclass.kubernetes.io/is-default-class",
    legacy: "volume.beta.kubernetes.io/storage-class",
  };
  const ingresses = {
    resource: "ingresses.networking.k8s.io",
    field: "ingressClassName",
    classes: ingressClasses,
    annotation: "ingressclass.kubernetes.io/is-default-class",
    legacy: "kubernetes.io/ingress.class",
  };
  const all = [claims, ingresses];
  return {
    name: "DefaultClass",
    handles: (resource, operation) =>
      operation === "CREATE" && all.some((one) => isResource(resource, one.resource)),
    admit: ({ object, resource, subresource }) => {
      const rule = all.find((one) => isResource(resource, one.resource));
      if (object === undefined || subresource !== "" || rule === undefined) return;
      const spec = ownSpec(object);
      if (spec[rule.field] !== undefined || hasAnnotation(object, rule.legacy)) return;
      const standard = newestDefault(rule.classes, rule.annotation);
      if (standard !== undefined) spec[rule.field] = nameOf(standard);
    },
  };
}

function hasAnnotation(object: MutableJsonObject, name: string): boolean {
  const { annotations } = metadataOf(object) as { annotations?: JsonObject };
  return annotations !== undefined && Object.hasOwn(annotations, name);
}

/** Of several defaults the newest counts. */
function newestDefault(classes: Mirror, annotation: string): JsonObject | undefined {
  const made = (object: JsonObject): string => metadataText(object, "creationTimestamp");
  return [...classes.values()]
    .map(({ object }) => object)
    .filter((object) => {
      const { annotations } = metadataOf(object) as { annotations?: JsonObject };
      return annotations?.[annotation] === "true";
    })
    .sort((a, b) =>
      made(a) < made(b) ? 1 : made(a) > made(b) ? -1 : nameOf(a) < nameOf(b) ? -1 : 1,
    )[0];
}
