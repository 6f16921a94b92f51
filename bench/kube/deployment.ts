// What benchmarks of objects measure with.

import type { MutableJsonObject } from "@keelson/base";

/** A Deployment of about 10 KB: nine containers. */
export function deployment(): MutableJsonObject {
  const container = (index: number): MutableJsonObject => ({
    name: `container-${index}`,
    image: `registry.example.com/team/service-${index}:1.2.3`,
    ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
    env: Array.from({ length: 12 }, (_, number) => ({
      name: `VARIABLE_${number}`,
      value: `value-${number}`,
    })),
    resources: {
      limits: { cpu: "500m", memory: "256Mi" },
      requests: { cpu: "100m", memory: "128Mi" },
    },
    volumeMounts: [{ name: "config", mountPath: "/etc/config", readOnly: true }],
    livenessProbe: { httpGet: { path: "/live", port: "http", scheme: "HTTP" }, periodSeconds: 10 },
    imagePullPolicy: "IfNotPresent",
  });
  const labels = { app: "bench", tier: "backend" };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name: "bench",
      namespace: "default",
      labels,
      annotations: { note: "x".repeat(500) },
    },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: 1 } },
      template: {
        metadata: { labels },
        spec: {
          containers: Array.from({ length: 9 }, (_, index) => container(index)),
          volumes: [{ name: "config", configMap: { name: "config", defaultMode: 420 } }],
          restartPolicy: "Always",
        },
      },
    },
    status: {},
  };
}
