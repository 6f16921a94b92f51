import type { Phase } from "../kinds/status.ts";
import { isTrue, type Finding, type Findings } from "./conditions.ts";

/** These end only when somebody does something about them. */
const standing: ReadonlySet<string> = new Set([
  "Conflict",
  "Refused",
  "InvalidSpec",
  "MigrationFailed",
  "ProgressDeadlineExceeded",
]);

/** After so many failed attempts in a row it is more than a hiccup. */
const attemptsMax = 3;

export interface PhaseFacts {
  readonly findings: Findings;
  readonly isDeleting: boolean;
  /** In a row. */
  readonly failedAttempts: number;
  /** Why nothing can be ready, where that is more than a part that is missing. */
  readonly unready?: Finding | undefined;
}

/** Where an app stands between nothing and running. */
export function phaseOf({ findings, isDeleting, failedAttempts, unready }: PhaseFacts): Phase {
  if (isDeleting) return "Terminating";
  if (unready !== undefined) {
    const isLong = failedAttempts > attemptsMax;
    return isLong || standing.has(unready.reason) ? "Failed" : "Pending";
  }
  const { DeploymentReady, IngressReady, ...provisioned } = findings;
  const failed = [...Object.values(provisioned), DeploymentReady, IngressReady].filter(isFalse);
  if (failed.some(({ reason }) => standing.has(reason))) return "Failed";
  if (failed.length > 0 && failedAttempts > attemptsMax) return "Failed";
  const open = Object.values(provisioned).filter(({ status }) => status !== "True");
  if (open.some(({ reason }) => reason !== "Migrating")) return "Pending";
  if (open.length > 0) return "Provisioning"; // A rollout has begun, with its migrations.
  if (DeploymentReady === undefined) return "Pending";
  // What was there for an earlier generation was there; it is not what is asked for now.
  const isAllThere = [...Object.values(provisioned), DeploymentReady].every(isTrue);
  return isAllThere && !isFalse(IngressReady) ? "Running" : "Provisioning";
}

function isFalse(finding: Finding | undefined): finding is Finding {
  return finding?.status === "False";
}
