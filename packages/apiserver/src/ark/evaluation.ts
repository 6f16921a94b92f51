// Evaluation: how good an answer was. Evaluator: who says so.

import { Type } from "typebox";

import { arkKind, column } from "./ark-kind.ts";
import {
  duration,
  labelSelector,
  matchExpressions,
  oneOf,
  openObject,
  parameter,
  texts,
  tokenUsage,
  value,
} from "./schema-parts.ts";

export const evaluationSpec = Type.Object({
  type: Type.Optional(
    oneOf(["direct", "baseline", "query", "batch", "event"], { default: "direct" }),
  ),
  config: openObject,
  timeout: Type.Optional(duration({ default: "5m" })),
  // No default here: it would hide that of ArkConfig.
  ttl: Type.Optional(duration()),
  evaluator: Type.Optional(
    Type.Object({
      name: Type.String(),
      namespace: Type.Optional(Type.String()),
      parameters: Type.Optional(Type.Array(parameter)),
    }),
  ),
});

export const evaluation = arkKind({
  kind: "Evaluation",
  plural: "evaluations",
  description: "How good an answer was.",
  spec: evaluationSpec,
  status: Type.Object({
    phase: Type.Optional(oneOf(["pending", "running", "error", "done", "canceled"])),
    score: Type.Optional(Type.String({ pattern: "^(0(\\.[0-9]+)?|1(\\.0+)?)$" })),
    passed: Type.Optional(Type.Boolean()),
    duration: Type.Optional(Type.String()),
    message: Type.Optional(Type.String()),
    batchProgress: Type.Optional(openObject),
    tokenUsage: Type.Optional(tokenUsage),
  }),
  columns: [
    column("Type", ".spec.type"),
    column("Phase", ".status.phase"),
    column("Score", ".status.score"),
    { name: "Passed", type: "boolean", jsonPath: ".status.passed" },
  ],
  selectableFields: ["spec.type", "status.phase"],
});

export const evaluatorSpec = Type.Object({
  address: value,
  description: Type.Optional(Type.String()),
  parameters: Type.Optional(Type.Array(parameter)),
  selector: Type.Optional(
    Type.Object({
      resourceType: oneOf(["Query"]),
      apiGroup: Type.Optional(Type.String({ default: "ark.mckinsey.com" })),
      matchLabels: Type.Optional(texts),
      matchExpressions: Type.Optional(matchExpressions),
      namespaces: Type.Optional(Type.Array(Type.String())),
      namespaceSelector: Type.Optional(labelSelector),
    }),
  ),
});

export const evaluator = arkKind({
  kind: "Evaluator",
  plural: "evaluators",
  description: "A server that evaluates answers.",
  spec: evaluatorSpec,
  status: Type.Object({
    phase: Type.Optional(Type.String()),
    message: Type.Optional(Type.String()),
    lastResolvedAddress: Type.Optional(Type.String()),
  }),
  columns: [column("Phase", ".status.phase"), column("Address", ".status.lastResolvedAddress")],
  selectableFields: ["status.phase"],
});
