// Team: agents and teams that answer together.

import { Type, type Static } from "typebox";

import { arkKind, column, conditionColumn } from "./ark-kind.ts";
import { conditions, oneOf } from "./schema-parts.ts";

const teamSpec = Type.Object({
  members: Type.Array(Type.Object({ name: Type.String(), type: oneOf(["agent", "team"]) })),
  strategy: oneOf(["sequential", "round-robin", "selector", "graph"]),
  description: Type.Optional(Type.String()),
  loops: Type.Optional(Type.Boolean({ default: false })),
  maxTurns: Type.Optional(Type.Integer()),
  graph: Type.Optional(
    Type.Object({
      edges: Type.Array(Type.Object({ from: Type.String(), to: Type.String() })),
    }),
  ),
  selector: Type.Optional(
    Type.Object({
      agent: Type.Optional(Type.String()),
      selectorPrompt: Type.Optional(Type.String()),
      enableTerminateTool: Type.Optional(Type.Boolean()),
      terminatePrompt: Type.Optional(Type.String()),
      model: Type.Optional(Type.String()),
    }),
  ),
});

export type TeamSpec = Static<typeof teamSpec>;

export const team = arkKind({
  kind: "Team",
  plural: "teams",
  description: "Agents and teams that answer together.",
  spec: teamSpec,
  status: Type.Object({ conditions: Type.Optional(conditions) }),
  columns: [column("Strategy", ".spec.strategy"), conditionColumn("Available")],
});
