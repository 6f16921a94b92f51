// Every metric of the operator. Their names and labels are the contract's; series that name an app go with it.

import type { Metrics } from "@keelson/base";

import type { Phase } from "../kinds/status.ts";
import { resourceTypes, type ResourceType } from "../steps/step.ts";

/** As the gauge shows them. */
const phaseNumbers: Readonly<Record<Phase, number>> = {
  Pending: 0,
  Provisioning: 1,
  Running: 2,
  Failed: 3,
  Terminating: 4,
};

export interface PhaseLabels {
  readonly namespace: string;
  readonly app: string;
  readonly environment: string;
}

const results = ["success", "error"] as const;
export type ReconcileResult = (typeof results)[number];

export class OperatorMetrics {
  readonly #phase;
  readonly #reconciles;
  readonly #seconds;
  readonly #previews;
  readonly #leader;

  constructor(metrics: Metrics) {
    this.#phase = metrics.gauge({
      name: "plattr_application_phase",
      help: "Where an app stands: 0 Pending, 1 Provisioning, 2 Running, 3 Failed, 4 Terminating",
      labels: ["namespace", "app", "environment"],
    });
    this.#reconciles = metrics.counter({
      name: "plattr_reconcile_total",
      help: "What was seen to of an app, by how it ended, once its status says so",
      labels: ["app", "resource_type", "result"],
    });
    this.#seconds = metrics.histogram({
      name: "plattr_provisioning_duration_seconds",
      help: "How long it took from the wish for something until it was there",
      labels: ["app", "resource_type"],
      buckets: [1, 5, 10, 30, 60, 120, 300],
    });
    this.#previews = metrics.gauge({
      name: "plattr_preview_environments_active",
      help: "Preview environments that are there and not being removed",
    });
    this.#leader = metrics.gauge({
      name: "plattr_leader",
      help: "1 while this process leads, 0 while it does not",
    });
    this.#leader.set(0);
  }

  setPhase(labels: PhaseLabels, phase: Phase): void {
    this.#phase.set({ ...labels }, phaseNumbers[phase]);
  }

  forgetPhase(labels: PhaseLabels): void {
    this.#phase.remove({ ...labels });
  }

  countReconcile(app: string, resourceType: ResourceType, result: ReconcileResult): void {
    this.#reconciles.add({ app, resource_type: resourceType, result });
  }

  observeProvisioning(app: string, resourceType: ResourceType, seconds: number): void {
    this.#seconds.observe({ app, resource_type: resourceType }, seconds);
  }

  /** No app of that name is left anywhere. */
  forgetApp(app: string): void {
    for (const resource_type of resourceTypes) {
      for (const result of results) this.#reconciles.remove({ app, resource_type, result });
      this.#seconds.remove({ app, resource_type });
    }
  }

  setPreviews(count: number | undefined): void {
    if (count === undefined) this.#previews.remove();
    else this.#previews.set(count);
  }

  setLeader(isLeader: boolean): void {
    this.#leader.set(isLeader ? 1 : 0);
  }
}
