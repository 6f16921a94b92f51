// What every object has in common that the operator makes in a cluster.

import type { JsonObject } from "@keelson/base";
import type { DynamicObject, OwnerReference } from "@keelson/client";

import type { App } from "../app.ts";
import { platformGroup } from "../kinds/platform-group.ts";
import { ownerKey, ownerText } from "../ownership/owner.ts";

/** Of our server-side applies. */
export const fieldManager = "plattr-operator";

export const secretKind = { apiVersion: "v1", kind: "Secret" } as const;
export const configMapKind = { apiVersion: "v1", kind: "ConfigMap" } as const;

export const managedByLabel = `${platformGroup}/managed-by`;
export const appLabel = `${platformGroup}/app`;
export const environmentLabel = `${platformGroup}/environment`;
/** On the pods that migrate an app's database, instead of the app's: its Service would send requests there. */
export const migratesLabel = `${platformGroup}/migrates`;

/** What the pods of an app are found by. It never changes while the app lives. */
export function selectorOf({ names, spec }: App): Record<string, string> {
  return { [appLabel]: names.name, [environmentLabel]: spec.environment };
}

export function labelsOf(app: App): Record<string, string> {
  return { [managedByLabel]: fieldManager, ...selectorOf(app) };
}

export interface Child {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** The rest of the object: `spec`, `data`, … */
  readonly content: JsonObject;
}

/**
 * A child of the app as it is applied. An owner reference lets the cluster clear it away; a preview's owner lives in
 * another namespace, which a reference cannot reach, so there an annotation says whose it is.
 */
export function childOf(app: App, child: Child): DynamicObject {
  const isReachable = app.kind === "Application";
  const annotations = {
    ...(isReachable ? {} : { [ownerKey]: ownerText(app.owner) }),
    ...child.annotations,
  };
  return {
    apiVersion: child.apiVersion,
    kind: child.kind,
    metadata: {
      name: child.name,
      namespace: app.namespace,
      labels: labelsOf(app),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      ...(isReachable ? { ownerReferences: [referenceTo(app)] } : {}),
    },
    ...child.content,
  };
}

function referenceTo({ kind, owner }: App): OwnerReference {
  return {
    apiVersion: `${platformGroup}/v1alpha1`,
    kind,
    name: owner.name,
    uid: owner.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}
