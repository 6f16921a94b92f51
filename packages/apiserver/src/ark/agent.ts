// Agent: a model with a prompt and tools.

import { Type, type Static } from "typebox";

import { arkKind, column, conditionColumn } from "./ark-kind.ts";
import {
  approval,
  conditions,
  oneOf,
  openObject,
  override,
  parameter,
  reference,
  someText,
} from "./schema-parts.ts";

const tool = Type.Object({
  type: oneOf(["built-in", "custom", "mcp", "http", "agent", "team", "builtin"]),
  name: Type.Optional(someText),
  description: Type.Optional(Type.String()),
  approval: Type.Optional(approval),
  functions: Type.Optional(Type.Array(parameter)),
  partial: Type.Optional(
    Type.Object({
      name: Type.Optional(someText),
      parameters: Type.Optional(Type.Array(parameter)),
    }),
  ),
});

const agentSpec = Type.Object({
  prompt: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  modelRef: Type.Optional(reference),
  executionEngine: Type.Optional(reference),
  outputSchema: Type.Optional(openObject),
  tools: Type.Optional(Type.Array(tool)),
  parameters: Type.Optional(Type.Array(parameter)),
  overrides: Type.Optional(Type.Array(override)),
});

export type AgentSpec = Static<typeof agentSpec>;

export const agent = arkKind({
  kind: "Agent",
  plural: "agents",
  description: "A model with a prompt and tools.",
  spec: agentSpec,
  status: Type.Object({ conditions: Type.Optional(conditions) }),
  columns: [column("Model", ".spec.modelRef.name"), conditionColumn("Available")],
  selectableFields: ["spec.modelRef.name"],
});
