import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { JsonObject } from "@keelson/base";
import type { DynamicObject } from "@keelson/client";

import { conditionsOf, findingBefore, type Finding, type Findings } from "./conditions.ts";
import { phaseOf } from "./phase.ts";
import { deploymentFinding, ingressFinding, waitingFinding } from "./rollout.ts";

const yes: Finding = { status: "True", reason: "Done", message: "it is there" };
const no = (reason: string): Finding => ({ status: "False", reason, message: "it is not" });
const unknown: Finding = { status: "Unknown", reason: "NoAddress", message: "no address" };
const running: Findings = { DatabaseReady: yes, DeploymentReady: yes, IngressReady: yes };

suite("conditions", () => {
  const shown = (findings: Findings) =>
    conditionsOf(findings, [], { generation: 1, now: "2026-01-01T00:00:00Z" }).map(
      ({ type, status }) => `${type} ${status}`,
    );

  test("are those of the features that are on, and whether all is ready", () => {
    assert.deepEqual(shown(running), [
      "DatabaseReady True",
      "DeploymentReady True",
      "IngressReady True",
      "Ready True",
    ]);
    assert.ok(shown({ ...running, IngressReady: unknown }).includes("Ready True"));
    assert.ok(shown({ ...running, IngressReady: no("Missing") }).includes("Ready False"));
    assert.ok(shown({ ...running, DatabaseReady: unknown }).includes("Ready False"));
    assert.deepEqual(shown({}), ["Ready False"]);
  });

  test("a time moves only when the status does", () => {
    const [first, second, third] = [
      "2026-01-01T00:00:00Z",
      "2026-01-02T00:00:00Z",
      "2026-01-03T00:00:00Z",
    ] as const;
    const timesOf = (conditions: ReturnType<typeof conditionsOf>) =>
      conditions.map(({ type, lastTransitionTime }) => `${type} ${lastTransitionTime}`);
    const begun = conditionsOf({ DatabaseReady: no("Unreachable"), DeploymentReady: yes }, [], {
      generation: 1,
      now: first,
    });
    const refused = conditionsOf({ DatabaseReady: no("Refused"), DeploymentReady: yes }, begun, {
      generation: 2,
      now: second,
    });
    assert.deepEqual(timesOf(refused), timesOf(begun));
    assert.deepEqual(
      refused.map(({ reason, observedGeneration }) => [reason, observedGeneration]),
      [
        ["Refused", 2],
        ["Done", 2],
        ["NotReady", 2],
      ],
    );
    const done = conditionsOf({ DatabaseReady: yes, DeploymentReady: yes }, refused, {
      generation: 2,
      now: third,
    });
    assert.deepEqual(timesOf(done), [
      `DatabaseReady ${third}`,
      `DeploymentReady ${first}`,
      `Ready ${third}`,
    ]);
  });

  test("a message is no longer than may be written", () => {
    const message = "a".repeat(40_000);
    const [condition] = conditionsOf({ AuthReady: { ...no("Refused"), message } }, [], {
      generation: 1,
      now: "2026-01-01T00:00:00Z",
    });
    assert.equal(condition?.message, `${"a".repeat(32_767)}\u2026`);
  });

  test("what was found for an earlier generation says so, and makes nothing ready", () => {
    const now = "2026-01-01T00:00:00Z";
    const first = conditionsOf(running, [], { generation: 1, now });
    const [before] = first;
    assert.ok(before !== undefined);
    assert.deepEqual(findingBefore(before, 1), yes);
    const old = { ...running, DatabaseReady: findingBefore(before, 2) };
    assert.deepEqual(
      conditionsOf(old, first, { generation: 2, now }).map((one) => [
        one.type,
        one.status,
        one.observedGeneration,
      ]),
      [
        ["DatabaseReady", "True", 1],
        ["DeploymentReady", "True", 2],
        ["IngressReady", "True", 2],
        ["Ready", "False", 2],
      ],
    );
    assert.equal(phaseOf({ findings: old, failedAttempts: 0, isDeleting: false }), "Provisioning");
  });
});

suite("phases", () => {
  const phase = (findings: Findings, failedAttempts = 0, isDeleting = false) =>
    phaseOf({ findings, failedAttempts, isDeleting });

  for (const [what, actual, expected] of [
    ["nothing known", phase({}), "Pending"],
    [
      "a database that is not there yet",
      phase({ ...running, DatabaseReady: no("Unreachable") }),
      "Pending",
    ],
    [
      "pods that are not ready",
      phase({ ...running, DeploymentReady: no("RollingOut") }),
      "Provisioning",
    ],
    ["all there", phase(running), "Running"],
    ["no address", phase({ ...running, IngressReady: unknown }), "Running"],
    ["somebody else's schema", phase({ ...running, DatabaseReady: no("Conflict") }), "Failed"],
    ["a refusal", phase({ ...running, AuthReady: no("Refused") }), "Failed"],
    [
      "pods that never get ready",
      phase({ ...running, DeploymentReady: no("ProgressDeadlineExceeded") }),
      "Failed",
    ],
    [
      "three failed attempts",
      phase({ ...running, DatabaseReady: no("Unreachable") }, 3),
      "Pending",
    ],
    ["four failed attempts", phase({ ...running, DatabaseReady: no("Unreachable") }, 4), "Failed"],
    ["many failed attempts, long ago", phase(running, 9), "Running"],
    ["a deletion", phase(running, 0, true), "Terminating"],
  ] as const) {
    test(`${what}: ${expected}`, () => assert.equal(actual, expected));
  }
});

suite("a rollout", () => {
  const deployment = (status: JsonObject, spec: JsonObject = {}): DynamicObject => ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "my-app", generation: 3 },
    spec: { replicas: 2, ...spec },
    status: { observedGeneration: 3, ...status },
  });
  const ready = { replicas: 2, updatedReplicas: 2, availableReplicas: 2 };
  const stuck = [
    {
      type: "Progressing",
      status: "False",
      reason: "ProgressDeadlineExceeded",
      message: "timed out",
    },
  ];

  const short = {
    type: "ReplicaFailure",
    status: "True",
    reason: "FailedCreate",
    message: 'pods "my-app-1" is forbidden: exceeded quota: q',
  };
  const rolling = { ...ready, updatedReplicas: 1 };

  for (const [what, found, expected] of [
    ["no Deployment", undefined, "False Missing"],
    [
      "one that was not looked at",
      deployment({ ...ready, observedGeneration: 2 }),
      "False RollingOut",
    ],
    ["old pods beside the new ones", deployment({ ...ready, replicas: 3 }), "False RollingOut"],
    [
      "pods that are not available",
      deployment({ ...ready, availableReplicas: 1 }),
      "False RollingOut",
    ],
    [
      "pods of the template before",
      deployment({ ...ready, updatedReplicas: 1 }),
      "False RollingOut",
    ],
    [
      "a deadline that has passed",
      deployment({ ...ready, updatedReplicas: 1, conditions: stuck }),
      "False ProgressDeadlineExceeded",
    ],
    ["all of them", deployment(ready), "True Available"],
    ["a rollout that is paused", deployment(rolling, { paused: true }), "False Paused"],
    ["a pause with nothing to roll out", deployment(ready, { paused: true }), "True Available"],
    [
      "pods that cannot be made",
      deployment({ ...rolling, conditions: [short] }),
      "False FailedCreate",
    ],
    [
      "pods that can be made again",
      deployment({ ...rolling, conditions: [{ ...short, status: "False" }] }),
      "False RollingOut",
    ],
    [
      "pods that could not be made in time",
      deployment({ ...rolling, conditions: [...stuck, short] }),
      "False ProgressDeadlineExceeded",
    ],
    [
      "none, as somebody wants it",
      deployment({ observedGeneration: 3 }, { replicas: 0 }),
      "True ScaledToZero",
    ],
  ] as const) {
    test(`${what}: ${expected}`, () => {
      const { status, reason } = deploymentFinding(found);
      assert.equal(`${status} ${reason}`, expected);
    });
  }

  test("what stands in the way is said, with the way out", () => {
    const said = (found: DynamicObject) => deploymentFinding(found).message;
    const cannot =
      'Deployment my-app cannot make its pods: pods "my-app-1" is forbidden: exceeded quota: q';
    assert.deepEqual(
      [
        said(deployment(rolling, { paused: true })),
        said(deployment({ ...rolling, conditions: [short] })),
        said(deployment({ ...rolling, conditions: [...stuck, short] })),
        said(deployment({}, { replicas: 0 })),
      ],
      [
        "Deployment my-app has 1 of 2 pods updated and is paused: kubectl rollout resume deployment/my-app",
        cannot,
        'Deployment my-app does not get ready: timed out; pods "my-app-1" is forbidden: exceeded quota: q',
        "Deployment my-app was scaled to 0, which its autoscaler leaves alone: kubectl scale deployment/my-app --replicas=1",
      ],
    );
  });

  test("what waits for its migrations says why they do not begin", () => {
    const trouble = {
      pod: "migrate-1-x",
      container: "migrate",
      reason: "ImagePullBackOff",
      message: "not found",
    };
    assert.deepEqual(waitingFinding("Job migrate-1 is migrating schema s", trouble), {
      status: "False",
      reason: "Waiting",
      message:
        "Job migrate-1 is migrating schema s; container migrate of pod migrate-1-x: ImagePullBackOff, not found",
    });
    assert.equal(
      waitingFinding("Secret s is not there yet", undefined).message,
      "Secret s is not there yet",
    );
  });

  test("what keeps a pod from starting is named, in a word that a condition takes", () => {
    const reasonFor = (reason: string) =>
      deploymentFinding(deployment({ ...ready, availableReplicas: 1 }), {
        pod: "my-app-1",
        container: "app",
        reason,
        message: "",
      }).reason;
    assert.equal(reasonFor("CrashLoopBackOff"), "CrashLoopBackOff");
    for (const odd of ["image pull failed", "node-lost", "", "A".repeat(1_025)]) {
      assert.equal(reasonFor(odd), "RollingOut", odd);
    }
  });

  test("an Ingress is routed once it has an address", () => {
    const ingress = (addresses: JsonObject[]): DynamicObject => ({
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { name: "my-app" },
      status: { loadBalancer: { ingress: addresses } },
    });
    assert.deepEqual(
      [undefined, ingress([]), ingress([{ ip: "10.0.0.1" }])].map(
        (one) => ingressFinding(one).status,
      ),
      ["False", "Unknown", "True"],
    );
  });
});
