// A2ATask: work that an agent elsewhere does for a query.

import { Type } from "typebox";

import { arkKind, column } from "./ark-kind.ts";
import {
  conditions,
  duration,
  oneOf,
  openObject,
  reference,
  someText,
  texts,
} from "./schema-parts.ts";

const phases = [
  "pending",
  "assigned",
  "running",
  "input-required",
  "auth-required",
  "completed",
  "failed",
  "cancelled",
  "unknown",
] as const;

const protocolStates = [
  "submitted",
  "working",
  "input-required",
  "completed",
  "canceled",
  "failed",
  "rejected",
  "auth-required",
  "unknown",
] as const;

export const a2aTask = arkKind({
  kind: "A2ATask",
  plural: "a2atasks",
  description: "Work that an agent elsewhere does for a query.",
  spec: Type.Object({
    queryRef: Type.Object({
      name: Type.String(),
      namespace: Type.Optional(Type.String()),
      responseTarget: Type.Optional(Type.String()),
    }),
    a2aServerRef: reference,
    agentRef: Type.Object({
      name: Type.Optional(Type.String()),
      namespace: Type.Optional(Type.String()),
    }),
    taskId: someText,
    contextId: Type.Optional(Type.String()),
    input: Type.Optional(Type.String()),
    parameters: Type.Optional(texts),
    priority: Type.Optional(Type.Integer({ format: "int32", default: 0 })),
    timeout: Type.Optional(duration({ default: "12h" })),
    ttl: Type.Optional(duration({ default: "720h" })),
    pollInterval: Type.Optional(duration({ default: "5s" })),
  }),
  status: Type.Object({
    phase: Type.Optional(oneOf(phases, { default: "pending" })),
    protocolState: Type.Optional(oneOf(protocolStates)),
    conditions: Type.Optional(conditions),
    startTime: Type.Optional(Type.String({ format: "date-time" })),
    completionTime: Type.Optional(Type.String({ format: "date-time" })),
    error: Type.Optional(Type.String()),
    contextId: Type.Optional(Type.String()),
    lastStatusTimestamp: Type.Optional(Type.String()),
    protocolMetadata: Type.Optional(texts),
    artifacts: Type.Optional(Type.Array(openObject)),
    history: Type.Optional(Type.Array(openObject)),
    lastStatusMessage: Type.Optional(openObject),
  }),
  columns: [
    column("Query", ".spec.queryRef.name"),
    column("Agent", ".spec.agentRef.name"),
    column("Phase", ".status.phase"),
  ],
  selectableFields: ["status.phase"],
});
