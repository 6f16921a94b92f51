import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { startTestServer } from "@keelson/apiserver/testing";
import { silentLog } from "@keelson/base";
import { Client, fixedCredentials } from "@keelson/client";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { createFleetDatabase } from "../testing/fleet-database.ts";
import { Graves } from "./graves.ts";
import { WorkSignal } from "./work-signal.ts";

const clusterId = "prod";
const nobody = 77;

suite("what comes back after its row was purged", () => {
  test("goes if its id and key are those of a tombstone, nobody has the key and it is as it was seen", async (t) => {
    await using server = await startTestServer({}, t.signal);
    await using client = new Client({
      access: { server: server.url, credentials: fixedCredentials({}) },
    });
    await using tables = await createFleetDatabase(await sharedThrowawayPostgres("embedded"));
    await tables.query(`INSERT INTO targets (cluster_id, in_process) VALUES ('prod', true)`);
    const maps = await client.resource({ apiVersion: "v1", kind: "ConfigMap" }, t.signal);
    const { database } = tables;
    const graves = new Graves({
      clusterId,
      client,
      database,
      log: silentLog,
      watch: new WorkSignal(),
    });
    const bury = (id: number, name: string) =>
      tables.query(
        `INSERT INTO resource_tombstones (resource_id, cluster_id, namespace, api_group, api_version, kind, name)
         VALUES ($1, 'prod', 'default', '', 'v1', 'ConfigMap', $2)`,
        [id, name],
      );
    const apply = (name: string, id: number, { fieldManager = "kontrol", a = "1" } = {}) =>
      maps.apply(
        {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: {
            name,
            namespace: "default",
            annotations: { "kontrol/resource-id": String(id) },
          },
          data: { a },
        },
        { fieldManager, force: true },
        t.signal,
      );
    const names = ["back", "other-key", "foreign", "living", "changed"];
    for (const [index, name] of names.entries()) {
      await bury(index + 1, name === "other-key" ? "another" : name);
      const fieldManager = name === "foreign" ? "them" : "kontrol";
      graves.suspect(await apply(name, index + 1, { fieldManager }));
    }
    graves.suspect(await apply("nobodys", nobody));
    // Between the look and the deletion: somebody has the key again, and something has changed.
    await tables.query(
      `INSERT INTO resources (cluster_id, namespace, kind, name, api_version, desired_spec)
       VALUES ('prod', 'default', 'ConfigMap', 'living', 'v1', '{}')`,
    );
    await apply("changed", 5, { a: "2" });
    const left = async () =>
      (await maps.list({ namespace: "default" }, t.signal)).items
        .map(({ metadata }) => metadata.name ?? "")
        .filter((name) => [...names, "nobodys"].includes(name))
        .toSorted();
    await graves.close(t.signal);
    assert.deepEqual(await left(), ["changed", "foreign", "living", "nobodys", "other-key"]);
    // Nothing is written to a target that is paused.
    await tables.query(`UPDATE targets SET paused = true`);
    graves.suspect(await apply("back", 1));
    await graves.close(t.signal);
    assert.ok((await left()).includes("back"));
  });
});
