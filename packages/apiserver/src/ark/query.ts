// Query: a question to an agent, a team, a model or a tool, and its answer.

import { Type, type Static } from "typebox";

import { arkKind, column } from "./ark-kind.ts";
import {
  anything,
  conditions,
  duration,
  labelSelector,
  oneOf,
  override,
  parameter,
  reference,
  someText,
  texts,
  tokenUsage,
} from "./schema-parts.ts";

const target = Type.Object({ type: oneOf(["agent", "team", "model", "tool"]), name: someText });
const answeringTarget = Type.Object({ type: Type.String(), name: Type.String() });

const querySpec = Type.Object({
  input: anything("The question: a text, or a list of messages if the type is messages."),
  type: Type.Optional(oneOf(["user", "messages"], { default: "user" })),
  target: Type.Optional(target),
  targets: Type.Optional(Type.Array(target)),
  selector: Type.Optional(labelSelector),
  parameters: Type.Optional(Type.Array(parameter)),
  overrides: Type.Optional(Type.Array(override)),
  memory: Type.Optional(reference),
  serviceAccount: Type.Optional(someText),
  sessionId: Type.Optional(someText),
  conversationId: Type.Optional(someText),
  evaluators: Type.Optional(Type.Array(reference)),
  evaluatorSelector: Type.Optional(labelSelector),
  timeout: Type.Optional(duration({ default: "5m" })),
  // No default here: it would hide that of ArkConfig.
  ttl: Type.Optional(duration()),
  cancel: Type.Optional(Type.Boolean()),
});

const queryStatus = Type.Object({
  phase: Type.Optional(
    oneOf(["pending", "running", "evaluating", "error", "done", "canceled"], {
      default: "pending",
    }),
  ),
  conditions: Type.Optional(conditions),
  response: Type.Optional(
    Type.Object({
      target: Type.Optional(answeringTarget),
      content: Type.Optional(Type.String()),
      raw: Type.Optional(Type.String()),
      phase: Type.Optional(Type.String()),
      a2a: Type.Optional(
        Type.Object({
          contextId: Type.Optional(Type.String()),
          taskId: Type.Optional(Type.String()),
        }),
      ),
    }),
  ),
  responses: Type.Optional(
    Type.Array(
      Type.Object({
        target: Type.Optional(answeringTarget),
        content: Type.Optional(Type.String()),
      }),
    ),
  ),
  evaluations: Type.Optional(
    Type.Array(
      Type.Object({
        evaluatorName: Type.Optional(Type.String()),
        score: Type.Optional(Type.String()),
        passed: Type.Optional(Type.Boolean()),
        metadata: Type.Optional(texts),
      }),
    ),
  ),
  conversationId: Type.Optional(someText),
  jobId: Type.Optional(someText),
  duration: Type.Optional(duration()),
  tokenUsage: Type.Optional(tokenUsage),
});

export type QuerySpec = Static<typeof querySpec>;

export const query = arkKind({
  kind: "Query",
  plural: "queries",
  description: "A question to an agent, a team, a model or a tool, and its answer.",
  spec: querySpec,
  status: queryStatus,
  columns: [
    column("Type", ".spec.type"),
    column("Phase", ".status.phase"),
    column("Duration", ".status.duration"),
  ],
  selectableFields: ["spec.type", "spec.target.name", "status.phase"],
});
