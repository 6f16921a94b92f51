// Tool: what it is, and that it is only that.

import type { ToolSpec } from "../tool.ts";
import { builtinTools, isBuiltin } from "./agent.ts";
import { checkApproval } from "./approval.ts";
import type { ArkRules } from "./ark-rules.ts";
import { checkJsonSchema } from "./json-schema.ts";
import { checkOneSource, headersAt, parametersAt } from "./sources.ts";

const types = ["http", "mcp", "agent", "team", "builtin", "inline"] as const;

export const toolRules: ArkRules<ToolSpec> = {
  validate: ({ spec, old }, at) => {
    const { type, http, builtin, inputSchema, approval } = spec;
    const isMoved = old !== undefined && old.type !== type;
    if (isMoved && (type === "inline" || old.type === "inline")) {
      at.child("type").invalid(
        type,
        `cannot change from ${old.type}: delete the Tool and make another`,
      );
    }
    if (spec[type] === undefined) at.child(type).required(`type ${type} needs it`);
    for (const other of types) {
      if (other === type || spec[other] === undefined) continue;
      at.child(other).forbidden(`may not be given where the type is ${type}`);
    }
    if (builtin !== undefined && !isBuiltin(builtin.name)) {
      at.child("builtin").child("name").notSupported(builtin.name, builtinTools);
    }
    checkApproval(approval, at.child("approval"));
    if (inputSchema !== undefined) checkJsonSchema(inputSchema, at.child("inputSchema"));
    if (http === undefined) return;
    checkOneSource([
      ...headersAt(http.headers, at.child("http").child("headers")),
      ...parametersAt(http.bodyParameters, at.child("http").child("bodyParameters")),
    ]);
  },
};
