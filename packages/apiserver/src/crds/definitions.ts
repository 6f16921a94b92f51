// The life of a custom resource definition: its names, its establishment, its end with all of its objects. One replica sees to it.

import { type Clock, jsonEqual, type JsonObject, type Log, type Random } from "@keelson/base";
import {
  hasInstances,
  settleDefinitions,
  terminate,
  timeFromMs,
  type Termination,
} from "@keelson/kube";

import { objectAt, objectsAt } from "../fields.ts";
import { isTerminating, nameOf } from "../object-metadata.ts";
import type { Mirror } from "../mirror.ts";
import type { Objects } from "../objects.ts";
import { KeyQueue } from "../loops/key-queue.ts";
import type { Registry } from "../resources/registry.ts";
import { customResources } from "../resources/custom-resource.ts";
import type { Resource } from "../resources/resource.ts";

export const definitionKind = "CustomResourceDefinition.apiextensions.k8s.io";

export interface DefinitionLoopOptions {
  readonly definitions: Pick<Mirror, "values" | "onChange">;
  readonly objects: Objects;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** How soon a definition whose objects are not all gone is looked at again. */
const heldMs = 200;

/** Accepts names, establishes, and takes away with its objects what is deleted. */
export async function runDefinitions(
  options: DefinitionLoopOptions,
  signal: AbortSignal,
): Promise<void> {
  const { definitions, clock, random, log } = options;
  /** How they all are to be, worked out once for each state of them: each is looked at after every change. */
  let settled: ReadonlyMap<string, Settled> | undefined;
  const queue = new KeyQueue({
    name: "definitions",
    clock,
    random,
    log,
    workers: 1,
    look: (name, within) => {
      settled ??= settleAll(options);
      return settle(options, settled.get(name), within);
    },
  });
  const addAll = (): void => {
    settled = undefined;
    // A name that one gives up another may be waiting for.
    for (const { key } of definitions.values()) queue.add(key.name);
  };
  using _ = definitions.onChange(addAll);
  addAll();
  await queue.run(signal);
}

/** A definition as it is, and as it is to be. */
interface Settled {
  readonly current: JsonObject;
  readonly next: JsonObject;
}

function settleAll({
  definitions,
  clock,
}: Pick<DefinitionLoopOptions, "definitions" | "clock">): ReadonlyMap<string, Settled> {
  const all = [...definitions.values()].sort((a, b) => a.revision - b.revision);
  const before = all.map(({ object }) => object);
  const after = settleDefinitions(before, timeFromMs(clock.now()));
  return new Map(
    before.map((current, index) => [nameOf(current), { current, next: after[index] ?? current }]),
  );
}

async function settle(
  options: DefinitionLoopOptions,
  settled: Settled | undefined,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (settled === undefined) return undefined;
  const { current, next } = settled;
  if (next === current) {
    return isTerminating(current) ? await clear(options, current, signal) : undefined;
  }
  await options.objects.update(
    resourceOf(options.objects),
    { namespace: "", name: nameOf(current), subresource: "status" },
    (live) => ({ ...live, status: next["status"] ?? {} }),
    signal,
  );
  return undefined; // Our own change brings us back.
}

/** Deletes the objects of a definition that goes. */
async function clear(
  { objects, registry, clock }: DefinitionLoopOptions,
  definition: JsonObject,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { spec } = definition as { spec?: { group?: string; names?: { plural?: string } } };
  const served = registry.served.all.find(
    ({ group, plural, isCustom }) =>
      isCustom && group === spec?.group && plural === spec.names?.plural,
  );
  const stored = served ?? storedBy(definition);
  const isEmpty = stored === undefined || !hasInstances(definition);
  const left = isEmpty ? 0 : await deleteAll(objects, stored, signal);
  const state: Termination = left === 0 ? { is: "Done" } : { is: "InProgress" };
  const mark = (live: JsonObject): JsonObject | undefined => {
    const next = terminate(live, state, timeFromMs(clock.now()));
    return jsonEqual(next, live) ? undefined : next;
  };
  const resource = resourceOf(objects);
  const place = { namespace: "", name: nameOf(definition) };
  await objects.update(resource, { ...place, subresource: "status" }, mark, signal);
  if (state.is === "Done") await objects.update(resource, place, mark, signal);
  return left === 0 ? undefined : heldMs;
}

/** The objects of a definition none of whose versions is served: nobody sees them, and another of its name would find them. */
function storedBy(definition: JsonObject): Resource | undefined {
  const spec = objectAt(definition, "spec");
  const versions = objectsAt(spec, "versions").map((version) => ({
    ...version,
    served: version["storage"] === true,
  }));
  return customResources({ ...definition, spec: { ...spec, versions } })[0];
}

function resourceOf(objects: Objects): Resource {
  return objects.resource("apiextensions.k8s.io", "v1", "customresourcedefinitions");
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
