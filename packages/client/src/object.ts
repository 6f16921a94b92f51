import { type JsonObject } from "@keelson/base";

/** Who owns an object, so that it goes when they go. */
export type OwnerReference = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
};

/** What every object says of itself. An alias, not an interface: only so is it JSON to the compiler. */
export type Metadata = {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string | null;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number | bigint;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly JsonObject[];
};

/** What all objects have. Kinds of one's own extend it. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
}

/** An object of a kind that the compiler knows nothing about. */
export type DynamicObject = KubeObject & JsonObject;

/** The name of a kind, as objects give it. */
export interface ObjectKind {
  /** `v1`, `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
}

/** Which object: `namespace` for the kinds that live in one. */
export interface ObjectRef {
  readonly namespace?: string;
  readonly name: string;
}

/** Which object this is. */
export function refOf({ metadata: { namespace, name = "" } }: KubeObject): ObjectRef {
  return namespace === undefined ? { name } : { namespace, name };
}

/** A text for each object of a kind: `namespace/name`, or the name alone. Neither part can hold a slash. */
export function keyOf({ namespace, name }: ObjectRef): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

/** The object that a key of `keyOf` stands for. */
export function refOfKey(key: string): ObjectRef {
  const slash = key.indexOf("/");
  if (slash < 0) return { name: key };
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
