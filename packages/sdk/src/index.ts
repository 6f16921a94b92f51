// Write a controller of clusters in ten lines: say what it is for and how it reconciles; which events concern it,
// turns, retries, reports and finalizers are looked after here.

export {
  noMetrics,
  silentLog,
  systemClock,
  type Clock,
  type Log,
  type Metrics,
  type Random,
} from "@keelson/base";
export { ApiError, type Identity } from "./api.ts";
export { createController, type Controller } from "./controller.ts";
export { type ControllerEvent, type EventType, type RawEvent } from "./event.ts";
export { type Context, type ControllerOptions } from "./options.ts";
export { type Dependency, type Operator, type Precondition } from "./preconditions.ts";
export {
  type Condition,
  type ConditionStatus,
  type ErrorType,
  type JsonMap,
  type JsonValue,
  type Kind,
  type Report,
  type ReportedError,
  type Reports,
  type Resource,
} from "./resource.ts";
export {
  degraded,
  failed,
  notApplicable,
  progressing,
  ready,
  type Failure,
  type Result,
} from "./results.ts";
export {
  type Disposition,
  type Subscription,
  type Transport,
  type TransportContext,
} from "./transport.ts";
export { memory, type MemoryTransport } from "./transports/memory.ts";
export { pubsub, type PubsubOptions } from "./transports/pubsub.ts";
export { sse, type SseOptions } from "./transports/sse.ts";
