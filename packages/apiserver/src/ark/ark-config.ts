// ArkConfig: what holds for a whole installation.

import { Type } from "typebox";

import { arkKind, column } from "./ark-kind.ts";
import { duration } from "./schema-parts.ts";

export const arkConfigSpec = Type.Object({
  queryTTL: Type.Optional(duration()),
  evaluationTTL: Type.Optional(duration()),
});

export const arkConfig = arkKind({
  kind: "ArkConfig",
  plural: "arkconfigs",
  isNamespaced: false,
  description: "What holds for a whole installation; by convention there is one, called default.",
  spec: arkConfigSpec,
  status: Type.Unsafe<Record<string, never>>({ type: "object" }),
  columns: [column("QueryTTL", ".spec.queryTTL")],
});
