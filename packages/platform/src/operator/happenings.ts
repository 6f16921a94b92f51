// What is told of an app as events. The same thing said again is counted, so no text has a number that changes.

import type { DynamicObject } from "@keelson/client";
import type { EventRecorder } from "@keelson/controller";

const normal = ["Provisioned", "DriftRepaired", "Expired", "CleanedUp"] as const;
const warning = ["Conflict", "RetryBackoff", "MigrationFailed", "CleanupFailed"] as const;
export type HappeningReason = (typeof normal)[number] | (typeof warning)[number];

/** What was under way, and what the reason means: docs/reference/events.md is made of it. */
export const happeningReasons: Readonly<Record<HappeningReason, Happening>> = {
  Provisioned: { action: "Reconcile", meaning: "everything that was asked for is there" },
  DriftRepaired: { action: "Repair", meaning: "what somebody else changed was put right" },
  Expired: { action: "Expire", meaning: "the time of a preview is over, and it goes" },
  CleanedUp: { action: "Cleanup", meaning: "nothing of it is left" },
  Conflict: { action: "Reconcile", meaning: "what it would make is somebody else's" },
  RetryBackoff: { action: "Reconcile", meaning: "something failed, and is tried again" },
  MigrationFailed: { action: "Migrate", meaning: "a migration failed; the old pods serve on" },
  CleanupFailed: { action: "Cleanup", meaning: "something cannot be removed now" },
};

export interface Happening {
  readonly action: string;
  readonly meaning: string;
}

/** Whether somebody may want to act. */
export function typeOfHappening(reason: HappeningReason): "Normal" | "Warning" {
  return (normal as readonly string[]).includes(reason) ? "Normal" : "Warning";
}

export class Happenings {
  readonly #recorder: Pick<EventRecorder, "record">;

  constructor(recorder: Pick<EventRecorder, "record">) {
    this.#recorder = recorder;
  }

  tell(regarding: DynamicObject, reason: HappeningReason, note: string): void {
    const { action } = happeningReasons[reason];
    this.#recorder.record({ regarding, type: typeOfHappening(reason), reason, action, note });
  }
}
