#!/usr/bin/env node
// The informer of @kubernetes/client-node, doing nothing. It has no queue: its callbacks are the looks.

import { CoreV1Api, KubeConfig, makeInformer, type V1Pod } from "@kubernetes/client-node";

import { heapBytes, onLine, say, sentAnnotation, wallMs } from "./talk.ts";

const [kubeconfig = "", count = "0"] = process.argv.slice(2);
const objects = Number(count);
const config = new KubeConfig();
config.loadFromFile(kubeconfig);
const core = config.makeApiClient(CoreV1Api);
const emptyBytes = heapBytes();
const startedMs = performance.now();
const informer = makeInformer(config, "/api/v1/pods", () => core.listPodForAllNamespaces());
let runs = 0;

const look = async ({ metadata }: V1Pod): Promise<void> => {
  const pod = informer.get(metadata?.name ?? "", metadata?.namespace);
  const sent = pod?.metadata?.annotations?.[sentAnnotation];
  if (sent !== undefined && runs >= objects) say({ type: "late", sent, at: wallMs() });
  runs += 1;
  if (runs === objects) say({ type: "started", ms: performance.now() - startedMs });
};
const onChange = (pod: V1Pod): void => void look(pod);
informer.on("add", onChange);
informer.on("update", onChange);
informer.on("error", () => void informer.start());
onLine(() => void again());
await informer.start();

async function again(): Promise<void> {
  const beganMs = performance.now();
  for (const { metadata } of informer.list()) {
    await Promise.resolve(informer.get(metadata?.name ?? "", metadata?.namespace));
  }
  const ms = performance.now() - beganMs;
  say({ type: "again", ms, heapBytes: heapBytes() - emptyBytes });
}
