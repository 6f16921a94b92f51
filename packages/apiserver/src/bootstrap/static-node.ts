// A node for those who look for one. Nothing runs on it but what is simulated.

import { timeFromMs } from "@keelson/kube";
import type { Clock, JsonObject } from "@keelson/base";

import { notReadyKey } from "../admission/small-defaults.ts";
import { isTerminating } from "../object-metadata.ts";
import type { Objects } from "../objects.ts";

export const staticNodeName = "keelson";

const capacity = { cpu: "32", memory: "128Gi", pods: "1000", "ephemeral-storage": "256Gi" };

/** Creates the node: ready and schedulable. Taints that others gave it stay. */
export async function ensureStaticNode(
  { objects, clock }: { readonly objects: Objects; readonly clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  const nodes = objects.resource("", "v1", "nodes");
  const place = { namespace: "", name: staticNodeName };
  await objects.ensure(nodes, node(timeFromMs(clock.now())), signal);
  // A new node is tainted until somebody says that it is ready: we do.
  await objects.update(
    nodes,
    place,
    (live) => {
      const { spec = {} } = live as { spec?: { readonly taints?: readonly JsonObject[] } };
      const { taints = [], ...rest } = spec;
      const kept = taints.filter(({ key }) => key !== notReadyKey);
      if (isTerminating(live) || kept.length === taints.length) return undefined;
      return { ...live, spec: { ...rest, ...(kept.length > 0 && { taints: kept }) } };
    },
    signal,
  );
}

function node(now: string): JsonObject {
  const condition = (
    type: string,
    status: string,
    reason: string,
    message: string,
  ): JsonObject => ({
    type,
    status,
    reason,
    message,
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  });
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: staticNodeName,
      annotations: { "keelson.dev/simulated": "true" },
      labels: {
        "kubernetes.io/hostname": staticNodeName,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
      },
    },
    spec: {},
    status: {
      capacity,
      allocatable: capacity,
      conditions: [
        condition("MemoryPressure", "False", "Simulated", "nothing runs here"),
        condition("DiskPressure", "False", "Simulated", "nothing runs here"),
        condition("PIDPressure", "False", "Simulated", "nothing runs here"),
        condition("Ready", "True", "Simulated", "this node is simulated"),
      ],
      addresses: [{ type: "Hostname", address: staticNodeName }],
      nodeInfo: {
        architecture: "amd64",
        operatingSystem: "linux",
        bootID: "",
        containerRuntimeVersion: "keelson://simulated",
        kernelVersion: "",
        kubeProxyVersion: "",
        kubeletVersion: "v1.36.3+keelson",
        machineID: "",
        osImage: "simulated",
        systemUUID: "",
      },
    },
  };
}
