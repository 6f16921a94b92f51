// Whatever happens by chance: in the end what is wanted is there, the records are true, and nothing foreign was touched.
// One short world by the seed of the commit; `npm run soak:fleet` has a hundred long ones.

import { test } from "node:test";
import { trialSettings } from "../oracle/differential.ts";
import { clusterSuite } from "../tools/test-cluster.ts";
import { converges } from "./convergence.ts";

const { FLEET_STEPS = "60" } = process.env;
const { seed, count, only } = trialSettings(1);

clusterSuite("convergence", () => {
  for (let round = only ?? 0; round < (only === undefined ? count : only + 1); round += 1) {
    test(`world ${round} of seed ${seed} comes to rest`, { timeout: 600_000 }, async (t) => {
      await converges({ seed: `${seed}/${round}`, steps: Number(FLEET_STEPS) }, t.signal);
    });
  }
});
