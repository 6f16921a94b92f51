// What tests of others need of the client.

import { noMetrics } from "@keelson/base";

import { clientMetrics as declare } from "../metrics.ts";

/** Metrics of the client that keep nothing. */
export const clientMetrics = declare(noMetrics);
