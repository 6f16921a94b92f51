// What passes work with, for as long as this process leads.

import type { Clock, Log, Random } from "@keelson/base";
import type { Client } from "@keelson/client";

import type { Children } from "../children/children.ts";
import type { ExternalService } from "../steps/step.ts";
import type { WorkloadStep } from "../steps/workload-step.ts";
import type { AppSteps } from "./app-steps.ts";
import type { Departures } from "./departures.ts";
import type { Happenings } from "./happenings.ts";
import type { Lanes } from "./lanes.ts";
import type { OperatorMetrics } from "./metrics.ts";
import type { OperatorSettings } from "./settings.ts";

export interface OperatorParts {
  readonly client: Client;
  readonly children: Children;
  readonly steps: AppSteps;
  readonly workload: WorkloadStep;
  readonly lanes: Lanes<ExternalService>;
  readonly departures: Departures;
  readonly settings: OperatorSettings;
  readonly happenings: Happenings;
  readonly metrics: OperatorMetrics;
  /** Children that were written or removed for the owner of that uid, since somebody last took them. */
  readonly takeWrites: (uid: string) => readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}
