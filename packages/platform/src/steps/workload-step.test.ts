import assert from "node:assert/strict";
import { test } from "node:test";

import { appWith } from "../testing/index.ts";
import { cleanupWorkload, type WorkloadStep } from "./workload-step.ts";

const untouched = (): Promise<never> => Promise.reject(new Error("nobody asks for this"));

/** With so many children that are still going, and so many pods. */
function leaving(children: number, pods: number): WorkloadStep {
  let left = children;
  const prune: WorkloadStep["children"]["prune"] = (_, { kinds }) => {
    const [of] = kinds;
    if (left === 0 || of === undefined) return Promise.resolve([]);
    left -= 1;
    const finalizers = of.kind === "Ingress" ? { finalizers: ["held", "kept"] } : {};
    return Promise.resolve([{ ...of, metadata: { name: "my-app", ...finalizers } }]);
  };
  return {
    children: {
      apply: untouched,
      find: untouched,
      isSomebodyElses: () => Promise.resolve(false),
      remove: untouched,
      prune,
    },
    secrets: { digestOf: untouched },
    settings: { ingressClass: "nginx", ingressRewrite: "nginx", clusterIssuer: "issuer" },
    troubleOf: untouched,
    migrationTroubleOf: untouched,
    podsOf: () => Promise.resolve(pods),
  };
}

for (const [children, pods, left] of [
  [0, 0, undefined],
  [1, 0, "HorizontalPodAutoscaler my-app is still going"],
  [
    2,
    0,
    "HorizontalPodAutoscaler my-app is still going; Ingress my-app is still going (finalizers: held, kept)",
  ],
  [1, 1, "1 pod of my-app is still ending"],
  [2, 1, "1 pod of my-app is still ending; Ingress my-app is still going (finalizers: held, kept)"],
  [0, 2, "2 pods of my-app are still ending"],
] as const) {
  test(`with ${children} children and ${pods} pods it is said what is left`, async (t) => {
    const app = appWith({});
    const outcome = await cleanupWorkload(leaving(children, pods), { app }, t.signal);
    assert.equal(outcome.left, left);
  });
}
