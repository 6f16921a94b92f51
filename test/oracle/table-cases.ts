// Pods in every state that `kubectl get pods` tells apart.

import type { JsonObject } from "@keelson/base";

const ended = (exitCode: number, more: JsonObject = {}): JsonObject => ({
  terminated: {
    exitCode,
    startedAt: "2026-01-01T00:00:00Z",
    finishedAt: "2026-01-01T00:00:10Z",
    ...more,
  },
});
const running: JsonObject = { running: { startedAt: "2026-01-01T00:00:00Z" } };
const waiting = (reason: string): JsonObject => ({ waiting: { reason } });
const container = (name: string, state: JsonObject, more: JsonObject = {}): JsonObject => ({
  name,
  image: name,
  imageID: "",
  ready: false,
  restartCount: 0,
  state,
  ...more,
});
const ready: JsonObject = { type: "Ready", status: "True" };
const initialized: JsonObject = { type: "Initialized", status: "True" };
const init = {
  initContainers: [
    { name: "i", image: "i" },
    { name: "j", image: "j" },
  ],
};
const sidecar = { initContainers: [{ name: "i", image: "i", restartPolicy: "Always" }] };

export const podStatuses: readonly { readonly spec?: JsonObject; readonly status: JsonObject }[] = [
  { status: {} },
  {
    status: {
      phase: "Running",
      containerStatuses: [container("a", running, { ready: true }), container("b", running)],
    },
  },
  {
    status: {
      phase: "Succeeded",
      containerStatuses: [container("a", ended(0, { reason: "Completed" }))],
    },
  },
  {
    status: {
      phase: "Failed",
      containerStatuses: [container("a", ended(3)), container("b", ended(0))],
    },
  },
  { status: { phase: "Failed", reason: "Evicted", message: "no room" } },
  { status: { phase: "Running", containerStatuses: [container("a", ended(0, { signal: 9 }))] } },
  {
    status: {
      phase: "Running",
      containerStatuses: [
        container("a", waiting("CrashLoopBackOff"), { restartCount: 5, lastState: ended(1) }),
      ],
    },
  },
  {
    status: {
      phase: "Running",
      conditions: [ready],
      containerStatuses: [
        container("a", ended(0, { reason: "Completed" })),
        container("b", running, { ready: true }),
      ],
    },
  },
  {
    status: {
      phase: "Running",
      containerStatuses: [
        container("a", ended(0, { reason: "Completed" })),
        container("b", running, { ready: true }),
      ],
    },
  },
  {
    status: {
      phase: "Running",
      containerStatuses: [
        container("a", ended(0, { reason: "Completed" })),
        container("b", ended(2, { reason: "Error" })),
      ],
    },
  },
  {
    status: {
      phase: "Pending",
      conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }],
    },
  },
  {
    spec: init,
    status: {
      phase: "Pending",
      initContainerStatuses: [container("i", running), container("j", waiting("PodInitializing"))],
    },
  },
  {
    spec: init,
    status: {
      phase: "Pending",
      initContainerStatuses: [
        container("i", ended(0)),
        container("j", waiting("ImagePullBackOff")),
      ],
    },
  },
  {
    spec: init,
    status: {
      phase: "Pending",
      initContainerStatuses: [
        container("i", ended(1, { reason: "Error" }), { restartCount: 2, lastState: ended(1) }),
      ],
    },
  },
  { spec: init, status: { phase: "Pending", initContainerStatuses: [container("i", ended(4))] } },
  {
    spec: init,
    status: {
      phase: "Pending",
      initContainerStatuses: [container("i", ended(0, { exitCode: 137, signal: 9 }))],
    },
  },
  {
    spec: init,
    status: {
      phase: "Running",
      conditions: [initialized],
      initContainerStatuses: [container("i", running)],
      containerStatuses: [container("a", running, { ready: true })],
    },
  },
  {
    spec: sidecar,
    status: {
      phase: "Running",
      initContainerStatuses: [
        container("i", running, {
          ready: true,
          started: true,
          restartCount: 3,
          lastState: ended(1),
        }),
      ],
      containerStatuses: [
        container("a", running, { ready: true, restartCount: 1, lastState: ended(1) }),
      ],
    },
  },
  {
    spec: { readinessGates: [{ conditionType: "x.io/a" }, { conditionType: "x.io/b" }] },
    status: {
      phase: "Running",
      conditions: [{ type: "x.io/a", status: "True" }, ready],
      podIP: "10.0.0.1",
      podIPs: [{ ip: "10.0.0.1" }, { ip: "::1" }],
      nominatedNodeName: "n",
    },
  },
];
