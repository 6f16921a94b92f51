// The kinds of `ark.mckinsey.com`: as definitions, and as resources.

import type { JsonObject } from "@keelson/base";
import { definitionOf } from "@keelson/kube";

import { declaredResources } from "../resources/custom-resource.ts";
import type { Resource } from "../resources/resource.ts";
import { a2aTask } from "./a2a-task.ts";
import { agent } from "./agent.ts";
import { arkConfig } from "./ark-config.ts";
import type { ArkKind } from "./ark-kind.ts";
import { evaluation, evaluator } from "./evaluation.ts";
import { model } from "./model.ts";
import { query } from "./query.ts";
import { a2aServer, executionEngine, mcpServer, memory } from "./servers.ts";
import { team } from "./team.ts";
import { tool } from "./tool.ts";

const kinds: readonly ArkKind[] = [
  query,
  agent,
  model,
  team,
  tool,
  mcpServer,
  memory,
  evaluation,
  evaluator,
  a2aTask,
  a2aServer,
  executionEngine,
  arkConfig,
];

/** As CustomResourceDefinitions, for a cluster that shall have them itself. Complete: a server defaults nothing. */
export function arkDefinitions(): JsonObject[] {
  return kinds.map(definitionOf);
}

/** As resources of ours. Make them once: schemas are compiled for each. */
export function arkResources(): Resource[] {
  return declaredResources(arkDefinitions());
}
