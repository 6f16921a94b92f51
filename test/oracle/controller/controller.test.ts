// A controller against a real API server: its caches, its own writes, its events, and how it stops.

import { suite } from "node:test";

import { startOracle } from "../cluster.ts";
import { accessTo, clientOf } from "../client/bed.ts";
import { oracleTest } from "../oracle-test.ts";
import { controllerSteps, ControllerWorld } from "./steps.ts";

suite("controller", () => {
  oracleTest(
    "a controller makes what is wanted, once, though it looks again at once",
    async (t) => {
      await using oracle = await startOracle({}, t.signal);
      await using client = clientOf(accessTo(oracle));
      await using world = new ControllerWorld(client, t.signal);
      for (const [what, step] of Object.entries(controllerSteps)) {
        await t.test(what, () => step(world));
      }
    },
  );
});
