// `keelson up` with Pub/Sub that hangs: nobody waits for it, what was told is kept, and stopping is not held up.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { PubSub, type Message } from "@google-cloud/pubsub";
import { FaultyWire, sharedEmulator, withoutEmulator } from "../clusters/pubsub-emulator.ts";
import { until } from "../tools/until.ts";
import { askRest } from "./ask-rest.ts";
import { KeelsonProcess, temporaryFolder } from "./keelson-process.ts";

suite("keelson up with Pub/Sub", { skip: withoutEmulator }, () => {
  test("answers while it hangs, stops within its grace, and publishes in order when it is back", async ({
    signal,
  }) => {
    const { host } = await sharedEmulator();
    await using wire = await FaultyWire.to(host);
    wire.mode = "hang";
    await using folder = await temporaryFolder();
    const start = (): KeelsonProcess =>
      new KeelsonProcess(folder.path, {
        environment: {
          GOOGLE_CLOUD_PROJECT: "e2e-project",
          PUBSUB_EMULATOR_HOST: wire.host,
          METADATA_SERVER_DETECTION: "none",
        },
      });
    await using first = start();
    const { rest = "" } = await first.ready();
    const ask = askRest({ rest }, signal);
    const spec = { platform: { type: "gcp" } };
    const { code, body } = await ask("POST", "/clusters", { name: "one", spec });
    assert.equal(code, 201);
    const path = `/clusters/${body.id as string}`;
    assert.equal((await ask("PUT", path, { spec: { ...spec, n: 2 } })).code, 200);
    assert.equal((await ask("DELETE", path)).code, 202);
    await until(async () => {
      const health = await fetch(`${rest}/health`, { signal });
      const { components } = (await health.json()) as {
        readonly components: { readonly events: { readonly status: string } };
      };
      return components.events.status === "failing";
    }, signal);
    const ready = await fetch(`${rest}/health/ready`, { signal });
    assert.equal(ready.status, 200, "it is ready nevertheless");
    assert.equal((await first.stop()).code, 0);

    wire.mode = "pass";
    await using client = Object.assign(
      new PubSub({ projectId: "e2e-project", apiEndpoint: host, emulatorMode: true }),
      { [Symbol.asyncDispose]: (): Promise<void> => client.close() },
    );
    const topic = client.topic("cluster-events");
    await topic.create();
    const [subscription] = await topic.createSubscription("all", { enableMessageOrdering: true });
    // By its id, where it came first: one may come twice.
    const told = new Map<string, string>();
    subscription.on("message", (message: Message) => {
      const { event_id: id = "", event_type: type = "" } = message.attributes;
      if (!told.has(id)) told.set(id, type);
      message.ack();
    });
    await using second = start();
    await second.ready();
    const changes = (): string[] =>
      [...told.values()].filter((type) => type !== "cluster.reconcile");
    await until(() => changes().length >= 3, signal);
    assert.deepEqual(changes(), ["cluster.created", "cluster.updated", "cluster.deleted"]);
    assert.equal((await second.stop()).code, 0);
  });
});
