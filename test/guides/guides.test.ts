// Every guide, as its reader follows it: what is typed is typed, and what is shown is what comes.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { programPath } from "../oracle/programs.ts";
import { followGuide } from "./follow-guide.ts";

const folder = fileURLToPath(new URL("../../docs/guides", import.meta.url));

/** Followed here. */
const guides: readonly string[] = [
  "app-and-preview.md",
  "cluster-controller.md",
  "first-ten-minutes.md",
  "two-clusters.md",
];

/** Followed where there is a real Kubernetes: `test/aggregated/guide.test.ts`. */
const elsewhere: readonly string[] = [];

const patienceMs = 240_000;

const hasKubectl =
  existsSync(programPath("kubectl")) ||
  spawnSync("kubectl", ["version", "--client"]).error === undefined;

suite("guides", { concurrency: 2 }, () => {
  test("each is followed by a test", () => {
    assert.deepEqual(readdirSync(folder).sort(), [...guides, ...elsewhere].sort());
  });

  for (const name of guides) {
    test(name, { skip: !hasKubectl && "kubectl is not here" }, async (t) => {
      // Before the time of the test is over: then it can say at which line.
      const signal = AbortSignal.any([t.signal, AbortSignal.timeout(patienceMs)]);
      await followGuide(name, {}, signal);
    });
  }
});
