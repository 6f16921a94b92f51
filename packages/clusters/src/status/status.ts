// The words of a status, as users read it and as it is cached.

export const phases = ["Pending", "Progressing", "Ready", "Failed", "Deleting"] as const;

/** Where a resource stands. `Error` is reserved, and read as Failed. */
export type Phase = (typeof phases)[number];

/** The phases that a caller may name; those of the API and the reserved one. */
export const namedPhases = [...phases, "Error"] as const;

export type NamedPhase = (typeof namedPhases)[number];

export type ConditionStatus = "True" | "False" | "Unknown";

/** A condition of an aggregated status. */
export interface StatusCondition {
  readonly type: "Ready" | "Available" | "Degraded";
  readonly status: ConditionStatus;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

/** What the reports add up to. */
export interface Status {
  readonly observedGeneration: number;
  readonly phase: Phase;
  readonly reason: string;
  readonly message: string;
  readonly conditions: readonly StatusCondition[];
  readonly lastUpdateTime: string;
}

/** Reads what a column held: a status of ours, or undefined for anything else. `Error` is reserved, and read as Failed. */
export function cachedStatus(value: unknown): Status | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { phase, conditions, observedGeneration } = value as Record<keyof Status, unknown>;
  const isOurs =
    typeof phase === "string" &&
    Array.isArray(conditions) &&
    typeof observedGeneration === "number";
  if (!isOurs) return undefined;
  const status = value as Status;
  return phase === "Error" ? { ...status, phase: "Failed" } : status;
}

export function phaseNamed(word: string): Phase | undefined {
  return word === "Error" ? "Failed" : phases.find((phase) => phase === word);
}
