// The questions that people ask of a resource, each with its answer and the reason for it.

import type { JsonObject } from "@keelson/base";
import type { DetailsRow } from "../sql/resource-details.ts";

interface Condition {
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  /** Since when, as far as it is known. */
  readonly since: string | null;
}

/** All of them, in a fixed order. */
export function conditionsOf(row: DetailsRow): readonly JsonObject[] {
  return Object.entries(questions).map(([type, ask]) => {
    const { status, reason, message, since } = ask(row);
    return { type, status, reason, message, last_transition: since };
  });
}

const questions: Readonly<Record<string, (row: DetailsRow) => Condition>> = {
  Applied: (row) => {
    const { generation, applied_generation, failed_generation } = row;
    if (failed_generation === generation) {
      const message = row.error_message ?? "";
      return {
        status: "False",
        reason: reasonOf(row.error_class),
        message,
        since: row.last_attempt_at,
      };
    }
    if (applied_generation === generation) {
      return yes("Applied", `generation ${generation} was applied`, row.applied_at);
    }
    const message =
      applied_generation === null
        ? "nothing was applied yet"
        : `generation ${applied_generation} was applied, ${generation} was not yet`;
    return no("Pending", message, row.committed_at);
  },
  Observed: (row) => {
    if (row.observed_at === null) return no("NeverSeen", "the cluster was not heard of yet", null);
    if (row.absent_at !== null) {
      return no("Absent", "the object is not in the cluster", row.absent_at);
    }
    return row.current_generation === row.applied_generation
      ? yes("Seen", `the cluster has generation ${row.current_generation}`, row.observed_at)
      : no("Behind", "the cluster has not shown what was applied last", row.observed_at);
  },
  Drifted: (row) => {
    // Of what is drifted the status may say something else that comes first.
    if (!row.drifted && row.status !== "drifted") return no("AsApplied", "", row.observed_at);
    if (row.contested !== null) return yes("Contested", row.contested, row.observed_at);
    return row.absent_at === null
      ? yes("Changed", "fields of ours differ in the cluster", row.observed_at)
      : yes("Absent", "the object was removed from the cluster", row.absent_at);
  },
  TargetReachable: (row) => {
    const { target_health, target_message, target_contact_at } = row;
    if (target_health === null) {
      return no("UnknownTarget", `no target is registered as ${row.cluster_id}`, null);
    }
    if (target_health === "Unreachable") {
      return no("Unreachable", target_message ?? "", target_contact_at);
    }
    if (target_health === "Unknown") {
      return { ...no("NotAskedYet", target_message ?? "", target_contact_at), status: "Unknown" };
    }
    return yes("Reachable", "", target_contact_at);
  },
  Paused: (row) => {
    if (row.paused) {
      const message = "nothing is written to the cluster until it is resumed";
      return yes("Paused", message, row.committed_at);
    }
    return row.target_paused
      ? yes("TargetPaused", targetPausedText(row.cluster_id), null)
      : no("Running", "", row.committed_at);
  },
  DeletionBlocked: (row) =>
    row.deletion_asked_at !== null && row.error_message !== null
      ? yes(blockedReason(row), row.error_message, row.last_attempt_at)
      : no("NotBlocked", "", row.deletion_asked_at),
  Waiting: (row) => {
    const { error_class, error_message, last_attempt_at } = row;
    if (error_class === "no-kind" || error_class === "no-namespace") {
      return yes(reasonOf(error_class), error_message ?? "", last_attempt_at);
    }
    // Without an error: for another to be gone, a predecessor or what is made anew.
    return error_class === null && error_message !== null && row.deletion_asked_at === null
      ? yes("NotGoneYet", error_message, last_attempt_at)
      : no("NotWaiting", "", last_attempt_at);
  },
};

export function targetPausedText(clusterId: string): string {
  return `nothing is written to ${clusterId} until that target is resumed`;
}

function yes(reason: string, message: string, since: string | null): Condition {
  return { status: "True", reason, message, since };
}

function no(reason: string, message: string, since: string | null): Condition {
  return { status: "False", reason, message, since };
}

/** Without an error the cluster was asked, and has not finished. */
function blockedReason({ error_class }: DetailsRow): string {
  return error_class === null ? "NotGoneYet" : reasonOf(error_class);
}

/** `no-kind` as `NoKind`: reasons are one word in camel case. */
function reasonOf(errorClass: string | null): string {
  const words = (errorClass ?? "internal").split("-");
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}
