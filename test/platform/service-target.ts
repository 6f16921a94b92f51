import type { DynamicObject } from "@keelson/client";

interface PodSpec {
  readonly containers: readonly {
    readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  }[];
}

/** What of a Deployment says which pods it makes. */
export function podSpecOf(deployment: DynamicObject | undefined): PodSpec | undefined {
  const spec = deployment?.["spec"] as { template?: { spec?: PodSpec } } | undefined;
  return spec?.template?.spec;
}

/**
 * Where in a pod a Service sends what comes to its port, as the cluster finds it for each pod by itself: a number as it
 * is, a name in that pod. Undefined: nowhere.
 */
export function targetIn(
  service: DynamicObject | undefined,
  pod: PodSpec | undefined,
  port: number,
): number | undefined {
  const { ports = [] } = (service?.["spec"] ?? {}) as {
    ports?: readonly { readonly port: number; readonly targetPort: number | string }[];
  };
  const target = ports.find((one) => one.port === port)?.targetPort;
  if (typeof target !== "string") return target;
  const named = (pod?.containers ?? []).flatMap((container) => container.ports ?? []);
  return named.find(({ name }) => name === target)?.containerPort;
}
