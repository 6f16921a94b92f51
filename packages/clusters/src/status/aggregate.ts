// What the reports of many controllers add up to: a pure function of rows and time.

import type { Condition } from "../reports/report.ts";
import type { Phase, Status, StatusCondition } from "./status.ts";

/** What a controller said last of one resource, as far as a status needs it. */
export interface CountedReport {
  readonly controllerName: string;
  readonly observedGeneration: number;
  readonly conditions: readonly Pick<Condition, "type" | "status" | "reason">[];
  /** The type of its error; undefined without one. */
  readonly errorType: string | undefined;
  readonly updatedAtMs: number;
}

/** Everything but the time that a status depends on. */
export interface StatusFacts {
  readonly generation: number;
  readonly generationChangedAtMs: number;
  readonly isDeleting: boolean;
  readonly reports: readonly CountedReport[];
  /** The registered controllers that match kind and platform, none of them retired. */
  readonly registered: readonly string[];
  readonly retired: readonly string[];
}

export interface StatusRules {
  /** How long controllers may be silent or busy before that is a failure. */
  readonly graceMs: number;
  /** How long a report counts as recent. */
  readonly recentMs: number;
  /** Whether a fatal error fails the whole at once. */
  readonly fatalFails: boolean;
}

/** A status without its times, and when time alone makes it another; undefined is never. */
export interface Verdict {
  readonly phase: Phase;
  readonly reason: string;
  readonly message: string;
  readonly conditions: readonly Omit<StatusCondition, "lastTransitionTime">[];
  readonly expiresAtMs: number | undefined;
}

/** Whose reports count, by name. */
export function expectedControllers({
  generation,
  reports,
  registered,
  retired,
}: StatusFacts): readonly string[] {
  const expected = new Set([...reports.map(({ controllerName }) => controllerName), ...registered]);
  for (const name of retired) expected.delete(name);
  for (const report of reports) {
    if (report.observedGeneration === generation && isNotApplicable(report)) {
      expected.delete(report.controllerName);
    }
  }
  return [...expected].sort();
}

/** The first row of the decision table that matches. */
export function aggregate(facts: StatusFacts, rules: StatusRules, nowMs: number): Verdict {
  const expected = new Set(expectedControllers(facts));
  const current = facts.reports.filter(
    ({ controllerName, observedGeneration }) =>
      expected.has(controllerName) && observedGeneration === facts.generation,
  );
  const total = expected.size;
  const ready = current.filter((report) => isTrue(report, "Available")).length;
  const errors = current.filter(({ errorType }) => errorType !== undefined).length;
  const fatal = current.filter(({ errorType }) => errorType === "Fatal").length;
  const degraded = current.filter((report) => isTrue(report, "Degraded"));
  const times = current.map(({ updatedAtMs }) => updatedAtMs);
  const graceEndsMs =
    (times.length === 0 ? facts.generationChangedAtMs : least(times)) + rules.graceMs;
  const recentEndsMs = greatest(times) + rules.recentMs;
  const isWithinGrace = nowMs < graceEndsMs;

  const counts = `${ready}/${total} controllers ready`;
  const told = (row: Row, message: string, expiresAtMs?: number): Verdict => ({
    phase: row.phase,
    reason: row.reason,
    message,
    conditions: [
      { type: "Ready", status: row.isReady ? "True" : "False", reason: row.ready, message },
      { type: "Available", status: row.isReady ? "True" : "False", reason: row.available, message },
      ...degradedCondition(degraded),
    ],
    expiresAtMs,
  });

  if (facts.isDeleting) return told(rows.deleting, "deletion was requested");
  if (total === 0) return told(rows.pending, `no controller is expected (${counts})`);
  if (facts.reports.length === 0 && isWithinGrace) {
    return told(rows.pending, `no controller has reported yet (${counts})`, graceEndsMs);
  }
  if (fatal > 0 && rules.fatalFails) {
    return told(rows.fatal, `${counts}, ${fatal}/${total} with a fatal error`);
  }
  if (ready === total && errors === 0) return told(rows.ready, counts);
  if (ready > 0 && errors > 0) {
    return told(rows.partlyWithErrors, `${counts}, ${errors}/${total} with errors`);
  }
  if (ready > 0) return told(rows.partly, counts);
  if (isWithinGrace) return told(rows.provisioning, counts, graceEndsMs);
  if (errors > 0) return told(rows.progressing, `${counts}, ${errors}/${total} with errors`);
  if (nowMs < recentEndsMs) return told(rows.progressing, counts, recentEndsMs);
  return told(rows.timedOut, `${counts} in time`);
}

/**
 * The status with its times: a condition's moves when it flips, that of the whole when anything else does. `previous` is
 * what was said last.
 */
export function settle(
  verdict: Verdict,
  {
    generation,
    previous,
    nowMs,
  }: {
    readonly generation: number;
    readonly previous: Status | undefined;
    readonly nowMs: number;
  },
): Status {
  const now = new Date(nowMs).toISOString();
  const conditions = verdict.conditions.map((condition): StatusCondition => {
    const before = previous?.conditions.find(({ type }) => type === condition.type);
    const isSame = before?.status === condition.status;
    return { ...condition, lastTransitionTime: isSame ? before.lastTransitionTime : now };
  });
  const { phase, reason, message } = verdict;
  const status = { observedGeneration: generation, phase, reason, message, conditions };
  const isSame = previous !== undefined && contentOf(previous) === contentOf(status);
  return { ...status, lastUpdateTime: isSame ? previous.lastUpdateTime : now };
}

interface Row {
  readonly phase: Phase;
  readonly reason: string;
  readonly isReady: boolean;
  readonly ready: string;
  readonly available: string;
}

const waiting = {
  isReady: false,
  ready: "ControllersNotYetReady",
  available: "ControllersBecomingAvailable",
} as const;

const rows = {
  deleting: {
    phase: "Deleting",
    reason: "DeletionRequested",
    isReady: false,
    ready: "DeletionRequested",
    available: "DeletionRequested",
  },
  pending: {
    phase: "Pending",
    reason: "NoControllers",
    isReady: false,
    ready: "ControllersNotReady",
    available: "ControllersNotAvailable",
  },
  fatal: {
    phase: "Failed",
    reason: "ControllerFatalError",
    isReady: false,
    ready: "ControllerFatalError",
    available: "ControllerFatalError",
  },
  ready: {
    phase: "Ready",
    reason: "AllControllersReady",
    isReady: true,
    ready: "AllControllersReady",
    available: "AllControllersAvailable",
  },
  partlyWithErrors: {
    phase: "Progressing",
    reason: "ControllersWithErrors",
    isReady: false,
    ready: "PartiallyReady",
    available: "PartiallyAvailableWithErrors",
  },
  partly: {
    phase: "Progressing",
    reason: "PartialProgress",
    isReady: false,
    ready: "PartiallyReady",
    available: "PartiallyAvailable",
  },
  provisioning: { phase: "Progressing", reason: "ControllersProvisioning", ...waiting },
  progressing: { phase: "Progressing", reason: "ControllersShowingProgress", ...waiting },
  timedOut: {
    phase: "Failed",
    reason: "ControllerTimeout",
    isReady: false,
    ready: "ControllersTimedOut",
    available: "ControllersTimedOut",
  },
} as const satisfies Record<string, Row>;

function degradedCondition(degraded: readonly CountedReport[]): Verdict["conditions"] {
  if (degraded.length === 0) return [];
  const names = degraded.map(({ controllerName }) => controllerName).sort();
  const message = `reported by ${names.join(", ")}`;
  return [{ type: "Degraded", status: "True", reason: "ControllersDegraded", message }];
}

function isTrue({ conditions }: CountedReport, type: string): boolean {
  return conditions.some((one) => one.type === type && one.status === "True");
}

function isNotApplicable({ conditions }: CountedReport): boolean {
  return conditions.some(
    ({ type, status, reason }) =>
      (type === "NotApplicable" && status === "True") ||
      ((type === "Applied" || type === "Available") &&
        status !== "True" &&
        reason === "NotApplicable"),
  );
}

/** What is said, without when. In the order of our own making: a cached status comes back with other keys first. */
function contentOf({
  observedGeneration,
  phase,
  reason,
  message,
  conditions,
}: Omit<Status, "lastUpdateTime">): string {
  const said = conditions.map(({ type, status, reason, message, lastTransitionTime }) => [
    type,
    status,
    reason,
    message,
    lastTransitionTime,
  ]);
  return JSON.stringify([observedGeneration, phase, reason, message, said]);
}

function least(times: readonly number[]): number {
  return times.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
}

function greatest(times: readonly number[]): number {
  return times.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
}
