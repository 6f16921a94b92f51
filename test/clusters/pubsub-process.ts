#!/usr/bin/env node
// A replica's relay, to be killed: it says where it is, and goes no further than it is told.

import { silentLog, systemClock, systemRandom } from "@keelson/base";
import { LifecycleEvents, PubsubTransport } from "@keelson/clusters";
import { openDatabase, Wakeups } from "@keelson/database";
import { patience } from "@keelson/database/testing";

const [url = "", emulatorHost = "", projectId = "", stopAt = "never"] = process.argv.slice(2);

const searchPath = ["lifecycle", "public"];
const database = openDatabase({ url, name: "killed", searchPath, ...patience });
const pubsub = new PubsubTransport({
  projectId,
  emulatorHost,
  topics: { "cluster-events": "cluster-events", "nodepool-events": "nodepool-events" },
  clock: systemClock,
  random: systemRandom,
  log: silentLog,
});

const stopHere = (point: string): Promise<void> => {
  process.stdout.write(`${point}\n`);
  return point === stopAt ? new Promise(() => undefined) : Promise.resolve();
};

const events = new LifecycleEvents({
  database,
  wakeups: new Wakeups({ database }),
  transport: {
    health: pubsub.health,
    publish: async (some, signal) => {
      await stopHere("claimed");
      await pubsub.publish(some, signal);
      await stopHere("published");
    },
  },
  random: systemRandom,
  log: silentLog,
  pollMs: 50,
  relay: { leaseMs: 3_000, publishTimeoutMs: 2_500 },
});
await events.run(new AbortController().signal);
