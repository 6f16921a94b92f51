// How long JSON and label selectors take: a Deployment of 10 KB, and one object's labels.

import { readJson, readJsonReport, writeJson } from "@keelson/base";
import type { JsonObject } from "@keelson/base";
import { matchesLabels, parseLabelSelector } from "@keelson/kube";
import { median, processorRounds } from "../measure.ts";
import { judged, type Row } from "../report.ts";

const readGoal = 4;

/** Measures each beside what the language has for it, in turns; a row is the middle of its rounds. */
export async function bench(): Promise<readonly Row[]> {
  const object = deployment();
  const text = writeJson(object);
  const size = `Deployment, ${text.length} B`;
  const labels = { app: "bench", tier: "backend", release: "stable" };
  const selectorText = "app=bench,tier in (backend,frontend),!legacy";
  const selector = parseLabelSelector(selectorText);
  const parse = (): unknown => JSON.parse(text);

  const alone = sideBySide([
    () => parseLabelSelector(selectorText),
    () => matchesLabels(selector, labels),
  ]);
  return [
    against(`readJson, ${size}`, () => readJson(text), parse, readGoal),
    against(`readJsonReport, ${size}`, () => readJsonReport(text), parse, readGoal),
    against(
      `writeJson, ${size}`,
      () => writeJson(object),
      () => JSON.stringify(object),
    ),
    judged({
      name: "parse a label selector, 3 requirements",
      value: alone.middles[0] ?? 0,
      unit: "µs",
    }),
    judged({
      name: "match an object's labels, 3 requirements",
      value: alone.middles[1] ?? 0,
      unit: "µs",
    }),
  ];
}

function against(name: string, ours: () => unknown, other: () => unknown, goal?: number): Row {
  const { middles, ratio } = sideBySide([ours, other]);
  return judged(
    { name, value: middles[0] ?? 0, unit: "µs", baseline: middles[1] ?? 0, ratio },
    goal === undefined ? undefined : { ratioAtMost: goal },
  );
}

/** The middle time of each call, and of the rounds' ratios of the first to the second. */
function sideBySide(calls: readonly [() => unknown, () => unknown]): {
  readonly middles: readonly number[];
  readonly ratio: number;
} {
  const times = processorRounds(calls);
  return {
    middles: calls.map((_, index) => median(times.map((round) => round[index] ?? 0))),
    ratio: median(times.map(([first = 0, second = 1]) => first / second)),
  };
}

function deployment(): JsonObject {
  const containers = Array.from({ length: 9 }, (_, index) => ({
    name: `container-${index}`,
    image: `registry.example.com/team/service-${index}:1.2.3`,
    ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
    env: Array.from({ length: 13 }, (_, number) => ({
      name: `VARIABLE_${number}`,
      value: `value-${index}-${number}`,
    })),
    resources: {
      limits: { cpu: "500m", memory: "256Mi" },
      requests: { cpu: "100m", memory: "128Mi" },
    },
    volumeMounts: [{ name: "config", mountPath: "/etc/config", readOnly: true }],
    livenessProbe: { httpGet: { path: "/live", port: "http", scheme: "HTTP" }, periodSeconds: 10 },
  }));
  const labels = { app: "bench", tier: "backend" };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name: "bench",
      namespace: "default",
      labels,
      annotations: { note: "x".repeat(400) },
    },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers, restartPolicy: "Always" } },
    },
  };
}
