// What earlier versions kept is found by this one, all of it. `npm run upgrades:sample` keeps samples of this version.

import assert from "node:assert/strict";
import { join } from "node:path";
import { suite, test } from "node:test";
import { startThrowawayPostgres } from "@keelson/database/testing";
import { until } from "../tools/until.ts";
import { askRest } from "./ask-rest.ts";
import { KeelsonProcess, temporaryFolder } from "./keelson-process.ts";
import { kubernetesOf, syncedResource, uidAt } from "./upgrades/look.ts";
import {
  readFacts,
  restoreParts,
  restoreWhole,
  sampleVersions,
  type Facts,
} from "./upgrades/sample.ts";

suite("data of an earlier version", () => {
  for (const version of sampleVersions("parts")) {
    test(`${version}: declarations, history, credentials, clusters and objects are there`, async (t) => {
      await using folder = await temporaryFolder();
      await using server = await startThrowawayPostgres({ flavour: "embedded", fsync: false });
      await using database = await server.createDatabase();
      const dataDir = join(folder.path, "data");
      await restoreParts(version, { dataDir, databaseUrl: database.url });
      await using keelson = new KeelsonProcess(dataDir, {
        flags: ["--database-url", database.url],
      });
      await assertThere(keelson, await readFacts("parts", version), t.signal);
    });
  }

  for (const version of sampleVersions("whole")) {
    test(`${version}: the folder as it was left is taken up, its PostgreSQL too`, async (t) => {
      await using folder = await temporaryFolder();
      const dataDir = join(folder.path, "data");
      await restoreWhole(version, dataDir);
      await using keelson = new KeelsonProcess(dataDir);
      await assertThere(keelson, await readFacts("whole", version), t.signal);
    });
  }
});

/** All of it is there, it goes on from there, and it ends in order. */
async function assertThere(
  keelson: KeelsonProcess,
  facts: Facts,
  signal: AbortSignal,
): Promise<void> {
  const running = await keelson.ready();
  const ask = askRest(running, signal);

  using kubernetes = await kubernetesOf(running);
  for (const [path, uid] of Object.entries(facts.objects)) {
    // What custom kinds there are is learnt from the store, moments after the start.
    assert.equal(
      await until(async () => (await uidAt(kubernetes, path, signal)) || undefined, signal),
      uid,
      path,
    );
  }
  for (const resource of facts.resources) {
    assert.deepEqual(
      await until(() => syncedResource(ask, resource.id), signal),
      resource,
      resource.name,
    );
  }
  const target = await until(async () => {
    const { body } = await ask("GET", `/targets/${facts.target}`);
    return body.health === "Unreachable" ? body : undefined;
  }, signal);
  assert.match(target.health_message, /^unreachable: /); // And not that its credential cannot be opened.
  const { id, spec, generation, reported } = facts.cluster;
  const { body: cluster } = await ask("GET", `/clusters/${id}?include=controller_status`);
  assert.deepEqual([cluster.spec, cluster.generation], [spec, generation]);
  assert.deepEqual(
    cluster.controller_status.map((one: { controller_name: string }) => one.controller_name),
    [reported],
  );

  // And it goes on from there.
  const [first] = facts.resources;
  const desired = { data: { colour: "green" } };
  const changed = await ask("PUT", `/resources/${first?.id}`, { desired_spec: desired });
  assert.equal(changed.body.generation, (first?.generation ?? 0) + 1);
  await until(async () => {
    const now = await syncedResource(ask, first?.id ?? 0);
    return now?.generation === changed.body.generation;
  }, signal);
  assert.equal((await keelson.stop()).code, 0, keelson.output);
}
