// The kinds with a rule or two.

import type { Static } from "typebox";

import type { arkConfigSpec } from "../ark-config.ts";
import type { evaluationSpec, evaluatorSpec } from "../evaluation.ts";
import type { a2aServerSpec, McpServerSpec } from "../servers.ts";
import { checkPositive } from "./approval.ts";
import { specToFill, type ArkRules } from "./ark-rules.ts";
import { checkOneSource, headersAt, parametersAt } from "./sources.ts";
import { configName, fillTtl } from "./ttl.ts";

export const evaluationRules: ArkRules<Static<typeof evaluationSpec>> = {
  default: async (object, asking) => {
    const spec = specToFill(object);
    if (spec !== undefined) await fillTtl(spec, "evaluationTTL", asking);
  },
  validate: ({ spec }, at) => {
    const place = at.child("evaluator").child("parameters");
    checkOneSource(parametersAt(spec.evaluator?.parameters, place));
  },
};

export const evaluatorRules: ArkRules<Static<typeof evaluatorSpec>> = {
  validate: ({ spec }, at) => {
    checkOneSource(parametersAt(spec.parameters, at.child("parameters")));
  },
};

/** Those who are called with headers. */
export const serverRules: ArkRules<McpServerSpec | Static<typeof a2aServerSpec>> = {
  validate: ({ spec }, at) => checkOneSource(headersAt(spec.headers, at.child("headers"))),
};

export const arkConfigRules: ArkRules<Static<typeof arkConfigSpec>> = {
  validate: ({ spec }, at, { name, warn }) => {
    const { queryTTL, evaluationTTL } = spec;
    if (queryTTL !== undefined) checkPositive(queryTTL, at.child("queryTTL"));
    if (evaluationTTL !== undefined) checkPositive(evaluationTTL, at.child("evaluationTTL"));
    if (name !== configName) warn(`ArkConfig ${name} is never read, only ${configName} is`);
  },
};
