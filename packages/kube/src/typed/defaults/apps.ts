import type { MutableJsonObject } from "@keelson/base";

import { isNil, isUnset, objectAt, type DefaultRule, type DefaultRules } from "./default-rule.ts";

export const appsDefaults: DefaultRules = {
  "apps.v1.DeploymentStrategy": rollingUpdates({ maxUnavailable: "25%", maxSurge: "25%" }),
  "apps.v1.DaemonSetUpdateStrategy": rollingUpdates({ maxUnavailable: 1, maxSurge: 0 }),
  "apps.v1.RollingUpdateDeployment": ofTheStrategy(["maxUnavailable", "maxSurge"]),
  "apps.v1.RollingUpdateDaemonSet": ofTheStrategy(["maxUnavailable", "maxSurge"]),
  "apps.v1.StatefulSetUpdateStrategy": {
    owns: ["type", "rollingUpdate"],
    apply: (strategy) => {
      // Only who leaves the type open gets the block.
      if (isUnset(strategy, "type")) {
        strategy["type"] = "RollingUpdate";
        if (isNil(strategy, "rollingUpdate")) strategy["rollingUpdate"] = {};
      }
    },
  },
};

function rollingUpdates(limits: Readonly<Record<string, string | number>>): DefaultRule {
  return {
    owns: ["type", "rollingUpdate"],
    apply: (strategy) => {
      if (isUnset(strategy, "type")) strategy["type"] = "RollingUpdate";
      if (strategy["type"] !== "RollingUpdate") return;
      const rolling: MutableJsonObject = objectAt(strategy, "rollingUpdate") ?? {};
      strategy["rollingUpdate"] = rolling;
      for (const [name, value] of Object.entries(limits)) {
        if (isNil(rolling, name)) rolling[name] = value;
      }
    },
  };
}

/** What the strategy around it has already decided. */
function ofTheStrategy(owns: readonly string[]): DefaultRule {
  return { owns, apply: () => undefined };
}
