// The servers that Ark talks to: MCP servers, memories, A2A servers and execution engines.

import { Type, type Static } from "typebox";

import { arkKind, column, conditionColumn } from "./ark-kind.ts";
import { conditions, duration, header, oneOf, value } from "./schema-parts.ts";

const headers = Type.Optional(Type.Array(header));
const description = Type.Optional(Type.String());

const mcpServerSpec = Type.Object({
  address: value,
  transport: oneOf(["http", "sse"], { default: "http" }),
  headers,
  timeout: Type.Optional(Type.String({ default: "30s" })),
  toolCallTimeout: Type.Optional(Type.String()),
  pollInterval: Type.Optional(duration({ default: "1m" })),
  description,
  authorization: Type.Optional(
    Type.Object({
      tokenSecretRef: Type.Object({
        name: Type.String(),
        accessTokenKey: Type.Optional(Type.String({ default: "access_token" })),
        refreshTokenKey: Type.Optional(Type.String({ default: "refresh_token" })),
        expiresAtKey: Type.Optional(Type.String({ default: "expires_at" })),
        clientIDKey: Type.Optional(Type.String({ default: "client_id" })),
        clientSecretKey: Type.Optional(Type.String({ default: "client_secret" })),
      }),
    }),
  ),
});

export type McpServerSpec = Static<typeof mcpServerSpec>;

export const mcpServer = arkKind({
  kind: "MCPServer",
  plural: "mcpservers",
  description: "A server of tools that speaks the Model Context Protocol.",
  spec: mcpServerSpec,
  status: Type.Object({
    resolvedAddress: Type.Optional(Type.String()),
    toolCount: Type.Optional(Type.Integer()),
    conditions: Type.Optional(conditions),
    authorization: Type.Optional(
      Type.Object(
        { state: Type.Optional(oneOf(["Required", "DiscoveryFailed", "Authorized"])) },
        { "x-kubernetes-preserve-unknown-fields": true },
      ),
    ),
  }),
  columns: [
    conditionColumn("Available"),
    conditionColumn("Discovering"),
    { name: "Tools", type: "integer", jsonPath: ".status.toolCount" },
    column("Auth", ".status.authorization.state"),
  ],
});

const memorySpec = Type.Object({ address: value, headers });

export const memory = arkKind({
  kind: "Memory",
  plural: "memories",
  description: "A server that remembers conversations.",
  spec: memorySpec,
  status: Type.Object({
    phase: Type.Optional(oneOf(["running", "ready", "error"])),
    message: Type.Optional(Type.String()),
    lastResolvedAddress: Type.Optional(Type.String()),
  }),
  columns: [column("Phase", ".status.phase"), column("Address", ".status.lastResolvedAddress")],
  selectableFields: ["status.phase"],
});

export const a2aServerSpec = Type.Object({
  address: value,
  headers,
  description,
  pollInterval: Type.Optional(duration({ default: "1m" })),
  timeout: Type.Optional(duration({ default: "5m" })),
  allowedEndpointHosts: Type.Optional(Type.Array(Type.String())),
  endpointResolution: Type.Optional(oneOf(["address", "cardPath", "cardUrl"])),
});

export const a2aServer = arkKind({
  kind: "A2AServer",
  plural: "a2aservers",
  version: "v1prealpha1",
  description: "A server of agents that speaks the Agent2Agent protocol.",
  spec: a2aServerSpec,
  status: Type.Object({
    lastResolvedAddress: Type.Optional(Type.String()),
    lastResolvedEndpoint: Type.Optional(Type.String()),
    rejectedEndpoint: Type.Optional(Type.String()),
    conditions: Type.Optional(conditions),
  }),
  columns: [
    conditionColumn("Ready"),
    conditionColumn("Discovering"),
    column("Address", ".status.lastResolvedAddress"),
    { ...column("Endpoint", ".status.lastResolvedEndpoint"), priority: 1 },
  ],
});

export const executionEngine = arkKind({
  kind: "ExecutionEngine",
  plural: "executionengines",
  version: "v1prealpha1",
  description: "A server that runs agents in its own way.",
  spec: Type.Object({ type: Type.String(), address: Type.Optional(value), description }),
  status: Type.Object({
    phase: Type.Optional(Type.String()),
    message: Type.Optional(Type.String()),
    lastResolvedAddress: Type.Optional(Type.String()),
  }),
  columns: [
    column("Type", ".spec.type"),
    column("Phase", ".status.phase"),
    column("Address", ".status.lastResolvedAddress"),
  ],
  selectableFields: ["spec.type", "status.phase"],
});
