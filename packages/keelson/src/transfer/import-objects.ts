// Lines become objects again. It may be broken off and begun anew as often as one likes: what is there is left as it is, what it
// lacks is added.

import { forEachAtOnce, jsonEqual, type Json, type JsonObject } from "@keelson/base";
import {
  isAlreadyExists,
  isConflict,
  UnknownKind,
  type Client,
  type DynamicObject,
  type ObjectRef,
  type OwnerReference,
  type ResourceClient,
} from "@keelson/client";
import { StatusError } from "@keelson/kube";

import type { TravellingKind } from "./ark-order.ts";
import type { Travelling } from "./object-line.ts";

const fieldManager = "keelson-import";
/** How many objects are brought in at once: a server has time for others while it waits for its disk. */
const atOnce = 16;
/** How often a change is tried again because somebody else has changed the object meanwhile. */
const conflictTriesMax = 5;

export interface ImportOptions {
  readonly client: Client;
  readonly kinds: readonly TravellingKind[];
  readonly objects: readonly Travelling[];
  /**
   * Whether owners of other kinds can be looked up by name there. Where not, their uids are kept: those of the cluster
   * that the objects come from.
   */
  readonly knowsOtherKinds: boolean;
  /** Told of what could not be done, and why. */
  readonly warn: (text: string) => void;
}

/** What became of the objects of a kind. */
export interface Imported {
  readonly plural: string;
  /** In the file. */
  readonly given: number;
  readonly created: number;
  /** There before, and different from what the file says: left alone. */
  readonly differing: number;
  /** In the place at the end, and without their status, an owner or their deletion. */
  readonly incomplete: number;
  /** In the place at the end, of those in the file, with all that was to be brought in of them. */
  readonly present: number;
}

/** Brings the objects in. Resolves with the counts per kind; what could not be brought in is told, and missing there. */
export async function importObjects(
  options: ImportOptions,
  signal: AbortSignal,
): Promise<readonly Imported[]> {
  const importing = new Importing(options);
  const tallies: Tally[] = [];
  for (const kind of options.kinds) {
    const tally = new Tally(
      kind,
      options.objects.filter((one) => one.kind === kind.kind && one.apiVersion === kind.apiVersion),
    );
    tallies.push(tally);
    await importing.create(tally, signal);
  }
  // Only now is everybody there who may own somebody.
  for (const tally of tallies) await importing.complete(tally, signal);
  const counted: Imported[] = [];
  for (const tally of tallies) counted.push(await importing.count(tally, signal));
  return counted;
}

/** The objects of a kind, and how far they are. */
class Tally {
  readonly kind: TravellingKind;
  readonly given: readonly Travelling[];
  created = 0;
  readonly differing = new Set<Travelling>();
  /** Refused, or without something that the file says of them. */
  readonly failed = new Set<Travelling>();

  constructor(kind: TravellingKind, given: readonly Travelling[]) {
    this.kind = kind;
    this.given = given;
  }
}

class Importing {
  readonly #options: ImportOptions;

  constructor(options: ImportOptions) {
    this.#options = options;
  }

  /** Creates what is not there. What is refused is tried again after the others: they may name each other. */
  async create(tally: Tally, signal: AbortSignal): Promise<void> {
    if (tally.given.length === 0) return;
    const resource = await this.#options.client.resource(tally.kind, signal);
    let waiting = tally.given;
    for (;;) {
      const refused: { readonly object: Travelling; readonly error: StatusError }[] = [];
      const createOne = async (object: Travelling): Promise<void> => {
        const outcome = await this.#createOne(resource, object, signal);
        if (outcome === "created") tally.created += 1;
        else if (outcome === "differs") tally.differing.add(object);
        else if (outcome instanceof StatusError) refused.push({ object, error: outcome });
      };
      await forEachAtOnce(waiting, { atOnce, run: createOne }, signal);
      if (refused.length === waiting.length || refused.length === 0) {
        for (const { object, error } of refused) {
          tally.failed.add(object);
          this.#options.warn(`${shown(object)} is refused: ${error.message}`);
        }
        return;
      }
      waiting = refused.map(({ object }) => object);
    }
  }

  async #createOne(
    resource: ResourceClient,
    object: Travelling,
    signal: AbortSignal,
  ): Promise<"created" | "there" | "differs" | StatusError> {
    const { apiVersion, kind, name, namespace, labels, annotations, finalizers, content } = object;
    const body = {
      ...content,
      apiVersion,
      kind,
      metadata: {
        name,
        ...(namespace === undefined ? {} : { namespace }),
        ...(Object.keys(labels).length === 0 ? {} : { labels }),
        ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
        ...(finalizers.length === 0 ? {} : { finalizers }),
      },
    } as unknown as DynamicObject;
    try {
      await resource.create(body, { fieldManager }, signal);
      return "created";
    } catch (error) {
      if (isAlreadyExists(error)) {
        const found = await resource.find(refOf(object), signal);
        return found === undefined || hasContent(found, content) ? "there" : "differs";
      }
      if (error instanceof StatusError && error.status.code < 500) return error;
      throw error;
    }
  }

  /** Status, owners and deletion, each only where it is missing. */
  async complete(tally: Tally, signal: AbortSignal): Promise<void> {
    const { warn } = this.#options;
    if (tally.given.length === 0) return;
    const resource = await this.#options.client.resource(tally.kind, signal);
    const completeOne = async (object: Travelling): Promise<void> => {
      if (tally.failed.has(object) || tally.differing.has(object)) return;
      try {
        if (!(await this.#addOwners(resource, object, signal))) tally.failed.add(object);
        await this.#addStatus(resource, object, signal);
        if (object.isGoing) await resource.delete(refOf(object), signal);
      } catch (error) {
        if (!(error instanceof StatusError) || error.status.code >= 500) throw error;
        tally.failed.add(object);
        warn(`${shown(object)} is incomplete: ${error.message}`);
      }
    };
    await forEachAtOnce(tally.given, { atOnce, run: completeOne }, signal);
  }

  /** Answers whether all of them are there. */
  async #addOwners(
    resource: ResourceClient,
    object: Travelling,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (object.owners.length === 0) return true;
    const owners: OwnerReference[] = [];
    for (const owner of object.owners) {
      const uid = await this.#uidOf(owner, object.namespace, signal);
      // A reference to nobody would have the collector take the object away.
      if (uid === undefined)
        this.#options.warn(
          `${shown(object)} is owned by ${owner.kind} ${owner.name}, who is not there`,
        );
      else owners.push({ ...owner, uid });
    }
    await change(resource, object, signal, (found) => {
      const present = found.metadata.ownerReferences ?? [];
      const missing = owners.filter(({ uid }) => !present.some((one) => one.uid === uid));
      return missing.length === 0
        ? undefined
        : { metadata: { ownerReferences: [...present, ...missing] } };
    });
    return owners.length === object.owners.length;
  }

  async #uidOf(
    owner: OwnerReference,
    namespace: string | undefined,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { client, kinds, knowsOtherKinds } = this.#options;
    const group = owner.apiVersion.split("/", 1)[0];
    const isOurs = kinds.some(({ apiVersion }) => apiVersion.split("/", 1)[0] === group);
    if (!isOurs && !knowsOtherKinds) return owner.uid === "" ? undefined : owner.uid;
    try {
      const resource = await client.resource(owner, signal);
      const { name } = owner;
      const isNamespaced = resource.resource.isNamespaced && namespace !== undefined;
      const found = await resource.find(isNamespaced ? { namespace, name } : { name }, signal);
      return found?.metadata.uid;
    } catch (error) {
      if (error instanceof UnknownKind) return undefined;
      throw error;
    }
  }

  async #addStatus(
    resource: ResourceClient,
    object: Travelling,
    signal: AbortSignal,
  ): Promise<void> {
    const { status } = object;
    if (status === undefined) return;
    await change(
      resource,
      object,
      signal,
      (found) => (isEmpty(found["status"]) ? { status } : undefined),
      "status",
    );
  }

  /** Who of them is there now, by a list and not by what we believe to have done; whole, by what we could not do. */
  async count(tally: Tally, signal: AbortSignal): Promise<Imported> {
    const { kind, given, created, differing, failed } = tally;
    const present = new Set<string>();
    if (given.length > 0) {
      const resource = await this.#options.client.resource(kind, signal);
      for await (const { items } of resource.pages({}, signal)) {
        for (const { metadata } of items)
          present.add(`${metadata.namespace ?? ""}/${metadata.name ?? ""}`);
      }
    }
    const there = given.filter(({ namespace = "", name }) => present.has(`${namespace}/${name}`));
    const whole = there.filter((one) => !failed.has(one));
    return {
      plural: kind.plural,
      given: given.length,
      created,
      differing: differing.size,
      incomplete: there.length - whole.length,
      present: whole.length,
    };
  }
}

/** Changes an object as it is now; again if somebody was faster. Undefined from `next`: nothing to do. */
async function change(
  resource: ResourceClient,
  object: Travelling,
  signal: AbortSignal,
  next: (found: DynamicObject) => JsonObject | undefined,
  subresource?: string,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await resource.find(refOf(object), signal);
    const body = found === undefined ? undefined : next(found);
    if (found === undefined || body === undefined) return;
    const { resourceVersion = "" } = found.metadata;
    const metadata = { ...(body["metadata"] as JsonObject | undefined), resourceVersion };
    const options = { fieldManager, ...(subresource === undefined ? {} : { subresource }) };
    try {
      await resource.patch(
        refOf(object),
        { type: "merge", body: { ...body, metadata }, options },
        signal,
      );
      return;
    } catch (error) {
      if (!isConflict(error) || attempt === conflictTriesMax) throw error;
    }
  }
}

/** Whether an object says what the file says; a server may have filled in more. */
function hasContent(found: DynamicObject, content: JsonObject): boolean {
  return Object.entries(content).every(([key, value]) => covers(found[key], value));
}

function covers(found: Json | undefined, wanted: Json): boolean {
  if (found === undefined) return isEmpty(wanted);
  if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted)) {
    return jsonEqual(found, wanted);
  }
  if (typeof found !== "object" || found === null || Array.isArray(found)) return false;
  return Object.entries(wanted as JsonObject).every(([key, value]) =>
    covers((found as JsonObject)[key], value),
  );
}

function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

function refOf({ namespace, name }: Travelling): ObjectRef {
  return namespace === undefined ? { name } : { namespace, name };
}

function shown({ kind, namespace, name }: Travelling): string {
  return namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}
