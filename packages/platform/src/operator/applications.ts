// The loop over Applications: what brings one up, and what is then done with it.

import { keyOf, refOf, type ObjectKind } from "@keelson/client";
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
import { appOfPod, isTelling, type AppPods } from "./app-pods.ts";
import { childKinds } from "./app-steps.ts";
import { runCleanup } from "./cleanup.ts";
import { Hosts } from "./hosts.ts";
import { laneKey } from "./calls.ts";
import type { OperatorParts } from "./operator-parts.ts";
import type { OperatorSecrets } from "./operator-secrets.ts";
import { runPass } from "./pass.ts";
import { hostOfApplication, leavingApplication, readApplication } from "./read-application.ts";
import { secretsOf, type CachedSecretDigests } from "./secret-digests.ts";
import { finalizer, SeenObjects } from "./seen-objects.ts";
import { unawaited } from "./unawaited.ts";
import { visits, type Visit } from "./visits.ts";

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
  readonly reconcile: Reconciler;

  constructor(options: ApplicationsOptions) {
    const { parts, caches } = options;
    this.#parts = parts;
    this.#options = options;
    this.#resource = caches.resource(applicationKind, { indexes: { [bySecret]: secretsOf } });
    const resource = this.#resource;
    this.#seen = new SeenObjects({ parts, resource, annotation: adoptAnnotation });
    const { access, publicUrl } = parts.settings.auth;
    this.#hosts = new Hosts(resource.cache, {
      hostOf: (object) => hostOfApplication(object, parts.settings),
      loginUrl: access === undefined ? undefined : publicUrl,
    });
    this.reconcile = visits({
      parts,
      kind: applicationKind,
      resource,
      seen: this.#seen,
      see: (visit, signal) => this.#see(visit, signal),
      end: (visit, signal) => this.#end(visit, signal),
    });
  }

  get cache(): CachedResource["cache"] {
    return this.#resource.cache;
  }

  /** Why a host is nobody else's: an Application asks for it, or people log in there. */
  claimOn(host: string): string | undefined {
    return this.#hosts.claimOn(host);
  }

  /** What brings Applications up. `called` are those whose service has a place for them. */
  sources(called: Source): readonly Source[] {
    const { parts, pods, secrets, operatorSecrets } = this.#options;
    const { cache } = this.#resource;
    const kinds = childKinds(parts.settings, parts.steps);
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

  async #see(visit: Visit, signal: AbortSignal): Promise<Result> {
    const { object } = visit;
    const read = readApplication(object, this.#parts.settings);
    if (!("app" in read)) {
      visit.status.say({ url: undefined });
      await this.#seen.refuse(visit, read.problems, signal);
      return done;
    }
    const { app } = read;
    // Before anything is made outside: from here on it cannot go without us.
    const held = await this.#resource.addFinalizer(object, finalizer, signal);
    if (held === undefined) return done;
    visit.object = held;
    visit.status = this.#seen.statusOf(held);
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
        status: visit.status,
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

  async #end({ object, status }: Visit, signal: AbortSignal): Promise<Result | undefined> {
    const { uid = "" } = object.metadata;
    const app = leavingApplication(object, this.#parts.settings);
    if (app === undefined) return undefined;
    const work = {
      key: laneKey(applicationKind, refOf(object)),
      object,
      app,
      status,
      memory: this.#seen.memoryOf(object),
      stamp: JSON.stringify([uid, "leaving"]),
      policy: app.spec.deletionPolicy,
    };
    const { isDone, afterMs } = await runCleanup(this.#parts, work, signal);
    return isDone ? undefined : requeueAfter(afterMs);
  }

  #movesHosts(change: Change): boolean {
    if (change.type !== "updated") return change.type === "deleted"; // Who comes later has no claim.
    return this.#hosts.hostOf(change.object) !== this.#hosts.hostOf(change.previous);
  }
}
