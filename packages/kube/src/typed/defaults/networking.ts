import { isJsonArray } from "@keelson/base";

import { objectsAt, type DefaultRules } from "./default-rule.ts";

export const networkingDefaults: DefaultRules = {
  "networking.v1.NetworkPolicySpec": {
    owns: ["policyTypes"],
    apply: (spec) => {
      const types = spec["policyTypes"];
      if (isJsonArray(types) && types.length > 0) return;
      const hasEgress = objectsAt(spec, "egress").length > 0;
      spec["policyTypes"] = hasEgress ? ["Ingress", "Egress"] : ["Ingress"];
    },
  },
};
