// Pods as clusters have them: the load of the benchmark.

import type { DynamicObject } from "@keelson/client";

const transitions = ["Initialized", "Ready", "ContainersReady", "PodScheduled"];
const since = "2026-01-01T00:00:00Z";

export function pod(index: number): DynamicObject {
  const name = `web-7d4b9c6f5-${index.toString(36).padStart(5, "0")}`;
  const owner = `web-${index % 500}`;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      generateName: "web-7d4b9c6f5-",
      namespace: "default",
      labels: { app: "web", "pod-template-hash": "7d4b9c6f5", tier: `tier-${index % 5}` },
      annotations: { "prometheus.io/scrape": "true", "example.com/checksum": `sum-${index}` },
      ownerReferences: [
        { apiVersion: "apps/v1", kind: "ReplicaSet", name: owner, uid: owner, controller: true },
      ],
    },
    spec: {
      containers: [
        {
          name: "web",
          image: "registry.example.com/team/web:1.2.3",
          ports: [{ containerPort: 8080, protocol: "TCP" }],
          env: [
            { name: "REGION", value: "eu-central-1" },
            { name: "HOST", value: `host-${index}` },
          ],
          resources: {
            limits: { cpu: "500m", memory: "256Mi" },
            requests: { cpu: "100m", memory: "128Mi" },
          },
          volumeMounts: [{ name: "data", mountPath: "/var/lib/data" }],
          terminationMessagePath: "/dev/termination-log",
          terminationMessagePolicy: "File",
          imagePullPolicy: "IfNotPresent",
        },
      ],
      volumes: [{ name: "data", emptyDir: {} }],
      restartPolicy: "Always",
      terminationGracePeriodSeconds: 30,
      dnsPolicy: "ClusterFirst",
      serviceAccountName: "default",
      nodeName: `node-${index % 100}`,
      securityContext: {},
      schedulerName: "default-scheduler",
      tolerations: [
        { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" },
      ],
      enableServiceLinks: true,
    },
    status: {
      phase: "Running",
      conditions: transitions.map((type) => ({ type, status: "True", lastTransitionTime: since })),
      hostIP: "10.0.0.1",
      podIP: `10.1.${(index >> 8) & 255}.${index & 255}`,
      startTime: since,
      qosClass: "Burstable",
      containerStatuses: [
        {
          name: "web",
          state: { running: { startedAt: since } },
          lastState: {},
          ready: true,
          restartCount: 0,
          image: "registry.example.com/team/web:1.2.3",
          imageID: `registry.example.com/team/web@sha256:${"ab12".repeat(16)}`,
          containerID: `containerd://${"cd34".repeat(15)}${index}`,
          started: true,
        },
      ],
    },
  };
}
