// OpenSearch for an app: where it is, and how its indices begin. Nothing is made there.

import type { DynamicObject } from "@keelson/client";
import type { App } from "../app.ts";
import type { Children } from "../children/children.ts";
import { applyConfigMap, removeConfigMap } from "./config-map.ts";
import { searchUrl } from "./service-endpoints.ts";
import { StepError } from "./step-error.ts";

export interface SearchSettings {
  /** `host:port`, `host` or a URL. */
  readonly endpoint: string;
}

export interface SearchStep {
  readonly children: Pick<Children, "apply" | "find" | "remove">;
  /** Left out: no OpenSearch is configured. */
  readonly settings: SearchSettings | undefined;
}

export interface SearchOutcome {
  readonly changes: readonly string[];
  /** What shall stay when children are pruned. */
  readonly wanted: readonly DynamicObject[];
}

/** Throws a `StepError` for what cannot be done now. */
export async function reconcileSearch(
  { children, settings }: SearchStep,
  { app }: { readonly app: App },
  signal: AbortSignal,
): Promise<SearchOutcome> {
  if (settings === undefined) {
    throw new StepError("NotConfigured", "no OpenSearch is configured: set OPENSEARCH_ENDPOINT");
  }
  const { names } = app;
  const { search: name } = names.children;
  const variables = {
    OPENSEARCH_URL: searchUrl(settings.endpoint),
    OPENSEARCH_INDEX_PREFIX: names.searchPrefix,
  };
  return {
    changes: [],
    wanted: [await applyConfigMap(children, { app, name, variables }, signal)],
  };
}

/** Takes the variables away; the indices are the app's own, and stay. */
export async function cleanupSearch(
  { children }: Pick<SearchStep, "children">,
  { app }: { readonly app: App },
  signal: AbortSignal,
): Promise<void> {
  await removeConfigMap(children, { app, name: app.names.children.search }, signal);
}
