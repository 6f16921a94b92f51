// Tool: what an agent can do besides talking.

import { Type, type Static } from "typebox";

import { arkKind } from "./ark-kind.ts";
import {
  approval,
  header,
  oneOf,
  openObject,
  parameter,
  reference,
  someText,
} from "./schema-parts.ts";

const named = Type.Object({ name: Type.String() });
const sourceBytesMax = 65_536;

const hint = Type.Optional(Type.Boolean());

const toolSpec = Type.Object({
  type: oneOf(["http", "mcp", "agent", "team", "builtin", "inline"]),
  description: Type.Optional(Type.String()),
  inputSchema: Type.Optional(openObject),
  approval: Type.Optional(approval),
  annotations: Type.Optional(
    Type.Object({
      destructiveHint: hint,
      idempotentHint: hint,
      openWorldHint: hint,
      readOnlyHint: hint,
      title: Type.Optional(Type.String()),
    }),
  ),
  http: Type.Optional(
    Type.Object({
      url: Type.String({ pattern: "^https?://.*" }),
      method: Type.Optional(oneOf(["GET", "POST", "PUT", "DELETE", "PATCH"], { default: "GET" })),
      headers: Type.Optional(Type.Array(header)),
      timeout: Type.Optional(Type.String({ pattern: "^[0-9]+[smh]?$" })),
      body: Type.Optional(Type.String()),
      bodyParameters: Type.Optional(Type.Array(parameter)),
    }),
  ),
  mcp: Type.Optional(Type.Object({ mcpServerRef: reference, toolName: someText })),
  agent: Type.Optional(named),
  team: Type.Optional(named),
  builtin: Type.Optional(named),
  inline: Type.Optional(
    Type.Object({
      source: Type.String({
        // A length counts characters, the rule counts bytes.
        maxLength: sourceBytesMax,
        "x-kubernetes-validations": [
          {
            rule: `size(bytes(self)) <= ${sourceBytesMax}`,
            message: `must be no more than ${sourceBytesMax} bytes`,
          },
        ],
      }),
      language: oneOf(["bash", "python", "node", "typescript"]),
    }),
  ),
});

export type ToolSpec = Static<typeof toolSpec>;

export const tool = arkKind({
  kind: "Tool",
  plural: "tools",
  description: "What an agent can do besides talking.",
  spec: toolSpec,
  status: Type.Object({
    state: Type.Optional(Type.String()),
    message: Type.Optional(Type.String()),
  }),
  columns: [],
  selectableFields: ["spec.type"],
});
