import type { DynamicObject } from "@keelson/client";

import type { App } from "../app.ts";
import { childOf } from "../children/child.ts";

/** The number of pods is its to say: the Deployment never names one. */
export function autoscalerOf(app: App): DynamicObject {
  const { min, max, targetCPU } = app.spec.scaling;
  return childOf(app, {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    name: app.names.name,
    content: {
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: app.names.name },
        minReplicas: min,
        maxReplicas: max,
        metrics: [
          {
            type: "Resource",
            resource: {
              name: "cpu",
              target: { type: "Utilization", averageUtilization: targetCPU },
            },
          },
        ],
      },
    },
  });
}
