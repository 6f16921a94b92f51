// Deletion: one state machine, each step one transaction (KB 34–37).

import { cloneJson, type JsonObject, type MutableJsonObject } from "@keelson/base";
import { failures, timeFromMs, type RuleContext } from "@keelson/kube";
import { Body, Conflict, NotFound, type Row } from "@keelson/store";

import { inStoredOrder, objectWithRevision } from "../encoding/stored-text.ts";
import {
  deletionGraceOf,
  finalizersOf,
  isTerminating,
  metadataNumber,
  metadataText,
  ownMetadata,
} from "../object-metadata.ts";
import type { Resource } from "../resources/resource.ts";
import type { DeleteOptions } from "./delete-options.ts";
import { deletionRule, type DeletionRule } from "./deletion-rules.ts";
import {
  admissionRequest,
  effectsOf,
  groupResource,
  keyOf,
  ruleContext,
  storageOf,
  type WriteRequest,
  type Writing,
  type Written,
} from "./write-request.ts";

export interface Deleted extends Written {
  readonly uid: string;
  /** Whether the object is gone; otherwise something still holds it. */
  readonly isGone: boolean;
  /** Whether nothing happened because its deletion waits already. */
  readonly isPending: boolean;
}

/** Deletes an object, or begins to. Tries again for as long as only others' writes are in the way. */
export async function deleteObject(
  writing: Writing,
  request: WriteRequest,
  options: DeleteOptions,
  signal: AbortSignal,
): Promise<Deleted> {
  const { resource, name } = request;
  const { orphanWarning } = deletionRule(storageOf(resource));
  const isSaid = options.propagationPolicy !== undefined || options.orphanDependents !== undefined;
  if (orphanWarning !== undefined && !isSaid) request.warn(orphanWarning);
  for (;;) {
    signal.throwIfAborted();
    try {
      const row = await writing.store.get(keyOf(request), signal);
      return await deleteOnce(writing, request, { options, row }, signal);
    } catch (error) {
      if (error instanceof NotFound) throw failures.notFound(groupResource(resource), name);
      if (!(error instanceof Conflict)) throw error;
    }
  }
}

async function deleteOnce(
  writing: Writing,
  request: WriteRequest,
  { options, row }: { readonly options: DeleteOptions; readonly row: Row },
  signal: AbortSignal,
): Promise<Deleted> {
  const { resource } = request;
  const rule = deletionRule(storageOf(resource));
  const live = objectWithRevision(resource.model.fromStored(row.body.value), row.revision);
  checkPreconditions(resource, live, options);
  rule.check?.(live);

  const admitted = admissionRequest(request, "DELETE", { object: undefined, old: live });
  await writing.admission.admit(admitted, signal);
  await writing.admission.validate(admitted, signal);

  const key = keyOf(request);
  const expect = { revision: row.revision };
  const context = ruleContext(writing);
  const step = nextStep(resource, { live, options, rule }, { context, nowMs: writing.clock.now() });
  const { uid } = row;
  if (step.type === "wait") {
    return { body: row.body, revision: row.revision, uid, isGone: false, isPending: true };
  }
  if (step.type === "mark") {
    const body = Body.of(inStoredOrder(resource.model.toStored(step.object)));
    if (options.isDryRun) {
      return { body, revision: row.revision, uid, isGone: false, isPending: false };
    }
    const stored = await writing.store.update(key, { body, expect }, signal);
    return {
      body: stored.body,
      revision: stored.revision,
      uid,
      isGone: false,
      isPending: false,
    };
  }
  if (options.isDryRun) {
    return { body: row.body, revision: row.revision, uid, isGone: true, isPending: false };
  }
  const final =
    step.object === undefined
      ? {}
      : { final: Body.of(inStoredOrder(resource.model.toStored(step.object))) };
  const gone = await writing.store.delete(key, { expect, ...final }, signal);
  effectsOf(writing, resource).afterDelete?.(live);
  return { body: gone.body, revision: gone.revision, uid, isGone: true, isPending: false };
}

function checkPreconditions(resource: Resource, live: JsonObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = options;
  const about = { group: resource.group, resource: resource.kind };
  const name = metadataText(live, "name");
  if (uid !== undefined && uid !== metadataText(live, "uid")) {
    throw failures.conflict(
      about,
      name,
      `the UID in the precondition (${uid}) does not match the UID in record (${metadataText(live, "uid")}). The object might have been deleted and then recreated`,
    );
  }
  const actual = metadataText(live, "resourceVersion");
  if (resourceVersion !== undefined && resourceVersion !== actual) {
    throw failures.conflict(
      about,
      name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${actual}). The object might have been modified`,
    );
  }
}

type Step =
  /** Its deletion is already under way, and this request does not hasten it. */
  | { readonly type: "wait" }
  /** It stays, marked. */
  | { readonly type: "mark"; readonly object: MutableJsonObject }
  /** It goes, in its last state if that differs. */
  | { readonly type: "remove"; readonly object: MutableJsonObject | undefined };

interface Subject {
  readonly live: JsonObject;
  readonly options: DeleteOptions;
  readonly rule: DeletionRule;
}

interface Moment {
  readonly context: RuleContext;
  readonly nowMs: number;
}

function nextStep(resource: Resource, subject: Subject, moment: Moment): Step {
  const { live, options, rule } = subject;
  const finalizers = deletionFinalizers(resource, live, options);
  if (rule.graceSeconds !== undefined) {
    const step = gracefulStep(subject, { ...moment, finalizers });
    if (step !== undefined) return step;
  }
  const object = cloneJson(live);
  setFinalizers(object, finalizers);
  if (isTerminating(live) && rule.isHeld?.(live) === true && rule.begin !== undefined) {
    // What holds it was told when the deletion was first asked for.
    return { type: "mark", object };
  }
  if (rule.isHeld?.(live) === true || finalizers.length > 0) {
    markDeleting(object, moment, rule);
    if (!isTerminating(live)) rule.begin?.(object, moment.context);
    return { type: "mark", object };
  }
  return { type: "remove", object: undefined };
}

/** For kinds that are given time: only a shorter grace changes anything once deletion is under way. */
function gracefulStep(
  { live, options, rule }: Subject,
  { nowMs, finalizers }: Moment & { readonly finalizers: readonly string[] },
): Step | undefined {
  const current = deletionGraceOf(live);
  if (isTerminating(live)) {
    if (Number(current) === 0) return undefined;
    const sent = options.gracePeriodSeconds;
    const asked = sent !== undefined && sent < 0 ? 1 : sent;
    if (asked === undefined || asked >= current) return { type: "wait" };
    const began = Date.parse(metadataText(live, "deletionTimestamp")) - durationMs(current);
    const wanted = began + durationMs(asked);
    const isPast = wanted < nowMs;
    const seconds = isPast && asked > 0 ? 1 : asked;
    return gracefully(live, finalizers, { seconds, atMs: isPast ? nowMs : wanted });
  }
  const seconds = rule.graceSeconds?.(live, options);
  if (seconds === undefined) return undefined;
  return gracefully(live, finalizers, {
    seconds,
    atMs: nowMs + durationMs(seconds),
    isFirst: true,
  });
}

/** As Go counts a time of so many seconds, in 64 bits of nanoseconds: one that is too long begins anew. */
function durationMs(seconds: number | bigint): number {
  return Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n) / 1_000_000n);
}

function gracefully(
  live: JsonObject,
  finalizers: readonly string[],
  {
    seconds,
    atMs,
    isFirst = false,
  }: { readonly seconds: number | bigint; readonly atMs: number; readonly isFirst?: boolean },
): Step {
  const object = cloneJson(live);
  setFinalizers(object, finalizers);
  const metadata = ownMetadata(object);
  metadata["deletionTimestamp"] = timeFromMs(atMs);
  metadata["deletionGracePeriodSeconds"] = seconds;
  const generation = metadataNumber(live, "generation") ?? 0;
  if (isFirst && generation > 0) metadata["generation"] = generation + 1;
  if (seconds > 0 || finalizers.length > 0) return { type: "mark", object };
  return { type: "remove", object };
}

function markDeleting(
  object: MutableJsonObject,
  { context, nowMs }: Moment,
  { hasNoGrace = false }: DeletionRule,
): void {
  const metadata = ownMetadata(object);
  const generation = metadataNumber(object, "generation") ?? 0;
  const at = metadataText(object, "deletionTimestamp");
  if (at === "" && generation > 0 && !hasNoGrace) metadata["generation"] = generation + 1;
  if (at === "" || Date.parse(at) > nowMs) metadata["deletionTimestamp"] = context.now;
  if (!hasNoGrace) metadata["deletionGracePeriodSeconds"] = 0;
}

/** The object's finalizers, with those of garbage collection as the request wants them. */
function deletionFinalizers(
  { switches }: Resource,
  live: JsonObject,
  options: DeleteOptions,
): readonly string[] {
  const current = finalizersOf(live);
  if (!switches.collectable) return current;
  const wanted = dependents(switches.orphansByDefault, current, options);
  const others = current.filter((name) => name !== "orphan" && name !== "foregroundDeletion");
  const finalizers = wanted === undefined ? others : [...others, wanted];
  const known = new Set(current);
  const isSame =
    finalizers.length === current.length && finalizers.every((name) => known.has(name));
  return isSame ? current : finalizers;
}

/** What shall become of dependents, as the finalizer that says so; undefined: they follow in the background. */
function dependents(
  orphansByDefault: boolean,
  finalizers: readonly string[],
  { orphanDependents, propagationPolicy }: DeleteOptions,
): "orphan" | "foregroundDeletion" | undefined {
  if (orphanDependents !== undefined) return orphanDependents ? "orphan" : undefined;
  if (propagationPolicy === "Orphan") return "orphan";
  if (propagationPolicy === "Foreground") return "foregroundDeletion";
  if (propagationPolicy === "Background") return undefined;
  for (const name of finalizers) {
    if (name === "orphan" || name === "foregroundDeletion") return name;
  }
  return orphansByDefault ? "orphan" : undefined;
}

function setFinalizers(object: MutableJsonObject, finalizers: readonly string[]): void {
  const metadata = ownMetadata(object);
  if (finalizers.length === 0) delete metadata["finalizers"];
  else metadata["finalizers"] = [...finalizers];
}
