// The life of a change to an object: by PUT, by any patch, by a loop of our own (apiserver.md §4.2).

import { jsonEqual, type JsonObject, type MutableJsonObject } from "@keelson/base";
import {
  failures,
  keepTimes,
  pathSegmentNames,
  quote,
  sharedMetadataProblems,
  StatusError,
  validateFinalizerDomains,
  validateMetadata,
  validateMetadataUpdate,
  type RuleContext,
} from "@keelson/kube";
import { Body, Conflict, NotFound, StoreError, Unavailable, type Row } from "@keelson/store";

import { findRow } from "../find-row.ts";
import { inStoredOrder, objectWithRevision } from "../encoding/stored-text.ts";
import {
  deletionGraceOf,
  finalizersOf,
  isTerminating,
  metadataNumber,
  metadataOf,
  metadataText,
  ownMetadata,
  uidOf,
} from "../object-metadata.ts";
import type { Resource } from "../resources/resource.ts";
import { createObject } from "./create-object.ts";
import { deletionRule } from "./deletion-rules.ts";
import { refuseTooLarge } from "./object-size.ts";
import { mergeOwnerReferences } from "./owner-references.ts";
import { copyMember, keepAllBut } from "./subresource-parts.ts";
import {
  admissionRequest,
  effectsOf,
  groupKind,
  groupResource,
  keyOf,
  ruleContext,
  storageOf,
  type WriteRequest,
  type Writing,
  type Written,
} from "./write-request.ts";

export interface UpdateOptions {
  /**
   * The object as it shall be, its managed fields included, from the object as it is; from undefined where there is none
   * and one may be created. Called again, with the fresh object, whenever somebody else was faster.
   */
  readonly change: (live: JsonObject | undefined) => MutableJsonObject;
  /** Whether an object that is not there is created. */
  readonly mayCreate: boolean;
  /** Asked before anything is created, where that takes a permission of its own. */
  readonly beforeCreate?: () => void | Promise<void>;
  /** The uid that the object must have. */
  readonly uid?: string;
  /** Whether a change that says no resourceVersion meets the object as it is. */
  readonly isUnconditional: boolean;
}

export interface Updated extends Written {
  readonly isCreated: boolean;
}

/** Changes an object. Tries again for as long as only others' writes are in the way (KB 30). */
export async function updateObject(
  writing: Writing,
  request: WriteRequest,
  options: UpdateOptions,
  signal: AbortSignal,
): Promise<Updated> {
  const { resource, namespace, name } = request;
  using queued = new DisposableStack();
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    // Writers that all begin again at once would each lose to every other in turn.
    if (attempt === 2) {
      const place = `${storageOf(resource)}/${namespace}/${name}`;
      queued.use(await writing.turns.take(place, signal));
    }
    // To read what is stored is a way to the database and back, so the first try begins with what memory has.
    const recalled =
      attempt === 1 && !request.isDryRun ? writing.store.recall(keyOf(request)) : undefined;
    const row = recalled ?? (await findRow(writing.store, keyOf(request), signal));
    try {
      if (row === undefined) return await createInstead(writing, request, options, signal);
      const written = await updateOnce(writing, request, { ...options, row }, signal);
      return { ...written, isCreated: false };
    } catch (error) {
      // What memory had may have been old: nothing that was refused or left because of it counts yet.
      const isOfTheStore = error instanceof StoreError && !(error instanceof NotFound);
      const isHasty = recalled !== undefined && !isOfTheStore;
      // Another write came between our read and our commit. If the client cares it said a
      // resourceVersion, and the next round tells it so.
      if (!isHasty && !isOutrun(error)) throw error;
    }
  }
}

/** Whether the object has changed, has gone or is there by now. */
function isOutrun(error: unknown): boolean {
  if (error instanceof StatusError) return error.status.reason === "AlreadyExists";
  return error instanceof Conflict || error instanceof NotFound;
}

async function createInstead(
  writing: Writing,
  request: WriteRequest,
  { change, mayCreate, beforeCreate, uid }: UpdateOptions,
  signal: AbortSignal,
): Promise<Updated> {
  const { resource, name } = request;
  if (!mayCreate || request.subresource !== "") {
    throw failures.notFound(groupResource(resource), name);
  }
  const object = change(undefined);
  if (uid !== undefined && uid !== "") {
    throw failures.conflict(
      groupResource(resource),
      name,
      `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
    );
  }
  await beforeCreate?.();
  const written = await createObject(writing, request, { object, isManaged: true }, signal);
  return { ...written, isCreated: true };
}

async function updateOnce(
  writing: Writing,
  request: WriteRequest,
  options: UpdateOptions & { readonly row: Row },
  signal: AbortSignal,
): Promise<Written> {
  const { resource, name, subresource, warn, isDryRun } = request;
  const { row, uid, isUnconditional } = options;
  const context = ruleContext(writing);
  if (uid !== undefined && uid !== "" && uid !== row.uid) {
    throw failures.conflict(
      groupResource(resource),
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${row.uid}`,
    );
  }
  const live = objectWithRevision(resource.model.fromStored(row.body.value), row.revision);
  const next = options.change(live);
  checkRevision(resource, name, { next, live, isUnconditional });
  ownMetadata(next)["resourceVersion"] = String(row.revision);

  const admitted = admissionRequest(request, "UPDATE", { object: next, old: live });
  const admitting = writing.admission.admit(admitted, signal);
  if (admitting !== undefined) await admitting;
  mergeOwnerReferences(next, warn, { isAfterAdmission: true });
  const finish = await effectsOf(writing, resource).beginUpdate?.(next, live, request, signal);
  let isStored: boolean | undefined = false;
  try {
    resource.model.settle(next);
    prepare(resource, { next, live, subresource }, context);
    const errors = problems(resource, { next, live, subresource }, context);
    if (errors.length > 0) throw failures.invalid(groupKind(resource), name, errors);
    for (const text of resource.model.warnings(next, live)) warn(text);
    const timed = keepTimes(next, live) as MutableJsonObject; // Made from our own object.
    const judging = writing.admission.validate(admitted, signal);
    if (judging !== undefined) await judging;

    const body = Body.of(inStoredOrder(resource.model.toStored(timed)));
    const key = keyOf(request);
    const expect = { revision: row.revision };
    if (isLastFinalizerGone(resource, timed, live)) {
      if (isDryRun) return { body, revision: row.revision };
      // Watchers see the object as it last was; the writer sees what it has written.
      await writing.store.delete(key, { expect }, signal);
      effectsOf(writing, resource).afterDelete?.(timed);
      isStored = true;
      return { body, revision: row.revision };
    }
    refuseTooLarge(body, row.body);
    if (isDryRun) return { body, revision: row.revision };
    const change = { body, expect, replaced: row.body };
    const stored = await writing.store.update(key, change, signal);
    isStored = true;
    return { body: stored.body, revision: stored.revision };
  } catch (error) {
    if (error instanceof Unavailable) isStored = undefined;
    throw error;
  } finally {
    finish?.({ isStored });
  }
}

function checkRevision(
  resource: Resource,
  name: string,
  {
    next,
    live,
    isUnconditional,
  }: { readonly next: JsonObject; readonly live: JsonObject; readonly isUnconditional: boolean },
): void {
  const sent = metadataText(next, "resourceVersion");
  const isSilent = sent === "" || sent === "0";
  if (isSilent && isUnconditional) return;
  if (isSilent) {
    throw failures.invalid({ group: resource.group, kind: resource.plural }, name, [
      {
        type: "FieldValueInvalid",
        field: "metadata.resourceVersion",
        value: 0,
        detail: "must be specified for an update",
      },
    ]);
  }
  // Kubernetes answers 500, but it is the client who can mend it.
  if (!/^[0-9]+$/.test(sent)) {
    throw failures.badRequest(`strconv.ParseUint: parsing ${quote(sent)}: invalid syntax`);
  }
  if (sent !== metadataText(live, "resourceVersion")) {
    throw failures.modifiedConflict(groupResource(resource), name);
  }
}

interface Change {
  readonly next: MutableJsonObject;
  readonly live: JsonObject;
  readonly subresource: string;
}

/** Whatever the client may not say itself. */
function prepare(
  resource: Resource,
  { next, live, subresource }: Change,
  context: RuleContext,
): void {
  const { model, switches } = resource;
  const metadata = ownMetadata(next);
  const hasStatus = resource.subresources.some(({ name }) => name === "status");
  if (subresource !== "") {
    keepAllBut(resource, subresource, { next, live });
    model.subresource(subresource).prepareForUpdate(next, live, context);
    const raises = subresource === "ephemeralcontainers" || subresource === "resize";
    if (raises && isChangedInside(next, live, hasStatus)) {
      ownMetadata(next)["generation"] = (metadataNumber(live, "generation") ?? 0) + 1;
    }
  } else {
    if (hasStatus) copyMember(next, live, "status");
    copyMember(metadata, metadataOf(live), "generation");
    model.prepareForUpdate(next, live, context);
    const isNews =
      isChangedInside(next, live, hasStatus) || resource.raisesGeneration?.(next, live) === true;
    if (switches.generationRises && isNews) {
      metadata["generation"] = (metadataNumber(live, "generation") ?? 0) + 1;
    }
  }
  const system = ownMetadata(next);
  delete system["selfLink"];
  if (metadataText(next, "uid") === "") system["uid"] = uidOf(live);
  copyMember(system, metadataOf(live), "creationTimestamp");
  if (isTerminating(live)) copyMember(system, metadataOf(live), "deletionTimestamp");
  if (system["deletionGracePeriodSeconds"] === undefined) {
    copyMember(system, metadataOf(live), "deletionGracePeriodSeconds");
  }
}

/** Whether anything but metadata, and the status where that has an endpoint of its own, differs. */
function isChangedInside(next: JsonObject, live: JsonObject, hasStatus: boolean): boolean {
  const isInside = (name: string): boolean =>
    name !== "metadata" &&
    name !== "apiVersion" &&
    name !== "kind" &&
    !(hasStatus && name === "status");
  for (const name in live) if (isInside(name) && !Object.hasOwn(next, name)) return true;
  for (const name in next) {
    if (!isInside(name)) continue;
    const after = next[name];
    const before = Object.hasOwn(live, name) ? live[name] : undefined;
    if (after === undefined || before === undefined) return true;
    if (!jsonEqual(after, before)) return true;
  }
  return false;
}

function problems(
  resource: Resource,
  { next, live, subresource }: Change,
  context: RuleContext,
): Parameters<typeof failures.invalid>[2] {
  const { model } = resource;
  const metadata = ownMetadata(next);
  const shared = sharedMetadataProblems(metadata);
  const whole = validateMetadata(metadata, {
    isNamespaced: resource.isNamespaced,
    nameRule: pathSegmentNames,
    shared,
  });
  const changes = validateMetadataUpdate(metadata, metadataOf(live), { shared });
  const own =
    subresource === ""
      ? model.validateUpdate(next, live, context)
      : model.subresource(subresource).validateUpdate(next, live, context);
  // The rules of a built-in kind ask more of its finalizers, each time they look.
  const unqualified =
    resource.isCustom || model.takesBareFinalizers ? [] : validateFinalizerDomains(metadata);
  const again = model
    .metadataChecks(subresource)
    .flatMap((look) => [...(look === "whole" ? whole : changes), ...unqualified]);
  return [...whole, ...changes, ...again, ...own];
}

/** An object whose deletion was asked for goes with its last finalizer. */
function isLastFinalizerGone(resource: Resource, next: JsonObject, live: JsonObject): boolean {
  if (!isTerminating(live) || finalizersOf(next).length > 0) return false;
  if (deletionRule(storageOf(resource)).isHeld?.(next) === true) return false;
  return Number(deletionGraceOf(live)) === 0;
}
