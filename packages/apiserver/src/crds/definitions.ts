// Custom resource definitions: what they serve on every replica, and their life on one.

import { type Clock, jsonEqual, type JsonObject, type Log, type Random } from "@keelson/base";
import {
  hasInstances,
  isDefinitionConditionTrue,
  settleDefinitions,
  terminate,
  timeFromMs,
  type Termination,
} from "@keelson/kube";

import { isTerminating, metadataNumber, nameOf, uidOf } from "../object-metadata.ts";
import type { Mirror, Mirrored } from "../mirror.ts";
import type { Objects } from "../objects.ts";
import { KeyQueue } from "../loops/key-queue.ts";
import type { Registry } from "../resources/registry.ts";
import type { Resource } from "../resources/resource.ts";

export const definitionKind = "CustomResourceDefinition.apiextensions.k8s.io";

export interface DefinitionsOptions {
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
}: DefinitionsOptions): Disposable {
  /** Made once for each state of a definition: compiled schemas are kept by identity. */
  const made = new Map<
    string,
    { readonly entry: Mirrored; readonly resources: readonly Resource[] }
  >();
  const refresh = (): void => {
    const entries = [...definitions.values()].filter(({ object }) => isServed(object));
    const names = new Set(entries.map(({ key }) => key.name));
    for (const name of made.keys()) if (!names.has(name)) made.delete(name);
    for (const entry of entries) {
      const { name } = entry.key;
      const known = made.get(name);
      if (known !== undefined && isSameSpec(known.entry.object, entry.object)) continue;
      made.set(name, { entry, resources: resourcesOf(entry.object) });
    }
    const inOrder = [...made.values()].sort((a, b) => a.entry.revision - b.entry.revision);
    registry.put(
      "custom",
      inOrder.flatMap(({ resources }) => resources),
    );
  };
  refresh();
  return definitions.onChange(refresh);
}

function isServed(definition: JsonObject): boolean {
  return isDefinitionConditionTrue(definition, "Established");
}

/** What is served follows from these and nothing else. */
function isSameSpec(a: JsonObject, b: JsonObject): boolean {
  return (
    uidOf(a) === uidOf(b) &&
    metadataNumber(a, "generation") === metadataNumber(b, "generation") &&
    isTerminating(a) === isTerminating(b) &&
    jsonEqual(a["spec"] ?? null, b["spec"] ?? null) &&
    jsonEqual(acceptedNames(a), acceptedNames(b))
  );
}

function acceptedNames(definition: JsonObject): JsonObject {
  const { status = {} } = definition as { status?: { acceptedNames?: JsonObject } };
  return status.acceptedNames ?? {};
}

/** Accepts names, establishes, and takes away with its objects what is deleted. One replica does. */
export async function runDefinitions(
  {
    definitions,
    objects,
    registry,
    clock,
    random,
    log,
  }: {
    readonly definitions: Mirror;
    readonly objects: Objects;
    readonly registry: Registry;
    readonly clock: Clock;
    readonly random: Random;
    readonly log: Log;
  },
  signal: AbortSignal,
): Promise<void> {
  const resource = objects.resource("apiextensions.k8s.io", "v1", "customresourcedefinitions");
  const now = (): string => timeFromMs(clock.now());

  const settle = async (name: string, within: AbortSignal): Promise<number | undefined> => {
    const all = [...definitions.values()].sort((a, b) => a.revision - b.revision);
    const before = all.map(({ object }) => object);
    const settled = settleDefinitions(before, now());
    const index = before.findIndex((object) => nameOf(object) === name);
    const next = settled[index];
    const current = before[index];
    if (next === undefined || current === undefined) return undefined;
    if (next !== current) {
      await objects.update(
        resource,
        { namespace: "", name, subresource: "status" },
        (live) => ({ ...live, status: next["status"] ?? {} }),
        within,
      );
      return undefined; // Our own change brings us back.
    }
    return isTerminating(current) ? await clear(current, within) : undefined;
  };

  /** Deletes the objects of a definition that goes. */
  const clear = async (
    definition: JsonObject,
    within: AbortSignal,
  ): Promise<number | undefined> => {
    const { spec } = definition as { spec?: { group?: string; names?: { plural?: string } } };
    const kinds = registry.served.all.filter(
      ({ group, plural, isCustom }) =>
        isCustom && group === spec?.group && plural === spec.names?.plural,
    );
    const served = kinds[0];
    const left =
      served === undefined || !hasInstances(definition)
        ? 0
        : await deleteAll(objects, served, within);
    const state: Termination = left === 0 ? { is: "Done" } : { is: "InProgress" };
    const name = nameOf(definition);
    const mark = (live: JsonObject): JsonObject | undefined => {
      const next = terminate(live, state, now());
      return jsonEqual(next, live) ? undefined : next;
    };
    await objects.update(resource, { namespace: "", name, subresource: "status" }, mark, within);
    if (state.is === "Done") await objects.update(resource, { namespace: "", name }, mark, within);
    return left === 0 ? undefined : 200;
  };

  const queue = new KeyQueue({ name: "definitions", clock, random, log, workers: 1, look: settle });
  const addAll = (): void => {
    // A name that one gives up another may be waiting for.
    for (const { key } of definitions.values()) queue.add(key.name);
  };
  using _ = definitions.onChange(addAll);
  addAll();
  await queue.run(signal);
}

/** Asks for the deletion of every object; answers how many are still there. */
async function deleteAll(
  objects: Objects,
  resource: Resource,
  signal: AbortSignal,
): Promise<number> {
  let left = 0;
  for await (const { key } of objects.rows(resource, "", signal)) {
    const deleted = await objects.delete(resource, key, {}, signal);
    if (deleted !== undefined && !deleted.isGone) left += 1;
  }
  return left;
}
