// Model: a language model and how to reach it.

import { Type, type Static } from "typebox";

import { arkKind, column, conditionColumn } from "./ark-kind.ts";
import { conditions, duration, header, mapOf, oneOf, value } from "./schema-parts.ts";

const headers = Type.Optional(Type.Array(header));
const properties = Type.Optional(mapOf(value));

const openai = Type.Object({ baseUrl: value, apiKey: value, headers, properties });

const azure = Type.Object({
  baseUrl: value,
  apiKey: Type.Optional(value),
  auth: Type.Optional(
    Type.Object({
      apiKey: Type.Optional(value),
      managedIdentity: Type.Optional(Type.Object({ clientId: Type.Optional(value) })),
      workloadIdentity: Type.Optional(Type.Object({ clientId: value, tenantId: value })),
    }),
  ),
  apiVersion: Type.Optional(value),
  headers,
  properties,
});

const bedrock = Type.Object({
  region: Type.Optional(value),
  baseUrl: Type.Optional(value),
  accessKeyId: Type.Optional(value),
  secretAccessKey: Type.Optional(value),
  sessionToken: Type.Optional(value),
  modelArn: Type.Optional(value),
  properties,
  maxTokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
  temperature: Type.Optional(Type.String({ pattern: "^(0(\\.\\d+)?|1(\\.0+)?)$" })),
});

const modelSpec = Type.Object({
  model: value,
  type: Type.Optional(
    oneOf(["completions", "openai", "azure", "bedrock"], { default: "completions" }),
  ),
  provider: Type.Optional(oneOf(["openai", "azure", "bedrock"])),
  pollInterval: Type.Optional(duration({ default: "5m" })),
  config: Type.Object({
    openai: Type.Optional(openai),
    azure: Type.Optional(azure),
    bedrock: Type.Optional(bedrock),
  }),
});

export type ModelSpec = Static<typeof modelSpec>;

export const model = arkKind({
  kind: "Model",
  plural: "models",
  description: "A language model and how to reach it.",
  spec: modelSpec,
  status: Type.Object({
    resolvedAddress: Type.Optional(Type.String()),
    conditions: Type.Optional(conditions),
    phase: Type.Optional(Type.String()),
    message: Type.Optional(Type.String()),
  }),
  columns: [
    column("Type", ".spec.type"),
    column("Model", ".spec.model.value"),
    conditionColumn("Available", "ModelAvailable"),
  ],
  selectableFields: ["spec.type", "spec.provider", "status.phase"],
});
