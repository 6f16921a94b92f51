// Every guide, as its reader follows it: what is typed is typed, and what is shown is what comes.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startThrowawayPostgres } from "@keelson/database/testing";
import { withoutKubectl } from "../e2e/kubectl.ts";
import { followGuide } from "./follow-guide.ts";

const folder = fileURLToPath(new URL("../../docs/guides", import.meta.url));

/** Followed here, and the programs that their readers must have. */
const guides: Readonly<Record<string, readonly Program[]>> = {
  "app-and-preview.md": ["kubectl", "psql"],
  "cluster-controller.md": [],
  "first-ten-minutes.md": ["kubectl", "curl"],
  "postgresql-and-replicas.md": ["kubectl", "psql"],
  "two-clusters.md": ["kubectl"],
};
type Program = "kubectl" | "psql" | "curl";

/** Followed where there is a real Kubernetes: `test/aggregated/guide.test.ts`. */
const elsewhere = ["ark-behind-a-cluster.md"];

suite("guides", { concurrency: 2 }, () => {
  test("each is followed by a test", () => {
    assert.deepEqual(readdirSync(folder).sort(), [...Object.keys(guides), ...elsewhere].sort());
  });

  for (const [name, programs] of Object.entries(guides)) {
    const missing = programs.find((program) => !isHere(program));
    const skip = missing !== undefined && `${missing} is not here`;
    test(name, { skip }, async (t) => {
      const { signal } = t;
      if (name !== "postgresql-and-replicas.md") return await followGuide(name, {}, signal);
      await using server = await startThrowawayPostgres({ flavour: "embedded" }, signal);
      const { hostname, port, username, password } = new URL(server.url);
      const environment = {
        PGHOST: hostname,
        PGPORT: port,
        PGUSER: username,
        PGPASSWORD: password,
      };
      await followGuide(name, { environment }, signal);
    });
  }
});

function isHere(program: Program): boolean {
  if (program === "kubectl") return withoutKubectl === false;
  return spawnSync(program, ["--help"]).error === undefined;
}
