// Global resources by REST, delivered to a cluster (F51).

import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@keelson/base";
import { until } from "../tools/until.ts";
import { startBed, synced, type Bed, type Details } from "./bed.ts";
import { clusterSuite } from "../tools/test-cluster.ts";
import { data, settings } from "./resource-fixture.ts";

clusterSuite("global resources in clusters", () => {
  test("F51: created, updated, deleted and made again; targets join, leave and are relabelled", async (t) => {
    await using bed = await startBed(t.signal);
    bed.startWorker();
    const { rest } = bed;
    const dataOf = async (name = "settings") =>
      (await bed.find("ConfigMap", name))?.["data"] as { a: string } | undefined;
    const created = await rest.ask("POST", "/global-resources", settings);
    assert.equal(created.code, 201, JSON.stringify(created.body));
    const { id } = created.body;
    assert.deepEqual(created.body, {
      id,
      namespace: "default",
      kind: "ConfigMap",
      name: "settings",
      generation: 1,
      revision: 1,
      status: "pending",
      total_clusters: 1,
      warnings: [],
    });
    const shown = await globalBecomes(bed, id, synced, t.signal);
    const [copy] = shown.cluster_statuses;
    assert.deepEqual(shown.cluster_statuses, [
      {
        cluster_id: "prod",
        resource_id: copy.resource_id,
        synced_generation: 1,
        is_synced: true,
        status: "synced",
      },
    ]);
    assert.deepEqual([shown.total_clusters, shown.synced_clusters], [1, 1]);
    assert.deepEqual(await dataOf(), { a: "1" });

    // An update, and back.
    const put = await rest.ask("PUT", `/global-resources/${id}`, data("2"));
    assert.deepEqual(put.body, { id, generation: 2, revision: 2, status: "pending" });
    await globalBecomes(
      bed,
      id,
      ({ synced_clusters, generation }) => generation === 2 && synced_clusters === 1,
      t.signal,
    );
    assert.deepEqual(await dataOf(), { a: "2" });
    const back = await rest.ask("PUT", `/global-resources/${id}`, { revision: 1 });
    assert.deepEqual([back.body.generation, back.body.revision], [3, 1]);
    await until(async () => (await dataOf())?.a === "1", t.signal);

    // Relabelled out of the selection, and into it again.
    const selector = { matchLabels: { tier: "one" } };
    assert.equal((await rest.ask("PUT", `/global-resources/${id}`, { selector })).code, 200);
    await until(async () => (await dataOf()) === undefined, t.signal);
    await globalBecomes(bed, id, ({ cluster_statuses }) => cluster_statuses.length === 0, t.signal);
    assert.equal((await rest.ask("PUT", "/targets/prod", { labels: { tier: "one" } })).code, 200);
    await until(async () => (await dataOf())?.a === "1", t.signal);

    // A plain resource of the key is left alone, and followed when it goes.
    const plain = await bed.create({
      ...settings,
      cluster_id: "prod",
      name: "taken",
      ...data("mine"),
    });
    await bed.becomes(plain, synced);
    const taken = await rest.ask("POST", "/global-resources", { ...settings, name: "taken" });
    assert.equal(taken.body.warnings[0].code, "conflict");
    const conflict = await rest.ask("GET", `/global-resources/${taken.body.id}`);
    assert.deepEqual(
      [conflict.body.status, conflict.body.cluster_statuses],
      [
        "error",
        [
          {
            cluster_id: "prod",
            resource_id: null,
            synced_generation: null,
            is_synced: false,
            status: "conflict",
          },
        ],
      ],
    );
    assert.equal((await rest.ask("DELETE", `/global-resources/${taken.body.id}`)).code, 202);
    assert.deepEqual(await dataOf("taken"), { a: "mine" });
    const again = await rest.ask("POST", "/global-resources", { ...settings, name: "taken" });
    assert.equal((await rest.ask("DELETE", `/resources/${plain}`)).code, 202);
    await globalBecomes(bed, again.body.id, synced, t.signal);
    assert.deepEqual(await dataOf("taken"), { a: "1" });

    // The target leaves after its copies.
    assert.equal((await rest.ask("DELETE", "/targets/prod")).code, 202);
    await until(async () => (await rest.ask("GET", "/targets/prod")).code === 404, t.signal);
    assert.deepEqual([await dataOf(), await dataOf("taken")], [undefined, undefined]);
    assert.deepEqual((await rest.ask("GET", "/resources")).body.total, 0);
    await rest.tables.query(`INSERT INTO targets (cluster_id, in_process, labels)
                             VALUES ('prod', true, '{"tier":"one"}')`);
    await until(async () => (await dataOf())?.a === "1", t.signal);

    // Deleted: it goes after its copies, and may be made again.
    assert.equal((await rest.ask("DELETE", `/global-resources/${id}`)).code, 202);
    await until(
      async () => (await rest.ask("GET", `/global-resources/${id}`)).code === 404,
      t.signal,
    );
    assert.equal(await dataOf(), undefined);
    const anew = await rest.ask("POST", "/global-resources", { ...settings, selector });
    await globalBecomes(
      bed,
      anew.body.id,
      ({ synced_clusters }) => synced_clusters === 1,
      t.signal,
    );
  });

  test("what goes while its global resource is paused stays until that is resumed", async (t) => {
    await using bed = await startBed(t.signal);
    bed.startWorker();
    const { rest } = bed;
    const { body } = await rest.ask("POST", "/global-resources", settings);
    const path = `/global-resources/${body.id}`;
    const put = async (change: JsonObject) => (await rest.ask("PUT", path, change)).code;
    const shown = await globalBecomes(bed, body.id, synced, t.signal);
    const [{ resource_id: copy }] = shown.cluster_statuses;
    const isPaused = async (): Promise<unknown> => {
      const { code, body: row } = await rest.ask("GET", `/resources/${copy}`);
      return code === 200 ? [row.status, row.paused] : code;
    };

    // It leaves a target.
    assert.equal(await put({ paused: true }), 200);
    assert.equal(await put({ selector: { matchLabels: { tier: "none" } } }), 200);
    assert.deepEqual(await isPaused(), ["deleting", true]);
    assert.equal(await put({ paused: false }), 200);
    await until(async () => (await isPaused()) === 404, t.signal);
    assert.equal(await bed.find("ConfigMap", "settings"), undefined);

    // It goes as a whole.
    assert.equal(await put({ selector: null }), 200);
    await globalBecomes(bed, body.id, synced, t.signal);
    assert.equal(await put({ paused: true }), 200);
    assert.equal((await rest.ask("DELETE", path)).code, 202);
    assert.equal(await put({ paused: false, revision: 1 }), 409);
    assert.notEqual(await bed.find("ConfigMap", "settings"), undefined);
    assert.equal(await put({ paused: false }), 200);
    await until(async () => (await rest.ask("GET", path)).code === 404, t.signal);
    assert.equal(await bed.find("ConfigMap", "settings"), undefined);
  });

  test("a paused target that leaves lets its copies go once it is resumed", async (t) => {
    await using bed = await startBed(t.signal);
    bed.startWorker();
    const { rest } = bed;
    const { body } = await rest.ask("POST", "/global-resources", settings);
    await globalBecomes(bed, body.id, synced, t.signal);
    const put = async (change: JsonObject) => (await rest.ask("PUT", "/targets/prod", change)).code;
    assert.equal(await put({ paused: true }), 200);
    assert.equal((await rest.ask("DELETE", "/targets/prod")).code, 202);
    assert.notEqual(await bed.find("ConfigMap", "settings"), undefined);
    assert.equal(await put({ labels: { tier: "one" } }), 409);
    assert.equal(await put({ paused: false }), 200);
    await until(async () => (await rest.ask("GET", "/targets/prod")).code === 404, t.signal);
    assert.equal(await bed.find("ConfigMap", "settings"), undefined);
  });
});

/** Waits until a fact of the global resource holds. */
async function globalBecomes(
  { rest }: Bed,
  id: number,
  fact: (body: Details) => boolean,
  signal: AbortSignal,
): Promise<Details> {
  let last: Details;
  await until(async () => {
    last = (await rest.ask("GET", `/global-resources/${id}`)).body;
    return last.cluster_statuses !== undefined && fact(last);
  }, signal);
  return last;
}
