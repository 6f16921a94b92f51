// What tests put in place of the machine: time that stands still, logs and metrics that can be read; and how they wait for it.

export { testIdentity } from "./identity.ts";
export { ManualClock } from "./manual-clock.ts";
export { RecordingLog, type LogEntry } from "./recording-log.ts";
export { RecordingMetrics } from "./recording-metrics.ts";
export { until } from "./until.ts";
