// What a controller says of a resource, as it is stored.

import type { JsonObject } from "@keelson/base";
import type { ConditionStatus } from "../status/status.ts";

export interface Condition {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly severity?: string;
}

export const errorTypes = ["Transient", "Configuration", "Fatal", "System"] as const;

/** An error, in the one spelling in which it is stored. */
export interface LastError {
  readonly controllerName?: string;
  readonly errorType: (typeof errorTypes)[number];
  readonly errorCode?: string;
  readonly message: string;
  readonly userActionable?: boolean;
  readonly suggestions?: readonly string[];
  readonly details?: JsonObject;
  /** Nanoseconds. */
  readonly retryAfter?: number;
  readonly timestamp?: string;
}

/** A controller's last word on one resource. */
export interface Report {
  readonly controllerName: string;
  readonly observedGeneration: number;
  readonly conditions: readonly Condition[];
  readonly metadata: JsonObject;
  readonly lastError: LastError | null;
  readonly updatedAt: Date;
}
