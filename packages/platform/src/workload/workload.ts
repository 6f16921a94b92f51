// Everything in the cluster that makes an app run and be found.

import type { DynamicObject } from "@keelson/client";

import type { App } from "../app.ts";
import { autoscalerOf } from "./autoscaler.ts";
import {
  deploymentOf,
  serviceAccountOf,
  type PodOptions,
  type RoleSettings,
} from "./deployment.ts";
import { routesOf, type RoutingSettings } from "./routing.ts";
import { serviceOf } from "./service.ts";

export type WorkloadSettings = RoutingSettings & RoleSettings;

/** The children of the workload, in the order in which they are applied. Without an image nothing runs, yet all is routed. */
export function workloadOf(
  app: App,
  settings: WorkloadSettings,
  pods: PodOptions | undefined,
): DynamicObject[] {
  return [
    serviceAccountOf(app, settings),
    ...(pods === undefined ? [] : [deploymentOf(app, pods)]),
    serviceOf(app),
    ...(pods === undefined ? [] : [autoscalerOf(app)]),
    ...routesOf(app, settings),
  ];
}
