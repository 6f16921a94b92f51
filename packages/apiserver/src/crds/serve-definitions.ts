// What custom resource definitions serve, on every replica.

import { jsonEqual, type JsonObject } from "@keelson/base";
import { isDefinitionConditionTrue } from "@keelson/kube";
import type { Revision } from "@keelson/store";

import type { Mirror, Mirrored } from "../mirror.ts";
import { isTerminating, metadataNumber, uidOf } from "../object-metadata.ts";
import { closing } from "../resources/custom-resource.ts";
import type { Registry } from "../resources/registry.ts";
import type { Resource } from "../resources/resource.ts";

export interface ServedDefinitionsOptions {
  readonly definitions: Mirror;
  readonly registry: Registry;
  /** The resources that an established definition serves. */
  readonly resourcesOf: (definition: JsonObject) => readonly Resource[];
}

/** Serves what is established, and stops with what is gone. Every replica does, as soon as it hears of it. */
export function serveDefinitions({
  definitions,
  registry,
  resourcesOf,
}: ServedDefinitionsOptions): Disposable {
  /** Made once for each state of a definition: compiled schemas are kept by identity. */
  const made = new Map<
    string,
    { readonly entry: Mirrored; readonly resources: readonly Resource[] }
  >();
  const refresh = (revision: Revision): void => {
    const entries = [...definitions.values()].filter(({ object }) => isServed(object));
    const names = new Set(entries.map(({ key }) => key.name));
    for (const name of made.keys()) if (!names.has(name)) made.delete(name);
    for (const entry of entries) {
      const { name } = entry.key;
      const known = made.get(name);
      if (known === undefined || !isSameSpec(known.entry.object, entry.object)) {
        made.set(name, { entry, resources: resourcesOf(entry.object) });
      } else if (isTerminating(entry.object) && !isTerminating(known.entry.object)) {
        made.set(name, { entry, resources: known.resources.map(closing) });
      }
    }
    const inOrder = [...made.values()].sort((a, b) => a.entry.revision - b.entry.revision);
    registry.put(
      "custom",
      inOrder.flatMap(({ resources }) => resources),
      revision,
    );
  };
  refresh(0);
  return definitions.onChange((change) =>
    refresh(change.type === "set" ? change.entry.revision : change.revision),
  );
}

function isServed(definition: JsonObject): boolean {
  return isDefinitionConditionTrue(definition, "Established");
}

/** What is served follows from these, and from whether it is being deleted. */
function isSameSpec(a: JsonObject, b: JsonObject): boolean {
  return (
    uidOf(a) === uidOf(b) &&
    metadataNumber(a, "generation") === metadataNumber(b, "generation") &&
    jsonEqual(a["spec"] ?? null, b["spec"] ?? null) &&
    jsonEqual(acceptedNames(a), acceptedNames(b))
  );
}

function acceptedNames(definition: JsonObject): JsonObject {
  const { status = {} } = definition as { status?: { acceptedNames?: JsonObject } };
  return status.acceptedNames ?? {};
}
