// Services and Ingresses that ask for an address from outside, and claims that ask for a volume.

import type { JsonObject } from "@keelson/base";

import { objectAt, textAt } from "../../fields.ts";
import { isTerminating } from "../../object-metadata.ts";
import { type Cluster } from "./cluster.ts";

const here = { ip: "127.0.0.1" } as const;

export async function reconcileService(
  cluster: Cluster,
  service: JsonObject,
  signal: AbortSignal,
): Promise<void> {
  if (isTerminating(service)) return;
  if (textAt(objectAt(service, "spec"), "type") !== "LoadBalancer") return;
  const ingress = [{ ...here, ipMode: "VIP" }];
  await cluster.report(
    "Service",
    service,
    (before) => ({ ...before, loadBalancer: { ingress } }),
    signal,
  );
}

export async function reconcileIngress(
  cluster: Cluster,
  ingress: JsonObject,
  signal: AbortSignal,
): Promise<void> {
  if (isTerminating(ingress)) return;
  await cluster.report(
    "Ingress.networking.k8s.io",
    ingress,
    (before) => ({ ...before, loadBalancer: { ingress: [here] } }),
    signal,
  );
}

/** A claim is bound to nothing but its own word: no volume is behind it. */
export async function reconcileClaim(
  cluster: Cluster,
  claim: JsonObject,
  signal: AbortSignal,
): Promise<void> {
  if (isTerminating(claim)) {
    await cluster.change("PersistentVolumeClaim", claim, withoutProtection, signal);
    return;
  }
  const spec = objectAt(claim, "spec");
  const accessModes = spec["accessModes"] ?? [];
  const capacity = objectAt(spec, "resources", "requests");
  await cluster.report(
    "PersistentVolumeClaim",
    claim,
    (before) => ({ ...before, phase: "Bound", accessModes, capacity }),
    signal,
  );
}

function withoutProtection(claim: JsonObject): JsonObject {
  const metadata = objectAt(claim, "metadata");
  const { finalizers } = metadata as { finalizers?: readonly string[] };
  const kept = (finalizers ?? []).filter((name) => name !== "kubernetes.io/pvc-protection");
  return { ...claim, metadata: { ...metadata, finalizers: kept } };
}
