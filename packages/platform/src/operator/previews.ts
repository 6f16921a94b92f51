// The loop over PreviewEnvironments: each is an app that its parent describes, in a namespace of its own.

import { keyOf, refOf, type DynamicObject } from "@keelson/client";
import {
  done,
  requeueAfter,
  watches,
  type CachedResource,
  type Caches,
  type ObjectCache,
  type Reconciler,
  type Result,
  type Source,
} from "@keelson/controller";
import { timeFromMs } from "@keelson/kube";

import type { App } from "../app.ts";
import { previewKind, type PreviewSpec } from "../kinds/preview-environment.ts";
import { expiresAtMs, refreshAnnotation, refreshDueMs } from "../previews/expiry.ts";
import { cleanupNamespace, namespaceKind, reconcileNamespace } from "../previews/namespace-step.ts";
import { parentRef } from "../previews/preview-app.ts";
import { previewFinding } from "../previews/preview-finding.ts";
import { usualPreviewSettings } from "../previews/preview-namespace.ts";
import { SharedSecrets } from "../previews/shared-secrets.ts";
import type { AppPods } from "./app-pods.ts";
import { childKinds } from "./app-steps.ts";
import { laneKey } from "./calls.ts";
import { lookMs, runCleanup } from "./cleanup.ts";
import type { OperatorParts } from "./operator-parts.ts";
import type { OperatorSecrets } from "./operator-secrets.ts";
import { runPass } from "./pass.ts";
import { guardKinds, previewIndexes, previewSources } from "./preview-sources.ts";
import { hostOfApplication } from "./read-application.ts";
import { appOfPreview, leavingPreview, readPreview } from "./read-preview.ts";
import type { CachedSecretDigests } from "./secret-digests.ts";
import { finalizer, SeenObjects } from "./seen-objects.ts";
import { visits, type Visit } from "./visits.ts";

export interface PreviewsOptions {
  readonly parts: OperatorParts;
  readonly caches: Caches;
  /** The Applications of the cluster. */
  readonly parents: ObjectCache;
  /** Why a host is no preview's: an Application has asked for it. */
  readonly hostTakenBy: (host: string) => string | undefined;
  readonly pods: AppPods;
  readonly secrets: CachedSecretDigests;
  readonly operatorSecrets: OperatorSecrets;
}

/** Until a cache has heard of what we have just written; that brings us back sooner, too. */
const heardMs = 1_000;

/** The PreviewEnvironments of a cluster, seen to. */
export class Previews {
  readonly #parts: OperatorParts;
  readonly #options: PreviewsOptions;
  readonly #resource: CachedResource;
  readonly #shared: SharedSecrets;
  readonly #seen: SeenObjects;
  readonly reconcile: Reconciler;

  constructor(options: PreviewsOptions) {
    const { parts, caches } = options;
    this.#parts = parts;
    this.#options = options;
    this.#shared = new SharedSecrets({ caches, children: parts.children });
    const indexes = previewIndexes(parts.settings);
    this.#resource = caches.resource(previewKind, { indexes });
    const resource = this.#resource;
    this.#seen = new SeenObjects({ parts, resource, annotation: refreshAnnotation });
    this.reconcile = visits({
      parts,
      kind: previewKind,
      resource,
      seen: this.#seen,
      see: (visit, signal) => this.#see(visit, signal),
      end: (visit, signal) => this.#end(visit, signal),
    });
  }

  get cache(): CachedResource["cache"] {
    return this.#resource.cache;
  }

  /** What brings previews up. `called` are those whose service has a place for them. */
  sources(called: Source): readonly Source[] {
    const { parts, parents, pods, secrets, operatorSecrets } = this.#options;
    const { cache } = this.#resource;
    const kinds = [...guardKinds, ...childKinds(parts.settings, parts.steps)];
    return [
      watches(cache, (object) => [refOf(object)], { when: (change) => this.#seen.isNews(change) }),
      ...previewSources({
        previews: cache,
        parents,
        hostOf: (application) => hostOfApplication(application, parts.settings),
        children: kinds.map((kind) => parts.children.of(kind).cache),
        namespaces: parts.children.of(namespaceKind).cache,
        pods: pods.cache,
        secrets: secrets.cache,
        marked: this.#shared.cache,
        operatorSecrets,
      }),
      called,
    ];
  }

  async #see(visit: Visit, signal: AbortSignal): Promise<Result> {
    const { object, status } = visit;
    const read = readPreview(object);
    if ("problems" in read) {
      await this.#seen.refuse(visit, read.problems, signal);
      return done;
    }
    const { spec } = read;
    status.say({ expiresAt: this.#expiresAt(object, spec) });
    const { parents } = this.#options;
    const parentAt = parentRef(spec, object.metadata.namespace ?? "");
    await parents.untilSynced(signal);
    const parent = parents.get(parentAt);
    if (parent === undefined) {
      // What it has stays as it is until it expires: nobody says what it should be.
      const message = `Application ${keyOf(parentAt)} is not there`;
      const unready = { status: "False", reason: "ParentNotFound", message } as const;
      await this.#seen.sayUnready(visit, { unready }, signal);
      return this.#sooner(object, Infinity);
    }
    const made = appOfPreview(object, { spec, parent }, this.#parts.settings);
    if ("problems" in made) {
      await this.#seen.refuse(visit, made.problems, signal);
      return done;
    }
    // Before anything is made outside: from here on it cannot go without us.
    const held = await this.#resource.addFinalizer(object, finalizer, signal);
    if (held === undefined) return done;
    visit.object = held;
    visit.status = this.#seen.statusOf(held);
    const { app } = made;
    visit.status.say({ expiresAt: this.#expiresAt(object, spec) });
    return await this.#pass(visit, { app, spec, parent }, signal);
  }

  async #pass(
    { object, status }: Visit,
    given: { readonly app: App; readonly spec: PreviewSpec; readonly parent: DynamicObject },
    signal: AbortSignal,
  ): Promise<Result> {
    const { spec, parent } = given;
    const { client, children, settings } = this.#parts;
    // Everything has its place in the namespace: without it there is nothing to begin with.
    const step = { client, children, settings: { ...usualPreviewSettings, ...settings.previews } };
    const { namespace } = given.app;
    try {
      await reconcileNamespace(step, { app: given.app, ledger: status }, signal);
    } finally {
      // It may have become another preview's.
      const isOurs = status.stateOf("Namespace", namespace) === "Ready";
      status.say({ namespace: isOurs ? namespace : undefined });
    }
    const shared = await this.#shared.of(given.app, parent.metadata.namespace ?? "", signal);
    const copies = await this.#shared.copy(shared, signal);
    // What Secrets hold rolls the pods: a copy that was not heard of yet would roll them twice.
    if (!copies.every((copy) => this.#isHeard(copy))) return requeueAfter(heardMs);
    const { app, leftOut } = shared;
    const { uid = "", generation = 0 } = object.metadata;
    const result = await runPass(
      this.#parts,
      {
        key: laneKey(previewKind, refOf(object)),
        object,
        app,
        status,
        memory: this.#seen.memoryOf(object),
        stamp: JSON.stringify([uid, generation, parent.metadata.uid, parent.metadata.generation]),
        adopts: false,
        policy: "Delete",
        hostTakenBy: this.#options.hostTakenBy(app.names.domain),
        isCurrent: () => this.#isCurrent(object, parent),
        noted: (finding) =>
          previewFinding(finding, { hasParentImage: spec.imageRef === undefined, leftOut }),
      },
      signal,
    );
    if (result.type === "superseded") return requeueAfter(0);
    if (result.isComplete) this.#seen.noteReconciled(object);
    return this.#sooner(object, result.afterMs);
  }

  /** As an app goes; then its namespace, with whatever is in it. */
  async #end(visit: Visit, signal: AbortSignal): Promise<Result | undefined> {
    const { object, status } = visit;
    const { uid = "" } = object.metadata;
    const app = leavingPreview(object, this.#parts.settings);
    if (app === undefined) return undefined;
    const work = {
      key: laneKey(previewKind, refOf(object)),
      object,
      app,
      status,
      memory: this.#seen.memoryOf(object),
      stamp: JSON.stringify([uid, "leaving"]),
      policy: "Delete" as const,
    };
    const { isDone, afterMs } = await runCleanup(this.#parts, work, signal);
    if (!isDone) return requeueAfter(afterMs);
    const { left } = await cleanupNamespace(this.#parts, { app, ledger: status }, signal);
    if (left === undefined) return undefined;
    const unready = { status: "False", reason: "Terminating", message: left } as const;
    await this.#seen.sayUnready(visit, { unready, isLeaving: true }, signal);
    return requeueAfter(lookMs);
  }

  #expiresAt({ metadata }: DynamicObject, { ttl }: PreviewSpec): string | undefined {
    const { creationTimestamp, annotations = {} } = metadata;
    if (typeof creationTimestamp !== "string") return undefined;
    const aging = { creationTimestamp, refresh: annotations[refreshAnnotation], ttl };
    return timeFromMs(expiresAtMs(aging, this.#parts.clock.now()));
  }

  /** After so long, or when a refresh begins to count that is still in the future: its end is another then. */
  #sooner({ metadata }: DynamicObject, afterMs: number): Result {
    const nowMs = this.#parts.clock.now();
    const refresh = metadata.annotations?.[refreshAnnotation];
    const countsMs = refreshDueMs({ refresh }, nowMs);
    const waitMs = Math.min(afterMs, countsMs === undefined ? Infinity : countsMs - nowMs);
    return waitMs === Infinity ? done : requeueAfter(waitMs);
  }

  #isHeard(copy: DynamicObject): boolean {
    const heard = this.#options.secrets.cache.get(refOf(copy));
    return heard?.metadata.resourceVersion === copy.metadata.resourceVersion;
  }

  #isCurrent(object: DynamicObject, parent: DynamicObject): boolean {
    const { metadata } = this.#resource.cache.get(refOf(object)) ?? {};
    const { metadata: itsParent } = this.#options.parents.get(refOf(parent)) ?? {};
    return (
      metadata?.uid === object.metadata.uid &&
      metadata?.generation === object.metadata.generation &&
      metadata?.deletionTimestamp === undefined &&
      itsParent?.uid === parent.metadata.uid &&
      itsParent?.generation === parent.metadata.generation
    );
  }
}
