// How a namespace that is deleted is emptied (KB 75).

import {
  type Clock,
  isJsonArray,
  isJsonObject,
  jsonEqual,
  type Json,
  type JsonObject,
  type Log,
  type Random,
} from "@keelson/base";
import { memberOf, timeFromMs } from "@keelson/kube";

import { finalizersOf, isTerminating } from "../object-metadata.ts";
import type { Mirror } from "../mirror.ts";
import type { Objects } from "../objects.ts";
import type { Registry } from "../resources/registry.ts";
import type { Resource } from "../resources/resource.ts";
import { KeyQueue } from "./key-queue.ts";

export interface NamespaceLoopOptions {
  readonly namespaces: Mirror;
  readonly objects: Objects;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** How soon a namespace that something still holds is looked at again. */
const heldMs = 250;

/** Empties namespaces that are deleted, and lets them go. */
export async function runNamespaces(
  options: NamespaceLoopOptions,
  signal: AbortSignal,
): Promise<void> {
  const { namespaces, clock, random, log } = options;
  const queue = new KeyQueue({
    name: "namespaces",
    clock,
    random,
    log,
    workers: 4,
    look: (name, within) => empty(options, name, within),
  });
  using _ = namespaces.onChange((change) => {
    if (change.type === "set" && isTerminating(change.entry.object)) {
      queue.add(change.entry.key.name);
    }
  });
  for (const { key, object } of namespaces.values()) {
    if (isTerminating(object)) queue.add(key.name);
  }
  await queue.run(signal);
}

async function empty(
  options: NamespaceLoopOptions,
  name: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { objects, registry, clock } = options;
  const resource = objects.resource("", "v1", "namespaces");
  const namespace = await objects.find(resource, { namespace: "", name }, signal);
  if (namespace === undefined || !isTerminating(namespace)) return undefined;
  if (spoken(namespace).length === 0) return undefined; // Whatever else holds it is not ours.

  const left = new Left();
  for (const one of inOrder(registry.served.all)) {
    await deleteIn(objects, one, { namespace: name, left }, signal);
  }
  const now = timeFromMs(clock.now());
  await objects.update(
    resource,
    { namespace: "", name, subresource: "status" },
    (live) => withConditions(live, left, now),
    signal,
  );
  if (left.isAny) return heldMs;
  // Our finalizer is the last word: with it the namespace itself goes.
  await objects.update(
    resource,
    { namespace: "", name, subresource: "finalize" },
    (live) => withoutFinalizer(live),
    signal,
  );
  const rest = await objects.find(resource, { namespace: "", name }, signal);
  if (rest !== undefined && isTerminating(rest)) {
    await objects.delete(resource, { namespace: "", name }, {}, signal);
  }
  return undefined;
}

/** Pods first: whatever made them must not see them vanish and make new ones. */
function inOrder(all: readonly Resource[]): readonly Resource[] {
  const seen = new Set<string>();
  const inside = all.filter(({ isNamespaced, storage, verbs }) => {
    if (!isNamespaced || storage === undefined || !verbs.includes("delete")) return false;
    if (seen.has(storage.kind)) return false;
    seen.add(storage.kind);
    return true;
  });
  const isPod = ({ group, plural }: Resource): boolean => group === "" && plural === "pods";
  return [...inside.filter(isPod), ...inside.filter((one) => !isPod(one))];
}

/** What could not go yet. */
class Left {
  readonly #objects = new Map<string, number>();
  readonly #finalizers = new Map<string, number>();

  get isAny(): boolean {
    return this.#objects.size > 0;
  }

  add({ group, plural }: Resource, finalizers: readonly string[]): void {
    const name = group === "" ? `${plural}.` : `${plural}.${group}`;
    this.#objects.set(name, (this.#objects.get(name) ?? 0) + 1);
    for (const finalizer of finalizers) {
      this.#finalizers.set(finalizer, (this.#finalizers.get(finalizer) ?? 0) + 1);
    }
  }

  get objectsText(): string {
    return listed(this.#objects, (name, count) => `${name} has ${count} resource instances`);
  }

  get finalizersText(): string {
    return listed(this.#finalizers, (name, count) => `${name} in ${count} resource instances`);
  }

  get hasFinalizers(): boolean {
    return this.#finalizers.size > 0;
  }
}

function listed(
  counts: ReadonlyMap<string, number>,
  print: (name: string, count: number) => string,
): string {
  return [...counts.keys()]
    .sort()
    .map((name) => print(name, counts.get(name) ?? 0))
    .join(", ");
}

async function deleteIn(
  objects: Objects,
  resource: Resource,
  { namespace, left }: { readonly namespace: string; readonly left: Left },
  signal: AbortSignal,
): Promise<void> {
  for await (const { key } of objects.rows(resource, namespace, signal)) {
    const options = { propagationPolicy: "Background" as const };
    const deleted = await objects.delete(resource, key, options, signal);
    if (deleted === undefined || deleted.isGone) continue;
    left.add(resource, finalizersOf(deleted.body.value));
  }
}

function withConditions(namespace: JsonObject, left: Left, now: string): JsonObject | undefined {
  const wanted = [
    condition(
      "NamespaceDeletionDiscoveryFailure",
      false,
      "ResourcesDiscovered",
      "All resources successfully discovered",
    ),
    condition(
      "NamespaceDeletionGroupVersionParsingFailure",
      false,
      "ParsedGroupVersions",
      "All legacy kube types successfully parsed",
    ),
    condition(
      "NamespaceDeletionContentFailure",
      false,
      "ContentDeleted",
      "All content successfully deleted, may be waiting on finalization",
    ),
    left.isAny
      ? condition(
          "NamespaceContentRemaining",
          true,
          "SomeResourcesRemain",
          `Some resources are remaining: ${left.objectsText}`,
        )
      : condition(
          "NamespaceContentRemaining",
          false,
          "ContentRemoved",
          "All content successfully removed",
        ),
    left.hasFinalizers
      ? condition(
          "NamespaceFinalizersRemaining",
          true,
          "SomeFinalizersRemain",
          `Some content in the namespace has finalizers remaining: ${left.finalizersText}`,
        )
      : condition(
          "NamespaceFinalizersRemaining",
          false,
          "ContentHasNoFinalizers",
          "All content-preserving finalizers finished",
        ),
  ];
  const { status } = namespace;
  const own = isJsonObject(status) ? status : {};
  const before = isJsonArray(own["conditions"]) ? own["conditions"].filter(isJsonObject) : [];
  const after = wanted.map((one) => {
    const old = before.find(({ type }) => type === one["type"]);
    const isSame = old?.["status"] === one["status"];
    const lastTransitionTime = isSame ? (old?.["lastTransitionTime"] ?? now) : now;
    return { ...one, lastTransitionTime };
  });
  const others = before.filter(({ type }) => !wanted.some((one) => one["type"] === type));
  const conditions = [...others, ...after];
  if (jsonEqual(conditions, before)) return undefined;
  return { ...namespace, status: { ...own, conditions } };
}

function condition(type: string, is: boolean, reason: string, message: string): JsonObject {
  return { type, status: is ? "True" : "False", reason, message };
}

/** The finalizers that a namespace carries in its spec. */
function spoken(namespace: JsonObject): readonly Json[] {
  const spec = memberOf(namespace, "spec");
  const finalizers = isJsonObject(spec) ? memberOf(spec, "finalizers") : undefined;
  return isJsonArray(finalizers) ? finalizers : [];
}

function withoutFinalizer(namespace: JsonObject): JsonObject | undefined {
  const finalizers = spoken(namespace);
  if (!finalizers.includes("kubernetes")) return undefined;
  const rest = finalizers.filter((name) => name !== "kubernetes");
  const spec = memberOf(namespace, "spec");
  const { finalizers: _, ...others } = isJsonObject(spec) ? spec : {};
  return { ...namespace, spec: rest.length === 0 ? others : { ...others, finalizers: rest } };
}
