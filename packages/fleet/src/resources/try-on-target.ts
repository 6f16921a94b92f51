// What a cluster says to a write that it is asked to try, and not to keep.

import { RestError, type Json, type JsonObject } from "@keelson/base";
import { UnknownKind, type Client, type DynamicObject, type ResourceClient } from "@keelson/client";
import { StatusError } from "@keelson/kube";
import type { States } from "../sql/diffs.ts";
import type { ClientPort } from "../targets/target-clients.ts";
import {
  checkScope,
  conflictsOf,
  isOurs,
  refOf,
  withoutValues,
  type FieldConflict,
} from "../worker/delivery-rules.ts";
import { desiredObject, fieldManager } from "../worker/desired-object.ts";
import { driftOf } from "../worker/drift.ts";
import { failureOf } from "../worker/failure.ts";
import { shapedLikeDesired } from "../worker/observation.ts";
import { keptManagedFields } from "../worker/owned-fields.ts";
import { targetPausedText } from "./conditions.ts";
import { diffOf } from "./diff.ts";
import type { Resource } from "./resource.ts";
import type { SecretMarkers } from "./secret-markers.ts";
import { compared } from "./shown-states.ts";

/** A write that was made and undone: the resource after it, and what the worker would do. */
export interface Trial {
  readonly op: "apply" | "delete" | "forget";
  readonly resource: Resource;
}

export interface TrialOptions {
  readonly clients: Pick<ClientPort, "clientOf">;
  readonly markers: SecretMarkers;
  readonly callTimeoutMs: number;
}

/** What is known of the resource as it is; undefined for a new one. */
export type KnownTrial = Trial & {
  readonly states: States | undefined;
  readonly isTargetPaused: boolean;
};

/** What the cluster would make of it. An alias, not an interface: only so is it JSON to the compiler. */
type Outcome = {
  readonly result: DynamicObject | null;
  readonly conflicts: readonly FieldConflict[];
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
};

/** Throws `TARGET_UNKNOWN`, `TARGET_UNREACHABLE` and, with the cluster's words, `TARGET_REFUSED`. */
export async function tryOnTarget(
  options: TrialOptions,
  trial: KnownTrial,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { clients, markers } = options;
  const { resource } = trial;
  const client = await clients.clientOf(resource.clusterId, signal);
  try {
    const timeoutMs = options.callTimeoutMs;
    const objects = await objectsOf(trial, client, signal);
    const live = await objects?.find({ ...refOf(resource, objects), timeoutMs }, signal);
    const { result, conflicts, warnings } =
      objects === undefined
        ? nothing
        : await attempts[trial.op](trial, { objects, live, timeoutMs }, signal);
    return {
      dry_run: true,
      result: result === null ? null : markers.hide(result, resource),
      diff: trial.op === "forget" ? [] : diffOf(compared(statesBefore(trial, live), markers)),
      conflicts,
      warnings: [...warnings, ...pausedWarning(trial)],
    };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw refusalOf(error, resource);
  }
}

/**
 * What is to be applied is so in its version; what is there, in any. Undefined: there is nothing of its kind, as that is served
 * in no version, or answered and never kept. A row of such a kind goes all the same, and so does one in a wrong place.
 */
async function objectsOf(
  { op, resource }: Trial,
  client: Client,
  signal: AbortSignal,
): Promise<ResourceClient | undefined> {
  if (op === "apply") {
    const objects = await client.resource(resource, signal);
    checkScope(resource, objects);
    return objects;
  }
  try {
    const kind = await client.kinds.resolveInAnyVersion(resource, signal);
    const objects = await client.resource(kind, signal);
    return objects.resource.verbs.includes("get") ? objects : undefined;
  } catch (error) {
    if (error instanceof UnknownKind) return undefined;
    throw error;
  }
}

interface Call {
  readonly objects: ResourceClient;
  readonly live: DynamicObject | undefined;
  readonly timeoutMs: number;
}

type Attempt = (trial: KnownTrial, call: Call, signal: AbortSignal) => Promise<Outcome>;

const attempts: Readonly<Record<Trial["op"], Attempt>> = {
  apply: tryApply,
  delete: tryDelete,
  forget: async (_trial, { live }) => ({ result: live ?? null, conflicts: [], warnings: [] }),
};

const nothing: Outcome = { result: null, conflicts: [], warnings: [] };

/** Without force first: so those are known from whom a field would be taken. */
async function tryApply(
  { resource }: KnownTrial,
  { objects, timeoutMs }: Call,
  signal: AbortSignal,
): Promise<Outcome> {
  const object = desiredObject(resource, objects.resource);
  const apply = (force: boolean): Promise<DynamicObject> =>
    objects.apply(object, { fieldManager, force, dryRun: true, timeoutMs }, signal);
  try {
    return { result: await apply(false), conflicts: [], warnings: [] };
  } catch (error) {
    const conflicts = conflictsOf(error);
    if (conflicts.length > 0) {
      if (resource.conflictPolicy === "force") {
        return { result: await apply(true), conflicts, warnings: [] };
      }
      const message = "the cluster would refuse it: others own some of its fields";
      return { result: null, conflicts, warnings: [{ code: "conflict", message }] };
    }
    const failure = failureOf(error);
    const isStuck = failure.about === "resource" && failure.errorClass === "immutable";
    if (!isStuck || resource.immutablePolicy !== "recreate") throw error;
    const { message } = withoutValues(failure, resource, error);
    const warning = { code: "recreate", message: `${message}: it would be deleted and made anew` };
    return { result: null, conflicts: [], warnings: [warning] };
  }
}

async function tryDelete(
  { resource, states }: KnownTrial,
  { objects, live, timeoutMs }: Call,
  signal: AbortSignal,
): Promise<Outcome> {
  if (live === undefined) return nothing;
  if (!isOurs(live, { resource, uid: states?.uid })) {
    const message = "the object in the cluster is not ours: it would stay";
    return { ...nothing, result: live, warnings: [{ code: "not_ours", message }] };
  }
  const { uid = "" } = live.metadata;
  const rest = await objects.delete(
    {
      ...refOf(resource, objects),
      preconditions: { uid },
      propagationPolicy: resource.propagation === "foreground" ? "Foreground" : "Background",
      dryRun: true,
      timeoutMs,
    },
    signal,
  );
  const finalizers = rest?.metadata.finalizers ?? [];
  if (rest === undefined || finalizers.length === 0) return nothing;
  const message = `finalizers hold it: ${finalizers.join(", ")}`;
  return { ...nothing, result: rest, warnings: [{ code: "finalizers", message }] };
}

/** The states as a difference takes them: what would be wanted, and what is in the cluster right now. */
function statesBefore(
  { op, resource, states }: KnownTrial,
  live: DynamicObject | undefined,
): States {
  const { applied, owned = [], uid } = states ?? { applied: undefined, uid: undefined };
  const absent = applied === undefined ? undefined : null;
  return {
    resource: { ...resource, isDeleting: op === "delete" },
    applied,
    owned,
    uid,
    current: live === undefined ? absent : shapedLikeDesired(live),
    managedFields: live === undefined ? [] : keptManagedFields(live),
    drift: live === undefined ? [] : driftOf(live, owned, fieldManager),
  };
}

function pausedWarning({ resource, isTargetPaused }: KnownTrial): Outcome["warnings"] {
  const { paused, clusterId } = resource;
  const itself = "it is paused: nothing is applied until it is resumed";
  return [
    ...(paused ? [{ code: "paused", message: itself }] : []),
    ...(isTargetPaused ? [{ code: "target_paused", message: targetPausedText(clusterId) }] : []),
  ];
}

/** Classes of failures that say nothing about the object: the cluster did not get to judge it. */
const unanswered: readonly string[] = ["throttled", "server", "timeout"];

function refusalOf(error: unknown, resource: Resource): unknown {
  if (error instanceof RestError) return error;
  const failure = failureOf(error);
  const { clusterId } = resource;
  if (failure.about === "target") {
    const message = `${clusterId} cannot be reached: ${failure.message}`;
    return new RestError("TARGET_UNREACHABLE", message, { cause: error });
  }
  if (failure.errorClass === "internal") return error;
  const { message, errorClass, httpStatus } = withoutValues(failure, resource, error);
  if (unanswered.includes(errorClass)) {
    const unreachable = `${clusterId} did not answer: ${message}`;
    return new RestError("TARGET_UNREACHABLE", unreachable, { cause: error });
  }
  const details: Record<string, Json> = { class: errorClass, http_status: httpStatus };
  const status = error instanceof StatusError ? error.status : undefined;
  const fields = (status?.details?.causes ?? []).flatMap(({ field, message: why }) =>
    field === undefined || resource.kind === "Secret" ? [] : [{ field, message: why ?? "" }],
  );
  if (fields.length > 0) details["fields"] = fields;
  return new RestError("TARGET_REFUSED", message, { cause: error, details });
}
