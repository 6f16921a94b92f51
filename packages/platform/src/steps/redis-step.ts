// Redis for an app: where it is. Nothing is made there.

import type { DynamicObject } from "@keelson/client";
import type { App } from "../app.ts";
import type { Children } from "../children/children.ts";
import { applyConfigMap, removeConfigMap } from "./config-map.ts";
import { redisVariables, type RedisEndpoint } from "./service-endpoints.ts";
import { StepError } from "./step-error.ts";

export interface RedisStep {
  readonly children: Pick<Children, "apply" | "find" | "remove">;
  /** Left out: no Redis is configured. */
  readonly settings: RedisEndpoint | undefined;
}

export interface RedisOutcome {
  readonly changes: readonly string[];
  /** What shall stay when children are pruned. */
  readonly wanted: readonly DynamicObject[];
}

/** Throws a `StepError` for what cannot be done now. */
export async function reconcileRedis(
  { children, settings }: RedisStep,
  { app }: { readonly app: App },
  signal: AbortSignal,
): Promise<RedisOutcome> {
  if (settings === undefined) {
    throw new StepError("NotConfigured", "no Redis is configured: set REDIS_ENDPOINT");
  }
  const { redis: name } = app.names.children;
  const variables = redisVariables(settings);
  return {
    changes: [],
    wanted: [await applyConfigMap(children, { app, name, variables }, signal)],
  };
}

/** Takes the variables away; Redis itself is not touched. */
export async function cleanupRedis(
  { children }: Pick<RedisStep, "children">,
  { app }: { readonly app: App },
  signal: AbortSignal,
): Promise<void> {
  await removeConfigMap(children, { app, name: app.names.children.redis }, signal);
}
