// What the API shows of clusters and nodepools, as controllers meet it.

/** The kinds of things that have controllers. */
export type Kind = "cluster" | "nodepool";

export const kinds: readonly Kind[] = ["cluster", "nodepool"];

/** Plain JSON, as `JSON.parse` gives it. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [member: string]: JsonValue };

export type JsonMap = { readonly [member: string]: JsonValue };

/** A cluster or a nodepool. Secrets in the spec read `[REDACTED]` unless the controller asked for them. */
export interface Resource {
  readonly id: string;
  readonly name: string;
  readonly generation: number;
  readonly resource_version: string;
  readonly spec: JsonMap;
  readonly status?: JsonMap | null;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
  /** Only nodepools have one. */
  readonly cluster_id?: string;
  readonly target_project_id?: string | null;
  readonly organization_id?: string | null;
  /** Deletion was asked for, and waits for finalizers. */
  readonly deletion_timestamp?: string | null;
}

export type ConditionStatus = "True" | "False" | "Unknown";

export interface Condition {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime?: string;
  readonly severity?: string;
}

export type ErrorType = "Transient" | "Configuration" | "Fatal" | "System";

/** What went wrong, as a report carries it. `retryAfter` is in nanoseconds. */
export interface ReportedError {
  readonly controllerName: string;
  readonly errorType: ErrorType;
  readonly errorCode: string;
  readonly message: string;
  readonly userActionable: boolean;
  readonly suggestions: readonly string[];
  readonly details: JsonMap;
  readonly retryAfter?: number;
  readonly timestamp: string;
}

/** What one controller has last said about a resource. */
export interface Report {
  readonly controller_name: string;
  readonly observed_generation: number;
  readonly conditions: readonly Condition[];
  readonly metadata: JsonMap;
  readonly last_error?: ReportedError | null;
  readonly last_updated?: string;
}

/** The reports of a resource, by the names of their controllers. */
export type Reports = Readonly<Record<string, Report>>;

/** `gcp` of any spelling, or nothing where none is named. */
export function platformOf(spec: JsonMap): string | undefined {
  const platform = spec["platform"];
  if (platform === null || typeof platform !== "object" || Array.isArray(platform))
    return undefined;
  const type = (platform as JsonMap)["type"];
  return typeof type === "string" && type !== "" ? type.toLowerCase() : undefined;
}
