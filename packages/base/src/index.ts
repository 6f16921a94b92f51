// What every other package stands on: time, tasks, lists of waiters, backoff, randomness, the shapes of logs and
// metrics, the caller's identity, the REST error, lost connections by name and JSON that loses nothing. It runs anywhere, imports
// nothing, does no work on import, and whatever waits here can be cancelled.

export { append } from "./append.ts";
export { Backoff, type BackoffOptions } from "./backoff.ts";
export { systemClock, type Clock } from "./clock.ts";
export {
  isBeforeTls,
  isConnectionFailure,
  isDistrust,
  isTlsFailure,
} from "./connection-failure.ts";
export { forEachAtOnce } from "./for-each-at-once.ts";
export {
  allowsCluster,
  fleetRoleFrom,
  hasFleetRole,
  isSameIdentity,
  type AllowedClusters,
  type FleetRole,
  type Identity,
} from "./identity.ts";
export { cloneJson } from "./json/clone-json.ts";
export { jsonEqual, jsonSame } from "./json/json-equal.ts";
export { JsonSyntaxError, type JsonSyntaxErrorCode } from "./json/json-syntax-error.ts";
export {
  isJsonArray,
  isJsonObject,
  JsonNumber,
  setMember,
  type Json,
  type JsonObject,
  type MutableJson,
  type MutableJsonObject,
} from "./json/json.ts";
export {
  readJson,
  readJsonReport,
  type JsonReport,
  type ReadJsonOptions,
} from "./json/read-json.ts";
export { writeJson } from "./json/write-json.ts";
export { LinkedList, type Place } from "./linked-list.ts";
export { listenerUrl } from "./listener-url.ts";
export { silentLog, type Log, type LogLevel } from "./log.ts";
export {
  noMetrics,
  type Counter,
  type Gauge,
  type Histogram,
  type HistogramOptions,
  type LabelledCounter,
  type LabelledGauge,
  type LabelledHistogram,
  type LabelledOptions,
  type Labels,
  type MetricOptions,
  type Metrics,
  type SingleCounter,
  type SingleGauge,
  type SingleHistogram,
} from "./metrics.ts";
export { onAbort } from "./on-abort.ts";
export { seededRandom, systemRandom, type Random } from "./random.ts";
export {
  RestError,
  restErrorStatus,
  toRestReply,
  refuseProblems,
  validationFailed,
  type FieldProblem,
  type RestErrorCode,
  type RestErrorOptions,
  type RestReply,
} from "./rest-error.ts";
export { TaskFailed, TaskScope, isCancellation } from "./task-scope.ts";
export { untilAbort } from "./until-abort.ts";
