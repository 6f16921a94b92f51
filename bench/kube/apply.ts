// How long server-side apply and strategic merge take for a Deployment of 10 KB.

import { writeJson, type Json, type JsonObject } from "@keelson/base";
import { applyStrategicMergePatch, fieldManager, FieldSet } from "@keelson/kube";
import { deploymentSchema } from "@keelson/kube/testing";
import { processorUs } from "../measure.ts";
import { judged, type Row } from "../report.ts";

const goalUs = 200;

/** Measures applies and strategic merges; each row is the median time of one. */
export async function bench(): Promise<readonly Row[]> {
  const manager = fieldManager({
    group: "apps",
    version: "v1",
    kind: "Deployment",
    schema: deploymentSchema,
    resetFields: new Map([["apps/v1", FieldSet.of(["status"])]]),
  });
  const options = { manager: "bench", force: true, now: "2026-01-01T00:00:00Z" };
  const config = deployment("app:1");
  const live = manager.apply(
    manager.update(undefined, stored(config), { manager: "creator", now: options.now }),
    config,
    options,
  ).object;
  const changed = deployment("app:2");
  const fewer = withoutLastContainer(config);
  const patch: Json = {
    spec: { template: { spec: { containers: [{ name: "c3", image: "app:9" }] } } },
  };
  const bytes = writeJson(config).length;

  const text = writeJson(live);
  // Reading the stored object, without which there is nothing to apply to.
  const baseline = processorUs(() => JSON.parse(text));
  const measure = (name: string, call: () => unknown): Row =>
    judged({ name, value: processorUs(call), unit: "µs", baseline }, { atMost: goalUs });
  return [
    measure(`apply unchanged, ${bytes} B`, () => manager.apply(live, config, options)),
    measure(`apply with new images, ${bytes} B`, () => manager.apply(live, changed, options)),
    measure(`apply that gives up a container, ${bytes} B`, () =>
      manager.apply(live, fewer, options),
    ),
    measure(`track an update, ${bytes} B`, () =>
      manager.update(live, stored(changed), { manager: "other", now: options.now }),
    ),
    measure(`strategic merge, ${bytes} B`, () =>
      applyStrategicMergePatch(live, patch, deploymentSchema),
    ),
  ];
}

/** As the server has it: named, with an identity. */
function stored(config: JsonObject): JsonObject {
  const metadata = config["metadata"] as JsonObject;
  return {
    ...config,
    metadata: { ...metadata, uid: "0b5f3a39-5c5d-4f0e-9a55-1f5b7bd0a001", resourceVersion: "12" },
    status: { replicas: 3, observedGeneration: 1 },
  };
}

function withoutLastContainer(config: JsonObject): JsonObject {
  const spec = config["spec"] as JsonObject;
  const template = spec["template"] as JsonObject;
  const podSpec = template["spec"] as JsonObject;
  const containers = (podSpec["containers"] as readonly Json[]).slice(0, -1);
  return {
    ...config,
    spec: { ...spec, template: { ...template, spec: { ...podSpec, containers } } },
  };
}

function deployment(image: string): JsonObject {
  const containers = Array.from({ length: 9 }, (_, index) => ({
    name: `c${index}`,
    image,
    imagePullPolicy: "IfNotPresent",
    command: ["/bin/app", "--serve"],
    args: ["--port=8080", "--log=info", `--shard=${index}`],
    env: Array.from({ length: 8 }, (_, variable) => ({
      name: `VARIABLE_${variable}`,
      value: `value-${index}-${variable}`,
    })),
    ports: [
      { name: "http", containerPort: 8080, protocol: "TCP" },
      { name: "metrics", containerPort: 9090, protocol: "TCP" },
    ],
    resources: { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "100m", memory: "128Mi" } },
    livenessProbe: { httpGet: { path: "/healthz", port: "http" }, periodSeconds: 10 },
    volumeMounts: [{ name: "config", mountPath: "/etc/app", readOnly: true }],
    securityContext: { runAsUser: 1000, readOnlyRootFilesystem: true },
  }));
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name: "web",
      namespace: "default",
      labels: { app: "web", tier: "front", team: "a" },
      annotations: { "example.com/owner": "team-a", "example.com/note": "x".repeat(200) },
    },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: "web" } },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: {
        metadata: { labels: { app: "web", tier: "front" } },
        spec: {
          containers,
          volumes: [{ name: "config", configMap: { name: "config" } }],
          terminationGracePeriodSeconds: 30,
          restartPolicy: "Always",
        },
      },
    },
  };
}
