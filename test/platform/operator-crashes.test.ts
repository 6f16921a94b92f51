// An image that crashes, before the controllers of a real Kubernetes. No kubelet runs there that could tell of it: new pods
// find no Node, and what one would say of them is written by hand.

import assert from "node:assert/strict";
import { test } from "node:test";
import { clusterSuite, isOracle } from "../tools/test-cluster.ts";
import { until } from "../tools/until.ts";
import { namespace, newName, OperatorBed } from "./operator-bed.ts";

const image = "registry.example.com/shop:1";
const podKind = { apiVersion: "v1", kind: "Pod" };
const nodeKind = { apiVersion: "v1", kind: "Node" };
const sliceKind = { apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice" };

// Before a server of ours operator.test.ts has it.
if (isOracle) {
  clusterSuite("an image that crashes", () => {
    test("P24: the app leaves Running, the cause is told, and the old pods serve on", async (t) => {
      const { signal } = t;
      await using bed = await OperatorBed.prepare({}, signal);
      await using _operator = bed.start();
      const name = newName();
      await bed.apply(name, { imageRef: image, scaling: { min: 1, max: 2 } });
      await bed.until(name, ({ phase }) => phase === "Running");
      const old = await served(bed, name, signal);
      assert.equal(old.length, 1);

      await using _closed = await closeNodes(bed, signal);
      await bed.apply(name, {
        imageRef: "registry.example.com/shop:2",
        scaling: { min: 1, max: 2 },
      });
      const pods = await bed.resource(podKind);
      const waiting = await until(async () => {
        const { items } = await pods.list({ namespace }, signal);
        return items.find(
          ({ metadata, spec }) =>
            metadata.labels?.["platform.internal/app"] === name &&
            (spec as { nodeName?: string }).nodeName === undefined,
        );
      }, signal);
      const message = "back-off 40s restarting failed container";
      const state = { waiting: { reason: "CrashLoopBackOff", message } };
      const container = { name: "app", image, imageID: "", ready: false, restartCount: 3, state };
      await pods.patch(
        { namespace, name: waiting.metadata.name ?? "" },
        {
          type: "merge",
          body: { status: { containerStatuses: [container] } },
          options: { subresource: "status" },
        },
        signal,
      );
      const crashing = await bed.until(name, ({ conditions }) =>
        conditions.includes("DeploymentReady False CrashLoopBackOff"),
      );
      assert.equal(crashing.phase, "Provisioning");
      assert.match(crashing.messages["DeploymentReady"] ?? "", /back-off 40s restarting/);
      assert.deepEqual(await served(bed, name, signal), old);
    });
  });
}

/** The pods that the Service of an app leads to. */
async function served(bed: OperatorBed, name: string, signal: AbortSignal): Promise<string[]> {
  interface Endpoint {
    readonly conditions?: { readonly ready?: boolean };
    readonly targetRef?: { readonly name: string };
  }
  return await until(async () => {
    const labelSelector = `kubernetes.io/service-name=${name}`;
    const { items } = await (
      await bed.resource(sliceKind)
    ).list({ namespace, labelSelector }, signal);
    const endpoints = items.flatMap((one) => (one["endpoints"] ?? []) as unknown as Endpoint[]);
    const ready = endpoints.filter(({ conditions }) => conditions?.ready === true);
    return ready.length > 0 && ready.map(({ targetRef }) => targetRef?.name ?? "").toSorted();
  }, signal);
}

/** No pod that comes now is given to a Node, until they are opened again. */
async function closeNodes(bed: OperatorBed, signal: AbortSignal): Promise<AsyncDisposable> {
  const nodes = await bed.resource(nodeKind);
  const { items } = await nodes.list({}, signal);
  assert.ok(items.length > 0);
  const set = async (unschedulable: boolean, within: AbortSignal): Promise<void> => {
    for (const { metadata } of items) {
      const body = { spec: { unschedulable } };
      await nodes.patch({ name: metadata.name ?? "" }, { type: "merge", body }, within);
    }
  };
  await set(true, signal);
  return { [Symbol.asyncDispose]: () => set(false, AbortSignal.timeout(120_000)) };
}
