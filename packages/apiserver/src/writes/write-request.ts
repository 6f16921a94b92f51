// A write as the functions of this folder take it, whoever asks: a verb, or a loop of our own.

import type { Clock, JsonObject, MutableJsonObject, Random } from "@keelson/base";
import { timeFromMs, type GroupKind, type GroupResource, type RuleContext } from "@keelson/kube";
import type { Body, Key, Revision, Store } from "@keelson/store";

import type { Admission, Operation } from "../admission/admission.ts";
import { isSigned } from "../auth/pki/is-signed.ts";
import type { User } from "../auth/user.ts";
import type { Resource } from "../resources/resource.ts";
import type { Turns } from "./turns.ts";

/** What writing needs. */
export interface Writing {
  /** Keeps writers of one object from outrunning each other for ever. */
  readonly turns: Turns;
  readonly store: Store;
  readonly admission: Admission;
  readonly effects: Effects;
  readonly clock: Clock;
  readonly random: Random;
}

export interface WriteRequest {
  readonly resource: Resource;
  /** Empty at the cluster scope. */
  readonly namespace: string;
  /** Empty on a creation that lets the server choose. */
  readonly name: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly user: User;
  /** Who manages the fields that change. */
  readonly manager: string;
  readonly isDryRun: boolean;
  readonly warn: (text: string) => void;
}

/** An object as it is stored now. */
export interface Written {
  readonly body: Body;
  /** Undefined for an object that a dry run would have created. */
  readonly revision: Revision | undefined;
}

/** What a kind does outside its own object: addresses and ports that it takes, and gives back. */
export interface KindEffects {
  /** Before the rules of the kind. Answers what to do once it is known whether the object was stored. */
  beginCreate?(
    object: MutableJsonObject,
    request: WriteRequest,
    signal: AbortSignal,
  ): Promise<Finish | undefined>;
  beginUpdate?(
    object: MutableJsonObject,
    old: JsonObject,
    request: WriteRequest,
    signal: AbortSignal,
  ): Promise<Finish | undefined>;
  afterDelete?(object: JsonObject): void;
}

/** Told how the write ended: undefined where the database went away and nobody knows. */
export type Finish = (outcome: { readonly isStored: boolean | undefined }) => void;

/** Effects by the store's name of the kind. */
export type Effects = ReadonlyMap<string, KindEffects>;

/** The effects of a resource; none for most. */
export function effectsOf({ effects }: Writing, { storage }: Resource): KindEffects {
  return (storage === undefined ? undefined : effects.get(storage.kind)) ?? {};
}

export function groupResource({ group, plural }: Resource): GroupResource {
  return { group, resource: plural };
}

/** The kind as failures name it: of two shapes of one object, that in which it is stored. */
export function groupKind({ group, kind, storage, isCustom }: Resource): GroupKind {
  if (isCustom || storage === undefined) return { group, kind };
  const dot = storage.kind.indexOf(".");
  return { group: dot < 0 ? "" : storage.kind.slice(dot + 1), kind };
}

/** Where the object of a request is kept. */
export function keyOf(request: Pick<WriteRequest, "resource" | "namespace" | "name">): Key {
  const { resource, name, namespace } = request;
  return { kind: storageOf(resource), namespace: resource.isNamespaced ? namespace : "", name };
}

/** The store's name of a kind that is stored. */
export function storageOf({ storage, plural }: Resource): string {
  if (storage === undefined) throw new Error(`${plural} are not stored`);
  return storage.kind;
}

/** What the rules of a kind may know of the moment. */
export function ruleContext(
  { clock, random }: Pick<Writing, "clock" | "random">,
  user?: User,
): RuleContext {
  const context = { now: timeFromMs(clock.now()), uuid: () => random.uuid(), isSigned };
  return user === undefined ? context : { ...context, user };
}

/** The request as admission sees it. */
export function admissionRequest(
  request: WriteRequest,
  operation: Operation,
  objects: {
    readonly object: MutableJsonObject | undefined;
    readonly old: JsonObject | undefined;
  },
): Parameters<Admission["admit"]>[0] {
  const { resource, subresource, namespace, name, user, isDryRun, warn } = request;
  return {
    operation,
    resource,
    subresource,
    namespace,
    name,
    user,
    isDryRun,
    warn,
    ...objects,
  };
}
