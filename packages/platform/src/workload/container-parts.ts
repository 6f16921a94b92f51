// What both containers of a pod have.

import type { JsonObject } from "@keelson/base";

/** What a namespace with restricted pod security asks of a container. */
export const lockedDown: JsonObject = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
};

/** Ready and alive by the same question. */
export function probes({ path, port }: { readonly path: string; readonly port: number }): {
  readonly readinessProbe: JsonObject;
  readonly livenessProbe: JsonObject;
} {
  const httpGet = { path, port };
  return {
    readinessProbe: { httpGet, initialDelaySeconds: 5, periodSeconds: 10 },
    livenessProbe: { httpGet, initialDelaySeconds: 15, periodSeconds: 20 },
  };
}
