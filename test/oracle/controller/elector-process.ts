#!/usr/bin/env node
// One candidate of an election, as a process of its own: while it leads it appends to a ConfigMap, fenced. It tells
// its parent what happens, and stops in order on SIGTERM.

import { silentLog, systemClock, systemRandom, noMetrics } from "@keelson/base";
import { Client, loadKubeconfig, type KubeObject } from "@keelson/client";
import { controllerMetrics, Fenced, runElected } from "@keelson/controller";

const [kubeconfig = "", identity = "", times = "{}"] = process.argv.slice(2);

interface Ledger extends KubeObject {
  readonly data?: { readonly entries?: string };
}

const stop = new AbortController();
process.once("SIGTERM", () => stop.abort(new Error("asked to stop")));
const say = (type: string, more: object = {}): void =>
  void process.send?.({ type, identity, ...more });

const access = await loadKubeconfig({ files: [kubeconfig] }, { clock: systemClock });
await using client = new Client({ access });
await runElected(
  {
    client,
    lease: { namespace: "default", name: "election" },
    identity,
    times: JSON.parse(times) as object,
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    metrics: controllerMetrics(noMetrics),
  },
  async (leadership, signal) => {
    say("leads", { token: String(leadership.token) });
    const resource = await client.resource<Ledger>({ apiVersion: "v1", kind: "ConfigMap" }, signal);
    const ref = { namespace: "default", name: "ledger" };
    try {
      while (!signal.aborted) {
        await leadership.update(
          { resource, ref },
          (ledger) => {
            const entries = ledger.data?.entries ?? "";
            return { ...ledger, data: { entries: `${entries}${leadership.token} ${identity}\n` } };
          },
          signal,
        );
        say("wrote", { token: String(leadership.token) });
        await systemClock.sleep(50, signal);
      }
    } catch (error) {
      if (error instanceof Fenced) say("fenced");
      else if (!signal.aborted) say("failed", { error: String(error) });
    }
    say("ends");
  },
  stop.signal,
);
say("stopped");
process.disconnect();
