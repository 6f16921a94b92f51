// Our client and our controllers before our own API server, as before the oracle: the same steps, on both databases.

import { suite, test } from "node:test";

import { UnknownKind, type Client, type ObjectKind } from "@keelson/client";

import { accessTo, clientOf, configMapKind } from "../oracle/client/bed.ts";
import { proxySteps } from "../oracle/client/by-proxy.ts";
import { roundObject, runReflectorRounds } from "../oracle/client/reflector-rounds.ts";
import { requestSteps } from "../oracle/client/requests.ts";
import { describeElection } from "../oracle/controller/election.ts";
import { controllerSteps, ControllerWorld } from "../oracle/controller/steps.ts";
import { until } from "../tools/until.ts";
import { drivers, startOurs } from "./ours.ts";

const objects = Number(process.env["REFLECTOR_OBJECTS"] ?? 500);
const rounds = Number(process.env["REFLECTOR_ROUNDS"] ?? 1);
const seed = process.env["REFLECTOR_SEED"] ?? "gate";

// Side by side: elections mostly wait.
suite("our client before our server", { concurrency: 3 }, () => {
  for (const driver of drivers) {
    describeElection(
      `${driver}: a leader that is stopped, suspended or cut off is followed, and never writes after that`,
      (t) => startOurs({ driver }, t.signal),
      false,
    );
  }

  for (const driver of drivers) {
    test(`${driver}: requests and controllers do what they do elsewhere`, async (t) => {
      await using ours = await startOurs({ driver }, t.signal);
      await using client = clientOf(accessTo(ours));
      const world = { target: ours, client, signal: t.signal };
      for (const [what, step] of Object.entries({ ...requestSteps, ...proxySteps })) {
        await t.test(what, () => step(world));
      }
      // The definition of widgets comes again.
      const kind = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" };
      const definitions = await client.resource(kind, t.signal);
      await definitions.delete({ name: "widgets.example.com" }, t.signal);
      const widgets = { apiVersion: "example.com/v1", kind: "Widget" };
      await until(() => isUnknown(client, widgets, t.signal), t.signal);
      await using controllers = new ControllerWorld(client, t.signal);
      for (const [what, step] of Object.entries(controllerSteps)) {
        await t.test(what, () => step(controllers));
      }
    });

    test(`${driver}: ${objects} objects, churn, every trouble: the cache equals a list`, async (t) => {
      const flags = ["--compaction-interval", "500ms"];
      await using ours = await startOurs({ driver, flags }, t.signal);
      await using client = clientOf(accessTo(ours));
      const maps = await client.resource(configMapKind, t.signal);
      await Promise.all(
        Array.from({ length: objects }, (_, i) => maps.create(roundObject(i), {}, t.signal)),
      );
      const restart = async (signal: AbortSignal): Promise<void> => {
        await ours.stop("SIGKILL");
        await ours.start(signal);
      };
      try {
        await runReflectorRounds({ target: ours, restart }, { rounds, seed, objects }, t);
      } catch (error) {
        t.diagnostic(`alive: ${ours.isAlive}; at last it said: ${ours.output.slice(-2_000)}`);
        throw error;
      }
    });
  }
});

async function isUnknown(client: Client, kind: ObjectKind, signal: AbortSignal): Promise<boolean> {
  client.kinds.invalidate();
  const found: unknown = await client.resource(kind, signal).catch((error: unknown) => error);
  return found instanceof UnknownKind;
}
