// What is told of an app as events. The same thing said again is counted, so no text has a number that changes.

import type { DynamicObject } from "@keelson/client";
import type { EventRecorder } from "@keelson/controller";

const normal = ["Provisioned", "DriftRepaired", "Expired", "CleanedUp"] as const;
const warning = ["Conflict", "RetryBackoff", "MigrationFailed", "CleanupFailed"] as const;
export type HappeningReason = (typeof normal)[number] | (typeof warning)[number];

/** What was under way. */
const actions: Readonly<Record<HappeningReason, string>> = {
  Provisioned: "Reconcile",
  DriftRepaired: "Repair",
  Expired: "Expire",
  CleanedUp: "Cleanup",
  Conflict: "Reconcile",
  RetryBackoff: "Reconcile",
  MigrationFailed: "Migrate",
  CleanupFailed: "Cleanup",
};

export class Happenings {
  readonly #recorder: Pick<EventRecorder, "record">;

  constructor(recorder: Pick<EventRecorder, "record">) {
    this.#recorder = recorder;
  }

  tell(regarding: DynamicObject, reason: HappeningReason, note: string): void {
    const type = (normal as readonly string[]).includes(reason) ? "Normal" : "Warning";
    this.#recorder.record({ regarding, type, reason, action: actions[reason], note });
  }
}
