// The cluster that fleet and the operator act on in a test: a server of our own, new each time, or a real Kubernetes, which all
// tests share and each finds swept. `KEELSON_TEST_CLUSTER=oracle` chooses the real one: the same tests, another judge.

import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test, type TestContext, type TestOptions } from "node:test";
import { declaredResources } from "@keelson/apiserver";
import { startTestServer } from "@keelson/apiserver/testing";
import type { JsonObject } from "@keelson/base";
import {
  Client,
  fixedCredentials,
  hasCode,
  UnknownKind,
  type Access,
  type DynamicObject,
  type ObjectKind,
  type ResourceClient,
} from "@keelson/client";
import { reasonForNoOracle } from "../oracle/build.ts";
import { accessTo, portOf } from "../oracle/client/bed.ts";
import { startOracle, type Oracle } from "../oracle/cluster.ts";
import { programPath } from "../oracle/programs.ts";
import { until } from "./until.ts";
import type { ProxyIdentity } from "./http-proxy.ts";

export interface TestCluster extends AsyncDisposable {
  readonly port: number;
  /** By its own port, or by that of somebody in between. */
  accessAt(port: number): Access;
  /** Who somebody in between must be who speaks HTTP with it; undefined: anybody, in clear. */
  readonly identity?: ProxyIdentity;
  /** Runs the real kubectl, which may do everything. */
  kubectl(words: readonly string[], signal: AbortSignal): Promise<Said>;
}

/** What a program said, and its exit code. */
export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ClusterOptions {
  readonly simulatesWorkloads: boolean;
  /** Custom kinds: ours serves them itself, a real one gets their definitions. */
  readonly definitions?: readonly JsonObject[];
}

/** Whether the tests run before a real Kubernetes. */
export const isOracle = process.env["KEELSON_TEST_CLUSTER"] === "oracle";

/** As `suite` of `node:test`; skipped, with the reason, where the cluster that was asked for cannot run. */
export function clusterSuite(
  name: string,
  ...rest: [define: () => void] | [options: Pick<TestOptions, "concurrency">, define: () => void]
): void {
  const [options, define] = rest.length === 1 ? [{}, rest[0]] : rest;
  const skip = (isOracle && reasonForNoOracle()) || false;
  void suite(isOracle ? `${name}, real Kubernetes` : name, { ...options, skip }, define);
}

/** A test that a real Kubernetes cannot be put through: there is none of it then, and nothing to be skipped. */
export function ownTest(name: string, run: (t: TestContext) => Promise<void>): void {
  if (!isOracle) void test(name, run);
}

export async function startCluster(
  options: ClusterOptions,
  signal: AbortSignal,
): Promise<TestCluster> {
  return isOracle ? sweptOracle(options, signal) : ownServer(options, signal);
}

async function ownServer(
  { simulatesWorkloads, definitions = [] }: ClusterOptions,
  signal: AbortSignal,
): Promise<TestCluster> {
  const resources = declaredResources(definitions);
  await using undo = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), "keelson-kubectl-"));
  undo.defer(() => rm(home, { recursive: true, force: true }));
  const server = undo.use(await startTestServer({ simulatesWorkloads, resources }, signal));
  const kept = undo.move();
  return {
    port: Number(new URL(server.url).port),
    accessAt: (port) => ({
      server: `http://127.0.0.1:${port}`,
      credentials: fixedCredentials({}),
    }),
    kubectl: (words, signal) => runKubectl(home, ["--server", server.url, ...words], signal),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Started by the first test that asks, gone with the process. */
let shared: Promise<Oracle> | undefined;

async function sweptOracle(
  { definitions = [] }: ClusterOptions,
  signal: AbortSignal,
): Promise<TestCluster> {
  const uncancelled = new AbortController().signal; // The test that starts it is not the last to use it.
  shared ??= startOracle({ controllers: ["*"], scheduler: true, kwok: true }, uncancelled);
  const oracle = await shared;
  await using client = new Client({
    access: accessTo(oracle),
    rateLimit: { perSecond: 2_000, burst: 2_000 },
  });
  await sweep(client, signal);
  await define(client, definitions, signal);
  return {
    port: portOf(oracle),
    accessAt: (port) => accessTo(oracle, port),
    identity: { ca: oracle.ca, ...oracle.admin },
    kubectl: (words, signal) => oracle.kubectl(words, signal),
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
  ["networking.k8s.io/v1", "Ingress"],
  ["autoscaling/v2", "HorizontalPodAutoscaler"],
  ["v1", "ServiceAccount"],
  ["v1", "Secret"],
  ["v1", "ConfigMap"],
  ["apiextensions.k8s.io/v1", "CustomResourceDefinition"],
  ["rbac.authorization.k8s.io/v1", "ClusterRole"],
  ["rbac.authorization.k8s.io/v1", "ClusterRoleBinding"],
  ["admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"],
  ["v1", "Namespace"],
];

async function sweep(client: Client, signal: AbortSignal): Promise<void> {
  // Before their definitions: what these leave behind would be back with them.
  for (const kind of await customKinds(client, signal)) await sweepKind(client, kind, signal);
  for (const [apiVersion, kind] of swept) await sweepKind(client, { apiVersion, kind }, signal);
}

async function sweepKind(client: Client, kind: ObjectKind, signal: AbortSignal): Promise<void> {
  let objects: ResourceClient;
  try {
    objects = await client.resource(kind, signal);
  } catch (error) {
    if (error instanceof UnknownKind) return;
    throw error;
  }
  // Again until nothing is left: a call of an earlier test may arrive late.
  await until(async () => {
    const { items } = await objects.list({}, signal);
    const found = items.filter((object) => isOfTests(kind.kind, object));
    for (const object of found) await remove(objects, object, signal);
    return found.length === 0;
  }, signal);
}

const definitionKind = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
} as const;

/** The kinds that tests have brought. */
async function customKinds(client: Client, signal: AbortSignal): Promise<readonly ObjectKind[]> {
  const objects = await client.resource(definitionKind, signal);
  const { items } = await objects.list({}, signal);
  return items
    .filter((object) => isOfTests(definitionKind.kind, object))
    .map(({ spec }) => {
      const { group, names, versions } = spec as unknown as {
        group: string;
        names: { kind: string };
        versions: { name: string; storage: boolean }[];
      };
      const version = versions.find(({ storage }) => storage)?.name ?? "";
      return { apiVersion: `${group}/${version}`, kind: names.kind };
    });
}

/** Resolves when each of them is served. */
async function define(
  client: Client,
  definitions: readonly JsonObject[],
  signal: AbortSignal,
): Promise<void> {
  const objects = await client.resource(definitionKind, signal);
  for (const definition of definitions) {
    await objects.create(definition as unknown as DynamicObject, {}, signal);
  }
  for (const { kind, apiVersion } of await customKinds(client, signal)) {
    await until(async () => {
      try {
        await (await client.resource({ apiVersion, kind }, signal)).list({ limit: 1 }, signal);
        return true;
      } catch (error) {
        if (error instanceof UnknownKind || hasCode(error, 404)) return false;
        throw error;
      }
    }, signal);
  }
}

/** What it remembers of servers stays in a home of its own: ports come back. */
function runKubectl(home: string, words: readonly string[], signal: AbortSignal): Promise<Said> {
  const options = { signal, env: { HOME: home } };
  return new Promise((resolve, reject) => {
    execFile(programPath("kubectl"), words, options, (error, stdout, stderr) => {
      if (error === null) resolve({ code: 0, stdout, stderr });
      else if (typeof error.code === "number") resolve({ code: error.code, stdout, stderr });
      else reject(new Error("cannot run kubectl", { cause: error }));
    });
  });
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
    case "ServiceAccount":
      return name !== "default";
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
