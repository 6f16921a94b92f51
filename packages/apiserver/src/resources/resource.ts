// A kind as it is served: everything a verb must know of it. No verb names a kind.

import type { JsonObject, MutableJsonObject } from "@keelson/base";
import type {
  DuplicateKeys,
  FieldError,
  FieldManager,
  MetadataCheck,
  NameRule,
  PatchType,
  RuleContext,
  StructuralSchema,
  Switches,
  TableColumn,
  TableRow,
} from "@keelson/kube";

/** A resource of one version of an API group. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  /** Undefined for kinds that cannot be listed, such as reviews. */
  readonly listKind: string | undefined;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly isNamespaced: boolean;
  /** As discovery tells them. */
  readonly verbs: readonly string[];
  /** Whether its definition is being deleted: what is there may change and go, and nothing new may come. */
  readonly isClosing?: boolean;
  readonly storageVersionHash: string | undefined;
  readonly subresources: readonly Subresource[];
  /** Whether it is a custom resource; kinds we define ourselves follow the rules of these. */
  readonly isCustom: boolean;
  readonly switches: Switches;
  /** What a field selector may name besides `metadata.name` and `metadata.namespace`. */
  readonly fieldLabels: readonly string[];
  /** Whether a write to the status may change all metadata but labels. */
  readonly statusWritesAnnotations?: boolean;
  /** What else raises `metadata.generation` besides a change outside metadata and status. */
  readonly raisesGeneration?: (next: JsonObject, live: JsonObject) => boolean;
  readonly patchTypes: readonly PatchType[];
  /** Said in a `Warning` header on each use. */
  readonly deprecation: string | undefined;
  /** Where its objects are kept; undefined for kinds that never are. */
  readonly storage: Storage | undefined;
  /** What OpenAPI publishes for it. */
  readonly shape: Shape;
  readonly columns: readonly TableColumn[];
  /** The row of an object in a Table. */
  readonly row: (object: JsonObject, nowMs: number) => TableRow;
  readonly model: Model;
}

export interface Subresource {
  readonly name: string;
  /** The kind of its body. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
  /** Where the numbers of `scale` stand in the object, as JSON paths without the first dot: `spec.replicas`. */
  readonly scale?: {
    readonly specReplicasPath: string;
    readonly statusReplicasPath: string;
    readonly labelSelectorPath: string | undefined;
  };
}

export interface Storage {
  /** The store's name of the kind: `ConfigMap`, `Deployment.apps`. Versions and groups may share it. */
  readonly kind: string;
  /** The version in which objects are stored. */
  readonly apiVersion: string;
}

export type Shape =
  /** A built-in type, by its short name. */
  | { readonly from: "builtin"; readonly type: string }
  /** A schema of its own, without metadata; undefined: anything goes. */
  | { readonly from: "schema"; readonly schema: StructuralSchema | undefined };

/** What reading a body told besides the object. */
export interface Read {
  readonly object: MutableJsonObject;
  /** What strict decoding refuses, as its message says it, in its order: unknown fields, and those said twice. */
  readonly problems: readonly string[];
}

/** What a write through a subresource does besides taking its part of the object. */
export interface SubresourceModel {
  prepareForUpdate(object: MutableJsonObject, old: JsonObject, context: RuleContext): void;
  /** What is wrong, metadata aside. */
  validateUpdate(object: JsonObject, old: JsonObject, context: RuleContext): readonly FieldError[];
}

/**
 * What is done to the objects of a kind, in the order of the life of a write. Everything is pure but for the
 * objects passed as mutable, which belong to the call.
 */
export interface Model {
  /** How the name of an object is judged. */
  readonly namesFor: (object: JsonObject) => NameRule;
  /** Whether finalizers without a domain are taken, although the kind is built in. */
  readonly takesBareFinalizers: boolean;
  /** What the kind's own rules say of the metadata of an update, again. */
  metadataChecks(subresource: string): readonly MetadataCheck[];
  /** The object as if nothing had been said, for managed fields. */
  readonly empty: JsonObject;

  /**
   * A body, or the outcome of a patch, as the kind reads it: wrong types throw a `TypedDecodeError`, unknown fields are
   * dropped and named, absent ones are defaulted. `said` is what the text said twice.
   */
  read(value: JsonObject, context: RuleContext, said?: DuplicateKeys): Read;
  /** A stored object in this version, defaulted anew: what it lacked when it was stored is there. */
  fromStored(stored: JsonObject): JsonObject;
  /** Whether `fromStored` answers every object as it is, so that its text may be sent unread. */
  readonly readsAsStored: boolean;
  /** An object of this version as it is stored. It may change the object, which is the caller's own. */
  toStored(object: MutableJsonObject): JsonObject;

  /** Does, in place, what storing does to an object without changing what it says, so that it may be compared. */
  settle(object: MutableJsonObject): void;
  prepareForCreate(object: MutableJsonObject, context: RuleContext): void;
  prepareForUpdate(object: MutableJsonObject, old: JsonObject, context: RuleContext): void;
  /** What is wrong, metadata aside. */
  validate(object: JsonObject, context: RuleContext): readonly FieldError[];
  validateUpdate(object: JsonObject, old: JsonObject, context: RuleContext): readonly FieldError[];
  /** The same for what is written through a subresource. */
  subresource(name: string): SubresourceModel;
  warnings(object: JsonObject, old: JsonObject | undefined): readonly string[];

  /** The managed fields at the object itself (`""`) or at a subresource. */
  fieldManager(subresource: string): FieldManager;
  /** The schema by which strategic merge patches merge; undefined where there are none. */
  readonly mergeSchema: StructuralSchema | undefined;
}
