// How long the rules of a built-in kind take to judge a Deployment of 10 KB.

import { writeJson, type JsonObject } from "@keelson/base";
import { loadBuiltinKinds, rulesOf, typedKind } from "@keelson/kube";

import { processorUs } from "../measure.ts";
import { judged, type Row } from "../report.ts";

const goalUs = 50;

/** Measures a creation and an update that are right. */
export async function bench(): Promise<readonly Row[]> {
  const name = { group: "apps", version: "v1", kind: "Deployment" };
  const typed = typedKind(await loadBuiltinKinds(), name);
  const context = { now: "2026-01-01T00:00:00Z", uuid: () => "" };
  const { object } = typed.decode(deployment());
  typed.applyDefaults(object, context);
  const rules = rulesOf(name);
  const bytes = writeJson(object).length;
  const judge = (errors: readonly unknown[] | undefined): void => {
    if (errors?.length !== 0) throw new Error("the Deployment is wrong");
  };
  return [
    measure(`judge a new Deployment, ${bytes} B`, () => judge(rules.validate?.(object, context))),
    measure(`judge a changed Deployment, ${bytes} B`, () =>
      judge(rules.validateUpdate?.(object, object, context)),
    ),
  ];
}

function measure(name: string, call: () => unknown): Row {
  return judged({ name, value: processorUs(call), unit: "µs" }, { atMost: goalUs });
}

function deployment(): JsonObject {
  const containers = Array.from({ length: 9 }, (_, index) => ({
    name: `c${index}`,
    image: "registry.example.com/team/app:1.2.3",
    args: ["--port=8080", "--log=info", `--shard=${index}`],
    env: Array.from({ length: 8 }, (_, variable) => ({
      name: `VARIABLE_${variable}`,
      value: `value-${index}-${variable}`,
    })),
    ports: [
      { name: `http-${index}`, containerPort: 8080 + index },
      { name: `metrics-${index}`, containerPort: 9090 + index },
    ],
    resources: { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "100m", memory: "128Mi" } },
    livenessProbe: { httpGet: { path: "/healthz", port: "http" }, periodSeconds: 10 },
    volumeMounts: [{ name: "config", mountPath: "/etc/app", readOnly: true }],
    securityContext: { runAsUser: 1000, readOnlyRootFilesystem: true },
  }));
  return {
    metadata: { name: "web", namespace: "default", labels: { app: "web", tier: "front" } },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: "web" } },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: {
        metadata: { labels: { app: "web", tier: "front" } },
        spec: { containers, volumes: [{ name: "config", configMap: { name: "config" } }] },
      },
    },
  };
}
