// Carries out one claim: brings an object to what is wanted, or takes it away, and records what came of it.

import type { Log, Random } from "@keelson/base";
import {
  isConflict,
  UnknownKind,
  type Client,
  type DynamicObject,
  type ResourceClient,
} from "@keelson/client";
import { isTransient, type Database } from "@keelson/database";
import { StatusError } from "@keelson/kube";
import type { Resource } from "../resources/resource.ts";
import { toResource, type ResourceRow } from "../sql/resources.ts";
import { storableVersion } from "../sql/storable.ts";
import {
  purgeDeleted,
  readClaimed,
  recordApplied,
  recordAppliedAlone,
  recordFailed,
  releaseClaim,
  releasePaused,
  settleWaiting,
  type Applied,
  type Held,
  type Recorded,
} from "../sql/work.ts";
import { checkScope, isOurs, refOf, withoutValues } from "./delivery-rules.ts";
import { desiredObject, fieldManager } from "./desired-object.ts";
import {
  failureOf,
  WrongScope,
  type Failure,
  type ResourceFailure,
  type TargetFailure,
} from "./failure.ts";
import { Gathering } from "./gathering.ts";
import type { WorkerMetrics } from "./metrics.ts";
import { ownedFields } from "./owned-fields.ts";

export interface DeliveryOptions {
  readonly database: Database;
  readonly client: Client;
  readonly limits: DeliveryLimits;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: WorkerMetrics;
}

export interface DeliveryLimits {
  /** The longest call to the cluster; below the lease of a claim. */
  readonly callTimeoutMs: number;
  readonly backoffMs: { readonly min: number; readonly max: number };
}

/** A claim, as the queue gave it. */
export interface Claim extends Held {
  /** How often work had been asked for when it was claimed. */
  readonly requests: string;
  /** How many attempts in a row failed before. */
  readonly attempts: number;
}

/** What came of a claim. */
export interface CarriedOut {
  /** It was the target's trouble that stopped it; nothing is recorded of the resource then. */
  readonly trouble?: TargetFailure;
  /** Whether something is left to do for the resource, now or later. */
  readonly isLeft: boolean;
  /** Whether whoever watches the target has something to do: a row waits for what it can see, or is gone. */
  readonly isForWatcher?: boolean;
}

/** Two at once: one that is slow keeps nobody else. */
const recordLimits = { atOnceMax: 2, togetherMax: 32 } as const;

/** What the cluster has done is recorded, whoever has stopped listening. */
const uncancelled = new AbortController().signal;

const done: CarriedOut = { isLeft: false };
const left: CarriedOut = { isLeft: true };

/** What is known of the object that a claim is about. */
export interface Known {
  readonly resource: Resource;
  /** Why its spec cannot be read, which is empty then; undefined if it can. */
  readonly unreadable: Error | undefined;
  /** By itself, or with its target. */
  readonly isPaused: boolean;
  /** The uid of what we applied; undefined if nothing is recorded. */
  readonly uid: string | undefined;
  /** The row of the same key that is still being deleted. */
  readonly predecessorId: number | undefined;
}

/**
 * Works for one target. No transaction is open while the cluster is called: what a call did is recorded only under the
 * fence of its claim, and a claim that was lost records nothing. Whoever comes after a crash does it again, or finds
 * it done.
 */
export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #records: Gathering<Applied, Recorded>;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    const { database } = options;
    this.#records = new Gathering({
      together: async (all) => {
        const rows = await database.run(recordApplied, all, uncancelled);
        const outcomes = new Map(rows.map((row) => [row.id, row]));
        return all.map(({ id }) => outcomes.get(id));
      },
      alone: async (applied) => {
        const [outcome] = await database.run(recordAppliedAlone, applied, uncancelled);
        return outcome ?? { recorded: false, is_left: true };
      },
      ...recordLimits,
    });
  }

  /** What is known now of those claims that still hold, by the row's id: to be read just before they are carried out. */
  async read(claims: readonly Claim[], signal: AbortSignal): Promise<ReadonlyMap<number, Known>> {
    const rows = await this.#options.database.run(readClaimed, claims, signal);
    return new Map(
      rows.map((row) => [
        row.id,
        {
          ...readResource(row),
          isPaused: row.paused || row.is_target_paused,
          uid: row.applied_uid ?? undefined,
          predecessorId: row.predecessor_id ?? undefined,
        },
      ]),
    );
  }

  async carryOut(claim: Claim, known: Known | undefined, signal: AbortSignal): Promise<CarriedOut> {
    if (known === undefined) return done; // Gone, or another's by now.
    const { resource } = known;
    if (known.isPaused) {
      const release = resource.paused ? releasePaused : releaseClaim;
      await this.#options.database.run(release, claim, signal);
      return left; // It may have been resumed by now.
    }
    try {
      return resource.isDeleting
        ? await this.#delete(claim, known, signal)
        : await this.#apply(claim, known, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (isTransient(error)) throw error; // Of a database that is away nothing can be recorded.
      return await this.#failed(claim, resource, error, signal);
    }
  }

  async #apply(claim: Claim, known: Known, signal: AbortSignal): Promise<CarriedOut> {
    const { metrics, limits, log } = this.#options;
    const { resource, unreadable, predecessorId } = known;
    if (unreadable !== undefined) throw unreadable;
    if (predecessorId !== undefined) {
      // Its object is still there, and its deletion would take ours along. Its end makes us due.
      const message = `resource ${predecessorId}, its predecessor, is still being deleted`;
      return await this.#wait(claim, { message, isSentAway: false }, signal);
    }
    const objects = await this.#objects(resource, signal);
    checkScope(resource, objects);
    const object = desiredObject(resource, objects.resource);
    const { callTimeoutMs: timeoutMs } = limits;
    const force = resource.conflictPolicy === "force";
    let applied: DynamicObject;
    try {
      applied = await objects.apply(object, { fieldManager, force, timeoutMs }, signal);
    } catch (error) {
      const failure = failureOf(error);
      const isStuck = failure.about === "resource" && failure.errorClass === "immutable";
      if (!isStuck || resource.immutablePolicy !== "recreate") throw error;
      const told = withoutValues(failure, resource, error);
      return await this.#makeWay(claim, known, { objects, failure: told }, signal);
    }
    const { desiredSpec, generation, revision } = resource;
    const owned = ownedFields(applied, fieldManager).map((field) => ({ ...field }));
    const outcome = await this.#records.run({
      ...claim,
      desiredSpec,
      generation,
      revision,
      uid: applied.metadata.uid ?? "",
      resourceVersion: storableVersion(applied.metadata.resourceVersion ?? ""),
      isEnding: applied.metadata.deletionTimestamp !== undefined,
      owned,
    });
    if (!outcome.recorded) {
      metrics.staleWrites.add();
      return left; // Another has it, or had it: when it is free again, the table says.
    }
    const { id: resource_id, clusterId: cluster_id } = resource;
    metrics.applied.add({ cluster_id, result: "success", class: "" });
    log.debug({ resource_id, cluster_id, generation, revision }, "applied");
    return outcome.is_left ? left : done;
  }

  /** What cannot be changed is deleted, and made anew once it is gone. */
  async #makeWay(
    claim: Claim,
    known: Known,
    { objects, failure }: { objects: ResourceClient; failure: ResourceFailure },
    signal: AbortSignal,
  ): Promise<CarriedOut> {
    const { resource } = known;
    const found = await objects.find(refOf(resource, objects), signal);
    if (found !== undefined && !isOurs(found, known)) {
      return await this.#recordFailure(claim, resource, failure, signal);
    }
    // What is deleted does not come back as it was: it must still be wanted.
    const now = (await this.read([claim], signal)).get(claim.id);
    if (now === undefined || now.isPaused || !isStillWanted(now.resource, resource)) {
      return await this.carryOut(claim, now, signal);
    }
    const rest =
      found === undefined ? undefined : await this.#takeAway(objects, found, resource, signal);
    const message = `${failure.message}; it is deleted and made anew: ${remainsText(rest)}`;
    return await this.#wait(claim, { message, isSentAway: found !== undefined }, signal);
  }

  async #delete(claim: Claim, known: Known, signal: AbortSignal): Promise<CarriedOut> {
    const { resource } = known;
    let objects = await this.#served(resource, signal);
    if (objects === undefined) return await this.#purge(claim, "KindNotServed", signal);
    // Of what is answered and never kept there is nothing to find: it was declared, and refused.
    const isKept = objects.resource.verbs.includes("get");
    if (!isKept && known.uid === undefined) {
      return await this.#purge(claim, "NeverApplied", signal);
    }
    let found = await objects.find(refOf(resource, objects), signal);
    if (found === undefined && !isLasting(resource)) {
      // With its kind everything of it has gone, but not with its version. What we know of kinds may be from before that.
      this.#options.client.kinds.invalidate();
      const before = objects.resource.apiVersion;
      objects = await this.#served(resource, signal);
      if (objects === undefined) return await this.#purge(claim, "KindNotServed", signal);
      const isMoved = objects.resource.apiVersion !== before;
      found = isMoved ? await objects.find(refOf(resource, objects), signal) : undefined;
    }
    if (found === undefined) return this.#purge(claim, "Deleted", signal);
    if (!isOurs(found, known)) return this.#purge(claim, "NotOurs", signal);
    const rest = await this.#takeAway(objects, found, resource, signal);
    if (rest === undefined) return this.#purge(claim, "Deleted", signal);
    return await this.#wait(claim, { message: remainsText(rest), isSentAway: true }, signal);
  }

  /** In whichever version: an object has them all. Undefined if its kind is served in none. */
  async #served(kind: Resource, signal: AbortSignal): Promise<ResourceClient | undefined> {
    const { client } = this.#options;
    try {
      return await client.resource(await client.kinds.resolveInAnyVersion(kind, signal), signal);
    } catch (error) {
      if (error instanceof UnknownKind) return undefined;
      throw error;
    }
  }

  /** Gives the claim back: there is nothing to do but to wait. */
  async #wait(
    claim: Claim,
    why: { readonly message: string; readonly isSentAway: boolean },
    signal: AbortSignal,
  ): Promise<CarriedOut> {
    const retryMs = this.#retryMs(claim.attempts, undefined);
    await this.#options.database.run(settleWaiting, { ...claim, ...why, retryMs }, signal);
    return left;
  }

  /** Deletes it unless that was done before. What is left of it, undefined once it is gone. */
  async #takeAway(
    objects: ResourceClient,
    object: DynamicObject,
    resource: Resource,
    signal: AbortSignal,
  ): Promise<DynamicObject | undefined> {
    return object.metadata.deletionTimestamp === undefined
      ? await this.#deleteObject(objects, object, resource, signal)
      : object;
  }

  /** With its uid: an object that somebody else made meanwhile survives. Undefined once it is gone. */
  async #deleteObject(
    objects: ResourceClient,
    object: DynamicObject,
    resource: Resource,
    signal: AbortSignal,
  ): Promise<DynamicObject | undefined> {
    const { uid = "" } = object.metadata;
    try {
      return await objects.delete(
        {
          ...refOf(resource, objects),
          preconditions: { uid },
          propagationPolicy: resource.propagation === "foreground" ? "Foreground" : "Background",
          timeoutMs: this.#options.limits.callTimeoutMs,
        },
        signal,
      );
    } catch (error) {
      if (isConflict(error)) return undefined; // It is another by now.
      throw error;
    }
  }

  async #purge(claim: Claim, reason: string, signal: AbortSignal): Promise<CarriedOut> {
    await this.#options.database.run(purgeDeleted, { ...claim, reason }, signal);
    return { ...done, isForWatcher: true };
  }

  async #failed(
    claim: Claim,
    resource: Resource,
    error: unknown,
    signal: AbortSignal,
  ): Promise<CarriedOut> {
    const failure = judged(error, resource);
    if (failure.about === "target") {
      await this.#options.database.run(releaseClaim, claim, signal);
      return { trouble: failure, isLeft: true };
    }
    const { id: resource_id, clusterId: cluster_id } = resource;
    const message = "an attempt failed as nobody has foreseen";
    if (failure === unforeseen)
      this.#options.log.error({ error, resource_id, cluster_id }, message);
    try {
      return await this.#recordFailure(claim, resource, failure, signal);
    } catch (refused) {
      if (isTransient(refused) || failure === unforeseen) throw refused;
      // It says what no column holds: a wait beyond all bounds, say.
      this.#options.log.error({ error: refused, resource_id, cluster_id }, message);
      return await this.#recordFailure(claim, resource, unforeseen, signal);
    }
  }

  async #recordFailure(
    claim: Claim,
    { generation, clusterId, id }: Resource,
    failure: ResourceFailure,
    signal: AbortSignal,
  ): Promise<CarriedOut> {
    const { database, metrics, log } = this.#options;
    const { errorClass } = failure;
    const retryMs = this.#retryMs(claim.attempts, failure.afterMs);
    const [outcome] = await database.run(
      recordFailed,
      { ...claim, generation, failure, retryMs },
      signal,
    );
    if (outcome?.recorded !== true) {
      metrics.staleWrites.add();
      return left;
    }
    metrics.applied.add({ cluster_id: clusterId, result: "error", class: errorClass });
    log.info(
      { resource_id: id, cluster_id: clusterId, generation, class: errorClass },
      "an attempt failed",
    );
    const isMissing = errorClass === "no-kind" || errorClass === "no-namespace";
    return { ...left, isForWatcher: isMissing && outcome.is_news };
  }

  /** Twice as long after each failure, a fifth more or less by chance, and never sooner than the server said. */
  #retryMs(attempts: number, afterMs: number | undefined): number {
    const { random, limits } = this.#options;
    const { min, max } = limits.backoffMs;
    const waitMs = Math.min(max, min * 2 ** Math.min(attempts, 30));
    return Math.max(afterMs ?? 0, waitMs * (0.8 + 0.4 * random.float()));
  }

  async #objects({ apiVersion, kind }: Resource, signal: AbortSignal): Promise<ResourceClient> {
    return this.#options.client.resource({ apiVersion, kind }, signal);
  }
}

/** Whether what was to be made anew is to be so now. */
function isStillWanted(now: Resource, { generation, immutablePolicy }: Resource): boolean {
  return now.generation === generation && now.immutablePolicy === immutablePolicy;
}

/** Whether its kind is served in its version for as long as there is the cluster: a stable one of Kubernetes' own. */
function isLasting({ apiVersion }: Resource): boolean {
  return /^(?:[a-z]+\/)?v\d+$/.test(apiVersion);
}

/** One that cannot be read keeps no other of its batch from being carried out, nor its own deletion. */
function readResource(row: ResourceRow): Pick<Known, "resource" | "unreadable"> {
  try {
    return { resource: toResource(row), unreadable: undefined };
  } catch (cause) {
    const unreadable = new TypeError("its spec cannot be read", { cause });
    return { resource: toResource({ ...row, desired_spec: "{}" }), unreadable };
  }
}

function remainsText(rest: DynamicObject | undefined): string {
  const { finalizers = [] } = rest?.metadata ?? {};
  return finalizers.length === 0
    ? "the cluster has not let it go yet"
    : `finalizers hold it: ${finalizers.join(", ")}`;
}

/** What cannot be told is a failure all the same: given back without a wait, the claim would be carried out again at once. */
const unforeseen: ResourceFailure = {
  about: "resource",
  errorClass: "internal",
  message: "something went wrong that nobody has foreseen: the log of the worker says more",
  httpStatus: null,
  afterMs: undefined,
};

function judged(error: unknown, resource: Resource): Failure {
  if (!isOfCluster(error)) return unforeseen; // Its message may say anything.
  try {
    const failure = failureOf(error);
    return failure.about === "target" ? failure : withoutValues(failure, resource, error);
  } catch {
    return unforeseen; // An answer that is in no form of Kubernetes.
  }
}

/** Whether it came from talking to the cluster, and not from our own database or code. */
function isOfCluster(error: unknown): boolean {
  if (error instanceof WrongScope || error instanceof StatusError) return true;
  const { code } = error as { code?: unknown };
  return typeof code === "string" && clusterCodes.has(code);
}

const clusterCodes = new Set([
  "BAD_KUBECONFIG",
  "CONNECTION_FAILED",
  "DEADLINE_EXCEEDED",
  "CLIENT_BUSY",
  "UNEXPECTED_ANSWER",
  "UNKNOWN_KIND",
  "GROUP_UNAVAILABLE",
]);
