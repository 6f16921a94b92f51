#!/usr/bin/env node
// Our controller, doing nothing.

import { noMetrics, silentLog, systemClock, systemRandom } from "@keelson/base";
import { Client, loadKubeconfig, refOf, type ObjectRef } from "@keelson/client";
import {
  Caches,
  controllerMetrics,
  done,
  runController,
  watches,
  type Enqueue,
} from "@keelson/controller";

import { heapBytes, onLine, say, sentAnnotation, wallMs } from "./talk.ts";

const [kubeconfig = "", count = "0"] = process.argv.slice(2);
const objects = Number(count);
const stop = new AbortController();
const parts = { clock: systemClock, random: systemRandom, log: silentLog };
const metrics = controllerMetrics(noMetrics);
const access = await loadKubeconfig({ files: [kubeconfig] }, parts);
const client = new Client({ access });
const emptyBytes = heapBytes();
const startedMs = performance.now();
const pods = new Caches({ client, metrics, ...parts }, stop.signal).of({
  apiVersion: "v1",
  kind: "Pod",
});

let runs = 0;
let againMs: number | undefined;
let enqueueAll: () => void = () => undefined;
onLine(() => {
  runs = 0;
  againMs = performance.now();
  enqueueAll();
});

await runController(
  {
    name: "bench",
    ...parts,
    metrics,
    sources: [
      watches(pods),
      {
        untilReady: async () => undefined,
        start: (enqueue: Enqueue) => {
          enqueueAll = () => {
            for (const pod of pods.list()) enqueue(refOf(pod));
          };
          return { [Symbol.dispose]: () => undefined };
        },
      },
    ],
    reconcile: async (ref: ObjectRef) => {
      const sent = pods.get(ref)?.metadata.annotations?.[sentAnnotation];
      if (sent !== undefined && runs >= objects) say({ type: "late", sent, at: wallMs() });
      runs += 1;
      if (runs !== objects) return done;
      if (againMs === undefined) say({ type: "started", ms: performance.now() - startedMs });
      else {
        const ms = performance.now() - againMs;
        say({ type: "again", ms, heapBytes: heapBytes() - emptyBytes });
      }
      return done;
    },
  },
  stop.signal,
);
