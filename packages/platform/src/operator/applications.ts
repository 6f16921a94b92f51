// The loop over Applications: what brings one up, and what is then done with it.

import {
  keyOf,
  refOf,
  retryAfterMsOf,
  type DynamicObject,
  type ObjectKind,
  type ObjectRef,
} from "@keelson/client";
import {
  done,
  requeueAfter,
  watches,
  watchesOwned,
  type CachedResource,
  type Caches,
  type Change,
  type Reconciler,
  type Result,
  type Source,
} from "@keelson/controller";

import { application, type ApplicationSpec } from "../kinds/application.ts";
import { platformGroup } from "../kinds/platform-group.ts";
import { appLabel } from "../children/child.ts";
import { workloadKinds } from "../steps/workload-step.ts";
import { isTelling, type AppPods } from "./app-pods.ts";
import { runCleanup } from "./cleanup.ts";
import { Hosts } from "./hosts.ts";
import { laneKey } from "./calls.ts";
import { ObjectGone } from "./object-status.ts";
import type { OperatorParts } from "./operator-parts.ts";
import type { OperatorSecrets } from "./operator-secrets.ts";
import { runPass } from "./pass.ts";
import { hostOfApplication, leavingApplication, readApplication } from "./read-application.ts";
import { retryWaitMs } from "./retry.ts";
import { secretsOf, type CachedSecretDigests } from "./secret-digests.ts";
import { finalizer, SeenObjects } from "./seen-objects.ts";
import { unawaited } from "./unawaited.ts";

const adoptAnnotation = `${platformGroup}/adopt`;

export const applicationKind: ObjectKind = {
  apiVersion: `${application.group}/${application.version}`,
  kind: application.kind,
};

export interface ApplicationsOptions {
  readonly parts: OperatorParts;
  readonly caches: Caches;
  readonly pods: AppPods;
  readonly secrets: CachedSecretDigests;
  readonly operatorSecrets: OperatorSecrets;
}

const bySecret = "secret";

/** What an Application asks for, be it right or not. */
type Wishes = Partial<ApplicationSpec>;

/** The Applications of a cluster, seen to. */
export class Applications {
  readonly #parts: OperatorParts;
  readonly #options: ApplicationsOptions;
  readonly #resource: CachedResource;
  readonly #hosts: Hosts;
  readonly #seen: SeenObjects;

  constructor(options: ApplicationsOptions) {
    const { parts, caches } = options;
    this.#parts = parts;
    this.#options = options;
    this.#resource = caches.resource(applicationKind, { indexes: { [bySecret]: secretsOf } });
    const resource = this.#resource;
    this.#seen = new SeenObjects({ parts, resource, annotation: adoptAnnotation });
    this.#hosts = new Hosts(this.#resource.cache, (object) =>
      hostOfApplication(object, parts.settings),
    );
  }

  get cache(): CachedResource["cache"] {
    return this.#resource.cache;
  }

  /** Why a host is nobody else's: an Application asks for it. */
  claimOn(host: string): string | undefined {
    return this.#hosts.claimOn(host);
  }

  /** What brings Applications up. `called` are those whose service has a place for them. */
  sources(called: Source): readonly Source[] {
    const { parts, pods, secrets, operatorSecrets } = this.#options;
    const { cache } = this.#resource;
    const kinds = [
      ...workloadKinds(parts.settings),
      ...parts.steps.forward.flatMap((step) => step.kinds),
      { apiVersion: "v1", kind: "Secret" },
      { apiVersion: "v1", kind: "ConfigMap" },
    ];
    const own = watches(cache, (object) => [refOf(object)], {
      when: (it) => this.#seen.isNews(it),
    });
    const rivals = watches(cache, (object) => this.#hosts.rivalsOf(object), {
      when: (change) => this.#movesHosts(change),
    });
    return [
      own,
      rivals,
      ...kinds.map((kind) =>
        unawaited(watchesOwned(parts.children.of(kind).cache, applicationKind)),
      ),
      watches(pods.cache, appOfPod, { when: isTelling }),
      watches(secrets.cache, (secret) =>
        [...cache.byIndex(bySecret, keyOf(refOf(secret)))].map(refOf),
      ),
      watches(operatorSecrets.cache, (secret) =>
        [...cache.list()]
          .filter(({ spec }) => operatorSecrets.isUsedBy(secret, (spec ?? {}) as Wishes))
          .map(refOf),
      ),
      called,
    ];
  }

  readonly reconcile: Reconciler = async (ref, signal) => {
    const key = keyOf(ref);
    using _run = this.#parts.lanes.begin(laneKey(applicationKind, ref));
    const object = await this.#resource.find(ref, signal);
    if (object === undefined) {
      this.#seen.forget(key);
      return done;
    }
    const memory = this.#seen.memoryOf(object);
    try {
      const result = await this.#see(object, signal);
      memory.failures = 0;
      return result;
    } catch (error) {
      signal.throwIfAborted();
      // Its end, or another of its name, is on the way to us.
      if (error instanceof ObjectGone) return done;
      const { random, log } = this.#parts;
      const attempts = (memory.failures += 1);
      const retryAfterMs = retryAfterMsOf(error);
      const waitMs = retryWaitMs({ reason: "Unreachable", attempts, retryAfterMs }, random);
      log.warn({ app: key, attempts, waitMs, error }, "an app could not be seen to");
      return requeueAfter(waitMs);
    }
  };

  async #see(object: DynamicObject, signal: AbortSignal): Promise<Result> {
    if (object.metadata.deletionTimestamp !== undefined) return await this.#end(object, signal);
    const { settings } = this.#parts;
    const read = readApplication(object, settings);
    if (!("app" in read)) return await this.#refuse(object, read.problems, signal);
    const { app } = read;
    // Before anything is made outside: from here on it cannot go without us.
    const held = await this.#resource.addFinalizer(object, finalizer, signal);
    const { uid = "", generation = 0, annotations = {} } = held.metadata;
    const ref = refOf(held);
    const isCurrent = () => {
      const { metadata } = this.#resource.cache.get(ref) ?? {};
      return (
        metadata?.uid === uid &&
        metadata.generation === generation &&
        metadata.deletionTimestamp === undefined
      );
    };
    const result = await runPass(
      this.#parts,
      {
        key: laneKey(applicationKind, ref),
        object: held,
        app,
        status: this.#seen.statusOf(held),
        memory: this.#seen.memoryOf(held),
        stamp: JSON.stringify([uid, generation, annotations[adoptAnnotation]]),
        adopts: annotations[adoptAnnotation] === "true",
        policy: app.spec.deletionPolicy,
        hostTakenBy: this.#hosts.takenBy(held),
        isCurrent,
      },
      signal,
    );
    if (result.type === "superseded") return requeueAfter(0);
    if (result.isComplete) this.#seen.noteReconciled(held);
    return result.afterMs === Infinity ? done : requeueAfter(result.afterMs);
  }

  /** What cannot be is said, and waits for a change. Nothing is made for it. */
  async #refuse(
    object: DynamicObject,
    problems: readonly string[],
    signal: AbortSignal,
  ): Promise<Result> {
    const status = this.#seen.statusOf(object);
    const message = problems.join("; ");
    const unready = { status: "False", reason: "InvalidSpec", message } as const;
    status.say({ url: undefined });
    await this.#seen.sayUnready({ object, status }, { phase: "Failed", unready }, signal);
    return done;
  }

  async #end(object: DynamicObject, signal: AbortSignal): Promise<Result> {
    const { settings, happenings } = this.#parts;
    const { uid = "", finalizers = [] } = object.metadata;
    if (!finalizers.includes(finalizer)) return done;
    const app = leavingApplication(object, settings);
    if (app !== undefined) {
      const work = {
        key: laneKey(applicationKind, refOf(object)),
        object,
        app,
        status: this.#seen.statusOf(object),
        memory: this.#seen.memoryOf(object),
        stamp: JSON.stringify([uid, "leaving"]),
        policy: app.spec.deletionPolicy,
      };
      const { isDone, afterMs } = await runCleanup(this.#parts, work, signal);
      if (!isDone) return requeueAfter(afterMs);
    }
    await this.#resource.removeFinalizer(object, finalizer, signal);
    this.#seen.forget(keyOf(refOf(object)));
    happenings.tell(object, "CleanedUp", `nothing of ${object.metadata.name ?? ""} is left`);
    return done;
  }

  #movesHosts(change: Change): boolean {
    if (change.type !== "updated") return change.type === "deleted"; // Who comes later has no claim.
    return this.#hosts.hostOf(change.object) !== this.#hosts.hostOf(change.previous);
  }
}

/** By the labels of its pods; those of a preview lead to nobody. */
function appOfPod({ metadata: { namespace = "", labels = {} } }: DynamicObject): ObjectRef[] {
  const name = labels[appLabel];
  return name === undefined ? [] : [{ namespace, name }];
}
