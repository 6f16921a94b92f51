// What is known of a built-in kind.

/** A built-in kind, as the pinned Kubernetes release serves it. */
export interface BuiltinKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  /** Undefined for kinds that are not stored, such as reviews. */
  readonly listKind: string | undefined;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly isNamespaced: boolean;
  readonly verbs: readonly string[];
  /** The name of its type: `schemaOf` and `structOf` take it. */
  readonly type: string;
  readonly storageVersionHash: string | undefined;
  readonly subresources: readonly BuiltinSubresource[];
  /** What a Table of it shows. Empty for kinds that cannot be listed. */
  readonly columns: readonly BuiltinColumn[];
  /** What a field selector may name, besides `metadata.name` and `metadata.namespace`. */
  readonly fieldLabels: readonly string[];
  readonly switches: Switches;
}

export interface BuiltinSubresource {
  readonly name: string;
  /** The kind of its body. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** The type of its body; undefined where that is no object, as for `proxy`. */
  readonly type: string | undefined;
  readonly verbs: readonly string[];
}

export interface BuiltinColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  /** Above 0: shown only by `-o wide`. */
  readonly priority: number;
}

/** Where kinds answer the same request differently. */
export interface Switches {
  /** PUT to a name that is not there creates it; otherwise it is 404. */
  readonly putCreates: boolean;
  /** PUT without a resourceVersion is refused with 422. */
  readonly putNeedsVersion: boolean;
  /** DELETE answers with the object instead of a Status. */
  readonly deleteReturnsObject: boolean;
  /** A DELETE that names no propagation policy orphans the dependents. */
  readonly orphansByDefault: boolean;
  /** Foreground deletion and orphaning are possible: it may carry the finalizers of garbage collection. */
  readonly collectable: boolean;
  /** DELETE waits for a grace period. */
  readonly graceful: boolean;
  /** `generateName` leads to a valid name. */
  readonly generatesNames: boolean;
  /** `metadata.generation` after creation; 0 is not printed. */
  readonly firstGeneration: 0 | 1;
  /** A change outside metadata and status raises `metadata.generation`. */
  readonly generationRises: boolean;
  /** A status sent with the creation is stored. */
  readonly keepsStatusOnCreate: boolean;
  /** Labels and annotations sent to `/status` are stored. */
  readonly statusWritesMetadata: boolean;
}

/** The switches of most kinds, and of every custom resource. */
export const usualSwitches: Switches = {
  putCreates: false,
  putNeedsVersion: true,
  deleteReturnsObject: false,
  orphansByDefault: false,
  collectable: true,
  graceful: false,
  generatesNames: true,
  firstGeneration: 1,
  generationRises: true,
  keepsStatusOnCreate: false,
  statusWritesMetadata: false,
};

/** The verbs of most kinds. */
const standardVerbs: readonly string[] = [
  "create",
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "update",
  "watch",
];

/** A kind as `data/kinds.json` has it: what is usual is left out. */
export interface KindRecord {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly namespaced?: boolean;
  readonly verbs?: readonly string[];
  readonly type: string;
  readonly storageVersionHash?: string;
  readonly subresources?: readonly (Omit<BuiltinSubresource, "type"> & {
    readonly type?: string;
  })[];
  readonly columns?: readonly {
    readonly name: string;
    readonly type: string;
    readonly format?: string;
    readonly priority?: number;
  }[];
  readonly fieldLabels?: readonly string[];
  readonly switches?: Partial<Switches>;
}

/** Puts back what is usual. */
export function completeKind(record: KindRecord): BuiltinKind {
  const { group, version, kind, plural, type } = record;
  return {
    group,
    version,
    kind,
    plural,
    singular: record.singular ?? kind.toLowerCase(),
    listKind: record.columns === undefined ? undefined : `${kind}List`,
    shortNames: record.shortNames ?? [],
    categories: record.categories ?? [],
    isNamespaced: record.namespaced ?? true,
    verbs: record.verbs ?? standardVerbs,
    type,
    storageVersionHash: record.storageVersionHash,
    subresources: (record.subresources ?? []).map((one) => ({ ...one, type: one.type })),
    columns: (record.columns ?? []).map((column) => ({ format: "", priority: 0, ...column })),
    fieldLabels: record.fieldLabels ?? [],
    switches: { ...usualSwitches, ...record.switches },
  };
}
