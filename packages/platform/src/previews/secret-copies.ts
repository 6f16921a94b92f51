// The Secrets that a preview's variables come from. A preview runs what anybody proposes, so of its parent's Secrets it
// gets those that are marked for it, and goes without the others.

import { keyOf, refOf, type DynamicObject } from "@keelson/client";

import type { App } from "../app.ts";
import { childOf, secretKind } from "../children/child.ts";
import { platformGroup } from "../kinds/platform-group.ts";

/** On a Secret, with the value `true`: previews may have it. */
export const previewLabel = `${platformGroup}/preview`;

/** On a copy: where it is from. */
export const copiedFromAnnotation = `${platformGroup}/copied-from`;

export interface SharedVariables {
  /** The app, without the variables that it cannot have. */
  readonly app: App;
  /** The Secrets that the others come from, for the preview's own namespace. */
  readonly copies: readonly DynamicObject[];
  /** `A (Secret keys)`: what it goes without. */
  readonly leftOut: readonly string[];
}

/** `shared` finds a Secret of the parent's namespace that is marked for previews. */
export function sharedVariables(
  app: App,
  shared: (name: string) => DynamicObject | undefined,
): SharedVariables {
  const { children } = app.names;
  const ours = new Set<string>([children.database, children.storageKeys, children.tls]);
  const copies = new Map<string, DynamicObject>();
  const leftOut: string[] = [];
  const kept = (app.spec.envVars ?? []).filter(({ name, secretKeyRef }) => {
    if (secretKeyRef === undefined) return true;
    const source = ours.has(secretKeyRef.name) ? undefined : shared(secretKeyRef.name);
    if (source === undefined) {
      leftOut.push(`${name} (Secret ${secretKeyRef.name})`);
      return false;
    }
    copies.set(secretKeyRef.name, copyOf(app, source));
    return true;
  });
  const { envVars: _envVars, ...spec } = app.spec;
  return {
    app: { ...app, spec: kept.length === 0 ? spec : { ...spec, envVars: kept } },
    copies: [...copies.values()],
    leftOut,
  };
}

/** Of no type: variables need none, and a type could never change. */
function copyOf(app: App, source: DynamicObject): DynamicObject {
  return childOf(app, {
    ...secretKind,
    name: source.metadata.name ?? "",
    annotations: { [copiedFromAnnotation]: keyOf(refOf(source)) },
    content: { type: "Opaque", data: source["data"] ?? {} },
  });
}
