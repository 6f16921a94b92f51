import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { JsonObject } from "@keelson/base";

import { loadBuiltinKinds } from "../../kinds/builtin-kinds.ts";
import { typedKind } from "../typed-kind.ts";
import { AutoscalerConversion } from "./autoscaler.ts";
import { convertEvent } from "./event.ts";

const kinds = await loadBuiltinKinds();
const now = "2026-01-01T00:00:00Z";

suite("conversions", () => {
  const core = typedKind(kinds, { group: "", version: "v1", kind: "Event" });
  const events = typedKind(kinds, { group: "events.k8s.io", version: "v1", kind: "Event" });
  const sent: JsonObject = {
    metadata: { name: "e" },
    involvedObject: { kind: "Pod", name: "p" },
    message: "m",
    source: { component: "c" },
    firstTimestamp: now,
    count: 2,
    series: { count: 3, lastObservedTime: "2026-01-01T00:00:00.000001Z" },
    reportingComponent: "r",
  };

  test("an event has the names of either group", () => {
    const { object } = core.decode(sent);
    assert.deepEqual(convertEvent(object, "events"), {
      kind: "Event",
      apiVersion: "events.k8s.io/v1",
      metadata: { name: "e" },
      regarding: { kind: "Pod", name: "p" },
      note: "m",
      deprecatedSource: { component: "c" },
      deprecatedFirstTimestamp: now,
      deprecatedLastTimestamp: null,
      deprecatedCount: 2,
      series: { count: 3, lastObservedTime: "2026-01-01T00:00:00.000001Z" },
      eventTime: null,
      reportingController: "r",
    });
  });

  test("an event comes back as it went, and what it became is what its kind prints", () => {
    for (const body of [sent, { metadata: { name: "e" } }]) {
      const { object } = core.decode(body);
      const other = convertEvent(object, "events");
      assert.deepEqual(events.decode(other).object, other);
      assert.deepEqual(convertEvent(other, "core"), object);
      assert.deepEqual(convertEvent(object, "core"), object);
    }
  });

  const v1 = typedKind(kinds, {
    group: "autoscaling",
    version: "v1",
    kind: "HorizontalPodAutoscaler",
  });
  const v2 = typedKind(kinds, {
    group: "autoscaling",
    version: "v2",
    kind: "HorizontalPodAutoscaler",
  });
  const conversion = new AutoscalerConversion(kinds);
  const scaleTargetRef = { kind: "Deployment", name: "d", apiVersion: "apps/v1" };

  test("an autoscaler of the first version is one metric of the second", () => {
    const { object } = v1.decode({
      spec: { scaleTargetRef, maxReplicas: 3, targetCPUUtilizationPercentage: 70 },
    });
    v1.applyDefaults(object, { now });
    assert.deepEqual(conversion.toV2(object)["spec"], {
      scaleTargetRef,
      minReplicas: 1,
      maxReplicas: 3,
      metrics: [
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 70 } },
        },
      ],
    });
  });

  test("what the first version has no fields for travels in annotations, and comes back", () => {
    const { object } = v2.decode({
      metadata: { name: "h", annotations: { own: "kept" } },
      spec: {
        scaleTargetRef,
        maxReplicas: 3,
        metrics: [
          {
            type: "Pods",
            pods: { metric: { name: "p" }, target: { type: "AverageValue", averageValue: "5" } },
          },
        ],
        behavior: { scaleDown: { policies: [{ type: "Pods", value: 1, periodSeconds: 60 }] } },
      },
      status: {
        desiredReplicas: 2,
        currentMetrics: null,
        conditions: [{ type: "AbleToScale", status: "True", lastTransitionTime: now }],
      },
    });
    v2.applyDefaults(object, { now });
    const first = conversion.toV1(object);
    assert.deepEqual(v1.decode(first).object, first);
    assert.deepEqual(Object.keys((first["metadata"] as JsonObject)["annotations"] as JsonObject), [
      "own",
      "autoscaling.alpha.kubernetes.io/metrics",
      "autoscaling.alpha.kubernetes.io/behavior",
      "autoscaling.alpha.kubernetes.io/conditions",
    ]);
    assert.deepEqual(conversion.toV2(first), object);
  });
});
