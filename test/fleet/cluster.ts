// The cluster that fleet delivers to in a test: a server of our own, new each time, or a real Kubernetes, which all
// tests share and each finds swept. `KEELSON_TEST_CLUSTER=oracle` chooses the real one: the same tests, another judge.

import { suite } from "node:test";
import { startTestServer } from "@keelson/apiserver/testing";
import {
  Client,
  fixedCredentials,
  hasCode,
  type Access,
  type DynamicObject,
  type ResourceClient,
} from "@keelson/client";
import { reasonForNoOracle } from "../oracle/build.ts";
import { accessTo, portOf } from "../oracle/client/bed.ts";
import { startOracle, type Oracle } from "../oracle/cluster.ts";
import { until } from "../oracle/until.ts";

export interface TestCluster extends AsyncDisposable {
  readonly port: number;
  /** By its own port, or by that of somebody in between. */
  accessAt(port: number): Access;
}

/** Whether the tests run before a real Kubernetes. */
export const isOracle = process.env["KEELSON_TEST_CLUSTER"] === "oracle";

/** As `suite` of `node:test`; skipped, with the reason, where the cluster that was asked for cannot run. */
export function clusterSuite(name: string, define: () => void): void {
  const skip = (isOracle && reasonForNoOracle()) || false;
  void suite(isOracle ? `${name}, real Kubernetes` : name, { skip }, define);
}

export async function startCluster(
  options: { readonly simulatesWorkloads: boolean },
  signal: AbortSignal,
): Promise<TestCluster> {
  return isOracle ? sweptOracle(signal) : ownServer(options, signal);
}

async function ownServer(
  options: { readonly simulatesWorkloads: boolean },
  signal: AbortSignal,
): Promise<TestCluster> {
  const server = await startTestServer(options, signal);
  return {
    port: Number(new URL(server.url).port),
    accessAt: (port) => ({
      server: `http://127.0.0.1:${port}`,
      credentials: fixedCredentials({}),
    }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Started by the first test that asks, gone with the process. */
let shared: Promise<Oracle> | undefined;

async function sweptOracle(signal: AbortSignal): Promise<TestCluster> {
  const uncancelled = new AbortController().signal; // The test that starts it is not the last to use it.
  shared ??= startOracle({ controllers: ["*"], scheduler: true, kwok: true }, uncancelled);
  const oracle = await shared;
  await sweep(oracle, signal);
  return {
    port: portOf(oracle),
    accessAt: (port) => accessTo(oracle, port),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** What tests make, in the order in which it goes: owners before what they own. */
const swept: readonly (readonly [apiVersion: string, kind: string])[] = [
  ["apps/v1", "Deployment"],
  ["apps/v1", "StatefulSet"],
  ["batch/v1", "CronJob"],
  ["batch/v1", "Job"],
  ["v1", "Pod"],
  ["v1", "Service"],
  ["v1", "Secret"],
  ["v1", "ConfigMap"],
  ["apiextensions.k8s.io/v1", "CustomResourceDefinition"],
  ["rbac.authorization.k8s.io/v1", "ClusterRole"],
  ["rbac.authorization.k8s.io/v1", "ClusterRoleBinding"],
  ["admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"],
  ["v1", "Namespace"],
];

async function sweep(oracle: Oracle, signal: AbortSignal): Promise<void> {
  await using client = new Client({
    access: accessTo(oracle),
    rateLimit: { perSecond: 2_000, burst: 2_000 },
  });
  for (const [apiVersion, kind] of swept) {
    const objects = await client.resource({ apiVersion, kind }, signal);
    const left = async (): Promise<readonly DynamicObject[]> =>
      (await objects.list({}, signal)).items.filter((object) => isOfTests(kind, object));
    // Again until nothing is left: a call of an earlier test may arrive late.
    await until(async () => {
      const found = await left();
      for (const object of found) await remove(objects, object, signal);
      return found.length === 0;
    }, signal);
  }
}

/** Whoever holds it, and whoever was faster. */
async function remove(
  objects: ResourceClient,
  { metadata }: DynamicObject,
  signal: AbortSignal,
): Promise<void> {
  const { name = "", namespace } = metadata;
  const ref = namespace === undefined ? { name } : { name, namespace };
  try {
    if (metadata.finalizers !== undefined) {
      const body = { metadata: { finalizers: null } };
      await objects.patch(ref, { type: "merge", body, options: {} }, signal);
    }
    if (metadata.deletionTimestamp === undefined) {
      await objects.delete({ ...ref, propagationPolicy: "Background" }, signal);
    }
  } catch (error) {
    if (!hasCode(error, 404)) throw error;
  }
}

/** What the cluster itself needs stays. */
function isOfTests(kind: string, { metadata }: DynamicObject): boolean {
  const { name = "", namespace = "" } = metadata;
  if (namespace.startsWith("kube-")) return false;
  switch (kind) {
    case "Namespace":
      return name !== "default" && !name.startsWith("kube-");
    case "Service":
      return name !== "kubernetes";
    case "ConfigMap":
      return name !== "kube-root-ca.crt";
    case "CustomResourceDefinition":
      return !name.endsWith(".x-k8s.io");
    case "ClusterRole":
    case "ClusterRoleBinding":
      return metadata.labels?.["kubernetes.io/bootstrapping"] === undefined && !isSystem(name);
    default:
      return true;
  }
}

function isSystem(name: string): boolean {
  return name.startsWith("system:") || name.startsWith("kwok") || name === "kubeadm:get-nodes";
}
