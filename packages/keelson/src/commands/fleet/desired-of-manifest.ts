// What a manifest asks of fleet: whose object it is, and what is wanted of it. What only a cluster may say is left out.

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";
import type { KindNames } from "@keelson/kube/kind-names";
import { usageError } from "../command-error.ts";
import type { Manifest } from "../read-manifests.ts";
import { groupOf } from "./resource-shapes.ts";

/** A resource without its cluster. */
export interface Desired {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  readonly api_version: string;
  readonly desired_spec: JsonObject;
}

export interface DesiredOfManifest {
  readonly desired: Desired;
  readonly place: string;
  /** What was left out although it said something. */
  readonly leftOut: readonly string[];
}

/** Annotations that tools and controllers leave on live objects. */
const foreignAnnotations = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  "deployment.kubernetes.io/revision",
  "kontrol/resource-id",
  "kontrol/generation",
  "kontrol/revision",
]);

/** Objects without a namespace get `namespace`, else `default`. Throws with the place of a manifest that names nothing. */
export function desiredOfManifest(
  { object, place }: Manifest,
  {
    namespace,
    builtin,
  }: { readonly namespace: string | undefined; readonly builtin: readonly KindNames[] },
): DesiredOfManifest {
  const { apiVersion, kind, metadata, status, ...content } = object;
  if (typeof apiVersion !== "string" || apiVersion === "") throw lacks(place, "apiVersion");
  if (typeof kind !== "string" || kind === "") throw lacks(place, "kind");
  const given = isJsonObject(metadata) ? metadata : {};
  const { name, namespace: ownNamespace, labels, annotations, ...others } = given;
  if (typeof name !== "string" || name === "") throw lacks(place, "metadata.name");

  const own = ownAnnotations(annotations);
  const kept = {
    ...(says(labels) ? { labels } : {}),
    ...(own !== undefined && says(own) ? { annotations: own } : {}),
  };
  const leftOut = [
    ...Object.keys(others)
      .filter((key) => says(others[key]))
      .map((key) => `metadata.${key}`),
    ...(isJsonObject(annotations)
      ? Object.keys(annotations)
          .filter((key) => foreignAnnotations.has(key))
          .map((key) => `metadata.annotations[${key}]`)
      : []),
    ...(says(status) ? ["status"] : []),
  ];
  const said = typeof ownNamespace === "string" && ownNamespace !== "" ? ownNamespace : undefined;
  if (said !== undefined && namespace !== undefined && said !== namespace) {
    throw usageError(`${place}: ${kind} ${name} is of namespace ${said}, and -n says ${namespace}`);
  }
  return {
    place,
    leftOut,
    desired: {
      namespace: namespaceOf({ apiVersion, kind }, said ?? namespace, builtin),
      kind,
      name,
      api_version: apiVersion,
      desired_spec: { ...(says(kept) ? { metadata: kept } : {}), ...content },
    },
  };
}

/** Of kinds that only the cluster knows it is what was said: there may be none. */
function namespaceOf(
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  said: string | undefined,
  builtin: readonly KindNames[],
): string {
  const group = groupOf(apiVersion);
  const known = builtin.find((one) => one.group === group && one.kind === kind);
  if (known?.isNamespaced === false) return "";
  return said ?? (known === undefined ? "" : "default");
}

function ownAnnotations(annotations: Json | undefined): Json | undefined {
  if (annotations === undefined || !isJsonObject(annotations)) return annotations;
  return Object.fromEntries(
    Object.entries(annotations).filter(([key]) => !foreignAnnotations.has(key)),
  );
}

/** `creationTimestamp: null` and `status: {}` say nothing, and nobody needs to hear that they are left out. */
function says(value: Json | undefined): value is Json {
  if (value === undefined || value === null) return false;
  return !isJsonObject(value) || Object.keys(value).length > 0;
}

function lacks(place: string, field: string) {
  return usageError(`${place} has no ${field}: is it a Kubernetes manifest?`);
}
