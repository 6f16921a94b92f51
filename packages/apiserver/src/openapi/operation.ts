// What can be asked of a path, before it is said in one version of OpenAPI or the other.

/** A request that is understood. Schemas are named as OpenAPI publishes them. */
export interface Operation {
  readonly path: string;
  readonly method: "delete" | "get" | "patch" | "post" | "put";
  readonly id: string;
  readonly tag: string;
  readonly action?: string;
  readonly kind?: KindOfOperation;
  readonly parameters: readonly ParameterName[];
  readonly body?: { readonly schema: string; readonly isRequired: boolean };
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
  /** The schema by status code; none for an answer without one. */
  readonly responses: Readonly<Record<number, string | undefined>>;
}

export interface KindOfOperation {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const booleans = {
  allowWatchBookmarks: "boolean",
  force: "boolean",
  ignoreStoreReadErrorWithClusterBreakingPotential: "boolean",
  orphanDependents: "boolean",
  sendInitialEvents: "boolean",
  watch: "boolean",
} as const;

const integers = {
  gracePeriodSeconds: "integer",
  limit: "integer",
  timeoutSeconds: "integer",
} as const;

const strings = {
  continue: "string",
  dryRun: "string",
  fieldManager: "string",
  fieldSelector: "string",
  fieldValidation: "string",
  labelSelector: "string",
  name: "string",
  namespace: "string",
  pretty: "string",
  propagationPolicy: "string",
  resourceVersion: "string",
  resourceVersionMatch: "string",
  shardSelector: "string",
} as const;

/** The type of each parameter. */
export const parameterTypes = { ...booleans, ...integers, ...strings } as const;

export type ParameterName = keyof typeof parameterTypes;

export function isInPath(name: ParameterName): boolean {
  return name === "name" || name === "namespace";
}

/** The words that OpenAPI demands beside a status code. */
export const responseWords: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  401: "Unauthorized",
};

export interface PathOperations {
  readonly path: string;
  readonly operations: readonly Operation[];
  /** What every operation of the path takes; they do not repeat it. */
  readonly common: readonly ParameterName[];
}

/** Operations by path, both in order. */
export function byPath(operations: readonly Operation[]): PathOperations[] {
  const paths = [...Map.groupBy(operations, ({ path }) => path)];
  paths.sort(([a], [b]) => (a < b ? -1 : 1));
  return paths.map(([path, members]) => {
    const [first, ...rest] = members;
    const common = (first?.parameters ?? []).filter((name) =>
      rest.every(({ parameters }) => parameters.includes(name)),
    );
    return { path, operations: members, common: common.toSorted() };
  });
}

/** What an operation takes beyond what all of its path do. */
export function ownParameters(
  { parameters }: Operation,
  common: readonly ParameterName[],
): ParameterName[] {
  return parameters.filter((name) => !common.includes(name)).toSorted();
}
