// Which parameters a request may have.

import type { ParameterName } from "./operation.ts";

export const listParameters: readonly ParameterName[] = [
  "allowWatchBookmarks",
  "continue",
  "fieldSelector",
  "labelSelector",
  "limit",
  "resourceVersion",
  "resourceVersionMatch",
  "sendInitialEvents",
  "shardSelector",
  "timeoutSeconds",
  "watch",
];

export const writeParameters: readonly ParameterName[] = [
  "dryRun",
  "fieldManager",
  "fieldValidation",
];

export const patchParameters: readonly ParameterName[] = [...writeParameters, "force"];

export const deleteParameters: readonly ParameterName[] = [
  "dryRun",
  "gracePeriodSeconds",
  "ignoreStoreReadErrorWithClusterBreakingPotential",
  "orphanDependents",
  "propagationPolicy",
];
