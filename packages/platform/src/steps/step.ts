// One feature of an app as the operator sees to it, whatever stands behind: the shape that all of them have.

import type { DynamicObject, ObjectKind } from "@keelson/client";

import type { App } from "../app.ts";
import type { ConditionType, Finding } from "../status/conditions.ts";
import type { OwnedKind } from "../kinds/status.ts";
import type { Ledger } from "../ownership/ledger.ts";
import type { CallPoint } from "./call-point.ts";

/** What may hold workers up: a service outside the cluster. */
export type ExternalService = Exclude<CallPoint["service"], "kubernetes">;

/** The parts of the work, as metrics name them. */
export const resourceTypes = [
  "database",
  "storage",
  "auth",
  "redis",
  "search",
  "workload",
] as const;
export type ResourceType = (typeof resourceTypes)[number];

/** What becomes of what is outside when nobody asks for it any more. */
export type Policy = App["spec"]["deletionPolicy"];

export interface StepOutcome {
  /** What had to be done outside, by names; empty where all was as it should be. */
  readonly changes: readonly string[];
  /** The children that shall stay beside those that were prepared, as they are now. */
  readonly wanted: readonly DynamicObject[];
  /** Where it is another than the usual one. */
  readonly finding?: Finding;
  /** Why the Deployment may not have the app's image yet. */
  readonly holdsImage?: string;
  /** What is left for the next pass, which follows at once. */
  readonly left?: string;
  /** Of a feature that is off: something of it stays, since the app's pods read it. */
  readonly isRead?: boolean;
}

/** What is to be taken away, or kept by the policy. */
export interface CleanupWork {
  readonly app: App;
  readonly ledger: Ledger;
  readonly policy: Policy;
  /** What the app's pods read in the cluster, as `ConfigMap my-app-auth`: it is left to whoever asks. */
  readonly read?: ReadonlySet<string>;
}

export interface CleanupOutcome {
  /** What is left for the next pass, as progress. */
  readonly left?: string;
}

/** Throws a `StepError` for what cannot be done now. Everything in it may run twice. */
export interface Step {
  readonly resourceType: Exclude<ResourceType, "workload">;
  readonly condition: Exclude<ConditionType, "Ready" | "DeploymentReady" | "IngressReady">;
  readonly service: ExternalService | undefined;
  /** What it may have in the ledger; with none of it there is nothing to clean up outside. */
  readonly owns: readonly OwnedKind[];
  /** Kinds of which every child is this step's. */
  readonly kinds: readonly ObjectKind[];
  isOn(app: App): boolean;
  /** Whether the app's image waits for it. */
  gatesImage(app: App): boolean;
  /** The children that it may have beside those of its kinds. */
  children(app: App): readonly (ObjectKind & { readonly name: string })[];
  /** What it reads besides the app, as a text that is another whenever that is. */
  inputs?(app: App): string;
  /** What is true once it is done. */
  sentence(app: App): string;
  /**
   * Makes the children that need no service, and gives them. Done in every pass, whatever becomes of the rest: the app
   * runs, and they are mended, while a service hangs or refuses.
   */
  prepare?(
    work: { readonly app: App; readonly ledger: Ledger },
    signal: AbortSignal,
  ): Promise<readonly DynamicObject[]>;
  reconcile(
    work: { readonly app: App; readonly ledger: Ledger; readonly adopts: boolean },
    signal: AbortSignal,
  ): Promise<StepOutcome>;
  cleanup(work: CleanupWork, signal: AbortSignal): Promise<CleanupOutcome>;
}
