// The life of a new object, from the moment it is read (apiserver.md §4.2).

import { isJsonObject, type MutableJsonObject } from "@keelson/base";
import {
  failures,
  generatedNamesMax,
  generateName,
  StatusError,
  validateMetadata,
  validateNamePrefix,
  type RuleContext,
} from "@keelson/kube";
import { AlreadyExists, Body, Unavailable } from "@keelson/store";

import { findRow } from "../find-row.ts";
import { inStoredOrder } from "../encoding/stored-text.ts";
import { isTerminating, metadataText, nameOf, ownMetadata } from "../object-metadata.ts";
import type { Resource } from "../resources/resource.ts";
import { refuseTooLarge } from "./object-size.ts";
import { mergeOwnerReferences } from "./owner-references.ts";
import {
  admissionRequest,
  effectsOf,
  groupKind,
  groupResource,
  keyOf,
  ruleContext,
  type WriteRequest,
  type Writing,
  type Written,
} from "./write-request.ts";

/**
 * Stores a new object, or says why not. `object` is read and defaulted, belongs to the call, and names no
 * other namespace than the request. `isManaged`: its managed fields are already right, as after an apply.
 */
export async function createObject(
  writing: Writing,
  request: WriteRequest,
  {
    object,
    isManaged = false,
  }: { readonly object: MutableJsonObject; readonly isManaged?: boolean },
  signal: AbortSignal,
): Promise<Written> {
  const { resource, namespace, warn } = request;
  const context = ruleContext(writing, request.user);
  const revisionSent = metadataText(object, "resourceVersion");
  wipeSystemMetadata(object);
  mergeOwnerReferences(object, warn, { isAfterAdmission: false });
  const tracked = isManaged
    ? object
    : own(resource.model.fieldManager(request.subresource), object, request, context);
  const metadata = ownMetadata(tracked);
  if (resource.isNamespaced) metadata["namespace"] = namespace;
  metadata["uid"] = writing.random.uuid();
  metadata["creationTimestamp"] = context.now;
  const generated =
    metadataText(tracked, "name") === "" ? metadataText(tracked, "generateName") : "";
  if (generated !== "") metadata["name"] = generateName(generated, writing.random);

  const named: WriteRequest = { ...request, name: nameOf(tracked) };
  if (resource.isClosing === true) {
    throw failures.forbidden(
      groupResource(resource),
      named.name,
      "create not allowed while custom resource definition is terminating",
    );
  }
  const admitted = admissionRequest(named, "CREATE", { object: tracked, old: undefined });
  const admitting = writing.admission.admit(admitted, signal);
  if (admitting !== undefined) await admitting;
  mergeOwnerReferences(tracked, warn, { isAfterAdmission: true });
  const finish = await effectsOf(writing, resource).beginCreate?.(tracked, named, signal);
  let isStored: boolean | undefined = false;
  try {
    prepare(resource, tracked, { ...context, warn });
    const found = [
      ...validateMetadata(ownMetadata(tracked), {
        isNamespaced: resource.isNamespaced,
        nameRule: resource.model.namesFor(tracked),
        isBuiltIn: !resource.isCustom && !resource.model.takesBareFinalizers,
      }),
      ...resource.model.validate(tracked, context),
    ];
    const errors = found.length > 0 ? found : validateNamePrefix(ownMetadata(tracked));
    if (errors.length > 0) throw failures.invalid(groupKind(resource), nameOf(tracked), errors);
    for (const text of resource.model.warnings(tracked, undefined)) warn(text);
    const judging = writing.admission.validate(admitted, signal);
    if (judging !== undefined) await judging;
    // KB 24: Kubernetes answers 500, but it is the client who can mend it.
    if (!isManaged && /^[0-9]*[1-9][0-9]*$/.test(revisionSent)) {
      throw failures.badRequest("resourceVersion should not be set on objects to be created");
    }
    const written = await persist(writing, named, { object: tracked, generated }, signal);
    isStored = written.revision !== undefined;
    return written;
  } catch (error) {
    if (error instanceof Unavailable) isStored = undefined;
    throw error;
  } finally {
    finish?.({ isStored });
  }
}

/** What only the server says of an object (KB 24). */
function wipeSystemMetadata(object: MutableJsonObject): void {
  const metadata = ownMetadata(object);
  for (const name of [
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
    "resourceVersion",
  ]) {
    delete metadata[name];
  }
}

function own(
  manager: ReturnType<Resource["model"]["fieldManager"]>,
  object: MutableJsonObject,
  request: WriteRequest,
  { now }: RuleContext,
): MutableJsonObject {
  const tracked = manager.update(undefined, object, { manager: request.manager, now });
  return tracked as MutableJsonObject; // Made from our own object.
}

function prepare(resource: Resource, object: MutableJsonObject, context: RuleContext): void {
  const { switches, model, subresources } = resource;
  const metadata = ownMetadata(object);
  if (switches.firstGeneration > 0) metadata["generation"] = switches.firstGeneration;
  const hasStatus = subresources.some(({ name }) => name === "status");
  if (hasStatus && !switches.keepsStatusOnCreate) {
    const { status } = model.empty;
    if (isJsonObject(status)) object["status"] = structuredClone(status) as MutableJsonObject;
    else delete object["status"];
  }
  model.prepareForCreate(object, context);
}

async function persist(
  writing: Writing,
  request: WriteRequest,
  { object, generated }: { readonly object: MutableJsonObject; readonly generated: string },
  signal: AbortSignal,
): Promise<Written> {
  const { resource, isDryRun } = request;
  for (let attempt = 1; ; attempt++) {
    const key = keyOf({ ...request, name: nameOf(object) });
    const body = Body.of(inStoredOrder(resource.model.toStored(object)));
    refuseTooLarge(body);
    try {
      if (isDryRun) {
        const row = await findRow(writing.store, key, signal);
        if (row !== undefined) throw new AlreadyExists(key);
        return { body, revision: undefined };
      }
      const { revision } = await writing.store.create(key, body, signal);
      return { body, revision };
    } catch (error) {
      if (!(error instanceof AlreadyExists)) throw error;
      if (generated === "") throw await taken(writing, resource, key, signal);
      if (attempt === generatedNamesMax) {
        throw failures.generateNameConflict(groupResource(resource), key.name);
      }
      ownMetadata(object)["name"] = generateName(generated, writing.random);
    }
  }
}

/** The name is taken, perhaps by an object that is about to go. */
async function taken(
  { store }: Writing,
  resource: Resource,
  key: ReturnType<typeof keyOf>,
  signal: AbortSignal,
): Promise<StatusError> {
  const refusal = failures.alreadyExists(groupResource(resource), key.name);
  const row = await findRow(store, key, signal);
  if (row === undefined || !isTerminating(row.body.value)) return refusal;
  const message = `object is being deleted: ${refusal.message}`;
  return new StatusError({ ...refusal.status, message });
}
