// What is true of an app, a sentence for each part of it.

import type { Condition } from "../kinds/status.ts";

/** In the order in which they are shown. */
export const conditionTypes = [
  "DatabaseReady",
  "StorageReady",
  "AuthReady",
  "RedisReady",
  "SearchReady",
  "DeploymentReady",
  "IngressReady",
  "Ready",
] as const;
export type ConditionType = (typeof conditionTypes)[number];

/** What a part of the app says of itself. */
export interface Finding {
  readonly status: Condition["status"];
  readonly reason: string;
  /** Names the object it is about. */
  readonly message: string;
  /** Where it was found for an earlier generation than the present one, and nobody has looked since. */
  readonly observedGeneration?: number;
}

/** Absent: the feature is off. */
export type Findings = Readonly<Partial<Record<Exclude<ConditionType, "Ready">, Finding>>>;

export interface Occasion {
  readonly generation: number;
  /** RFC 3339. */
  readonly now: string;
  /** Why nothing can be ready, where that is more than a part that is missing. */
  readonly unready?: Finding | undefined;
}

/**
 * The conditions of a status, `Ready` among them. Those of features that are off are gone; a time moves only when a
 * status does.
 */
export function conditionsOf(
  findings: Findings,
  before: readonly Condition[],
  { generation, now, unready }: Occasion,
): Condition[] {
  const all = { ...findings, Ready: unready ?? readyOf(findings) };
  return conditionTypes.flatMap((type) => {
    const finding = all[type];
    if (finding === undefined) return [];
    const previous = before.find((condition) => condition.type === type);
    const isSame = previous?.status === finding.status;
    return {
      type,
      ...finding,
      message: shortened(finding.message),
      lastTransitionTime: isSame ? previous.lastTransitionTime : now,
      observedGeneration: finding.observedGeneration ?? generation,
    };
  });
}

/** What the definitions of both kinds take: a status with more would be refused for ever. */
const messageLengthMax = 32_768;

function shortened(message: string): string {
  if (message.length <= messageLengthMax) return message;
  return `${message.slice(0, messageLengthMax - 1).toWellFormed()}\u2026`;
}

/** What was said before, as it is still said while nobody can look. */
export function findingBefore(
  { status, reason, message, observedGeneration = 0 }: Condition,
  generation: number,
): Finding {
  const isPresent = observedGeneration === generation;
  return { status, reason, message, ...(isPresent ? {} : { observedGeneration }) };
}

/** The same of all parts. */
export function findingsBefore(before: readonly Condition[], generation: number): Findings {
  return Object.fromEntries(
    before
      .filter(({ type }) => type !== "Ready")
      .map((condition) => [condition.type, findingBefore(condition, generation)]),
  );
}

/** Whether what was asked for last is there. */
export function isTrue({ status, observedGeneration }: Finding): boolean {
  return status === "True" && observedGeneration === undefined;
}

/** True if all others are; an Ingress whose controller reports no address may still serve. */
function readyOf(findings: Findings): Finding {
  const open = conditionTypes.filter((type) => {
    const finding = type === "Ready" ? undefined : findings[type];
    if (finding === undefined || isTrue(finding)) return false;
    return !(type === "IngressReady" && finding.status === "Unknown");
  });
  if (open.length === 0 && findings.DeploymentReady !== undefined) {
    return { status: "True", reason: "Ready", message: "everything asked for is there" };
  }
  return {
    status: "False",
    reason: "NotReady",
    message: open.length === 0 ? "nothing is known of it yet" : `not yet: ${open.join(", ")}`,
  };
}
