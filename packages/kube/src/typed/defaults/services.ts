import { isJsonArray, type MutableJsonObject } from "@keelson/base";

import { isNil, isUnset, objectAt, objectsAt, type DefaultRules } from "./default-rule.ts";

const affinitySeconds = 10_800;

export const serviceDefaults: DefaultRules = {
  "core.v1.Service": {
    owns: [],
    apply: (service) => {
      if (objectAt(service, "spec")?.["type"] !== "LoadBalancer") return;
      for (const ingress of objectsAt(objectAt(service, "status", "loadBalancer"), "ingress")) {
        if (!isUnset(ingress, "ip") && isNil(ingress, "ipMode")) ingress["ipMode"] = "VIP";
      }
    },
  },
  "core.v1.ServiceSpec": {
    owns: [
      "sessionAffinity",
      "sessionAffinityConfig",
      "type",
      "externalTrafficPolicy",
      "internalTrafficPolicy",
      "allocateLoadBalancerNodePorts",
    ],
    apply: (spec) => {
      setAffinity(spec);
      if (isUnset(spec, "type")) spec["type"] = "ClusterIP";
      if (isReachedFromOutside(spec) && isUnset(spec, "externalTrafficPolicy")) {
        spec["externalTrafficPolicy"] = "Cluster";
      }
      const { type } = spec;
      const hasAddress = type === "NodePort" || type === "LoadBalancer" || type === "ClusterIP";
      if (hasAddress && isNil(spec, "internalTrafficPolicy")) {
        spec["internalTrafficPolicy"] = "Cluster";
      }
      if (type === "LoadBalancer" && isNil(spec, "allocateLoadBalancerNodePorts")) {
        spec["allocateLoadBalancerNodePorts"] = true;
      }
    },
  },
  "core.v1.ServicePort": {
    owns: ["targetPort"],
    apply: (port) => {
      const { targetPort } = port;
      if (targetPort === undefined || targetPort === 0 || targetPort === "") {
        port["targetPort"] = port["port"] ?? 0;
      }
    },
  },
};

function setAffinity(spec: MutableJsonObject): void {
  if (isUnset(spec, "sessionAffinity")) spec["sessionAffinity"] = "None";
  if (spec["sessionAffinity"] === "None") {
    delete spec["sessionAffinityConfig"];
  } else if (spec["sessionAffinity"] === "ClientIP") {
    const client = objectAt(spec, "sessionAffinityConfig", "clientIP");
    if (client === undefined || isNil(client, "timeoutSeconds")) {
      spec["sessionAffinityConfig"] = { clientIP: { timeoutSeconds: affinitySeconds } };
    }
  }
}

function isReachedFromOutside({ type, externalIPs }: MutableJsonObject): boolean {
  if (type === "LoadBalancer" || type === "NodePort") return true;
  return type === "ClusterIP" && isJsonArray(externalIPs) && externalIPs.length > 0;
}
