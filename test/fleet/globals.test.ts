// Global resources by REST, delivered to a cluster (F51).

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { until } from "../oracle/until.ts";
import { startBed, synced, type Bed, type Details } from "./bed.ts";
import { clusterSuite } from "./cluster.ts";
import { as, startFleetRest, type FleetRest } from "./fleet-rest.ts";

const settings = {
  namespace: "default",
  kind: "ConfigMap",
  name: "settings",
  desired_spec: { data: { a: "1" } },
};

const spec = (a: string) => ({ desired_spec: { data: { a } } });

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
    const put = await rest.ask("PUT", `/global-resources/${id}`, spec("2"));
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
      ...spec("mine"),
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
});

void suite("the API of global resources", () => {
  const fresh = async (options: Parameters<typeof startFleetRest>[1] = {}) =>
    startFleetRest(await sharedThrowawayPostgres("embedded"), options);

  const target = (it: FleetRest, clusterId: string) =>
    it.tables.query(`INSERT INTO targets (cluster_id, in_process) VALUES ($1, true)`, [clusterId]);

  test("a copy is written by its global resource alone: whatever else is 409", async () => {
    await using it = await fresh();
    await target(it, "a");
    const { body } = await it.ask("POST", "/global-resources", settings);
    const [copy] = (await it.ask("GET", "/resources")).body.resources;
    const shown = (await it.ask("GET", `/resources/${copy.id}`)).body;
    assert.equal(shown.global_id, body.id);
    const key = { ...settings, cluster_id: "a" };
    for (const [method, path, sent] of [
      ["PUT", `/resources/${copy.id}`, spec("2")],
      ["PUT", `/resources/${copy.id}`, { paused: true }],
      ["PUT", "/resources", { ...key, ...spec("2") }],
      ["DELETE", `/resources/${copy.id}`, undefined],
      ["DELETE", `/resources/${copy.id}?orphan=true`, undefined],
      ["POST", `/resources/${copy.id}/pause`, undefined],
      ["POST", "/batch", { changes: [{ op: "delete", id: copy.id }] }],
      ["POST", "/batch", { changes: [{ op: "update", id: copy.id, ...spec("2") }] }],
    ] as const) {
      const answer = await it.ask(method, path, sent);
      assert.deepEqual([answer.code, answer.body.code], [409, "GLOBAL_COPY"], `${method} ${path}`);
    }
    const taken = await it.ask("POST", "/resources", key);
    assert.deepEqual([taken.code, taken.body.code], [409, "RESOURCE_EXISTS"]);
    assert.equal((await it.ask("POST", `/resources/${copy.id}/sync`)).code, 202);
    const forgotten = await it.ask("DELETE", `/global-resources/${body.id}?orphan=true`);
    assert.equal(forgotten.body.status, "deleted");
    assert.equal((await it.ask("GET", "/resources")).body.total, 0);
  });

  test("whatever is wrong is named by its field, numbers are those of a resource", async () => {
    await using it = await fresh();
    const wrong: readonly (readonly [object, string])[] = [
      [{ cluster_id: "a" }, "cluster_id"],
      [{ name: "Web" }, "name"],
      [{ namespace: undefined }, "namespace"],
      [{ desired_spec: [] }, "desired_spec"],
      [{ selector: [] }, "selector"],
      [{ selector: { labels: {} } }, "selector.labels"],
      [{ selector: { matchLabels: { a: 1 } } }, "selector.matchLabels.a"],
      [{ selector: { matchLabels: { a: "not a label" } } }, "selector.matchLabels.a"],
      [
        { selector: { matchExpressions: [{ key: "a", operator: "Is" }] } },
        "selector.matchExpressions[0].operator",
      ],
      [
        { selector: { matchExpressions: [{ key: "a", operator: "In" }] } },
        "selector.matchExpressions[0].values",
      ],
      [
        { selector: { matchExpressions: [{ key: "a", operator: "Exists", values: ["b"] }] } },
        "selector.matchExpressions[0].values",
      ],
    ];
    for (const [change, field] of wrong) {
      const { code, body } = await it.ask("POST", "/global-resources", { ...settings, ...change });
      assert.deepEqual(
        [code, body.details?.fields?.[0]?.field],
        [400, field],
        JSON.stringify(body),
      );
    }
    const { body } = await it.ask("POST", "/global-resources", settings);
    const { id } = body;
    assert.deepEqual(body.warnings[0].code, "no_target");
    assert.equal((await it.ask("POST", "/global-resources", settings)).code, 409);
    const put = (sent: object, headers = {}) =>
      it.ask("PUT", `/global-resources/${id}`, sent as never, headers);
    assert.deepEqual((await put(settings)).body, {
      id,
      generation: 1,
      revision: 1,
      status: "synced",
    });
    assert.equal((await put({})).code, 400);
    assert.equal((await put({ name: "other" })).code, 400);
    assert.equal((await put(spec("2"), { "if-match": '"7"' })).code, 412);
    assert.equal((await put(spec("2"), { "if-match": '"1"' })).body.generation, 2);
    assert.equal((await put({ revision: 9 })).code, 404);
    assert.equal((await put({ restore_generation: 1 })).body.generation, 3);
    const got = await it.ask("GET", `/global-resources/${id}`);
    assert.deepEqual(
      [got.headers["etag"], got.body.selector, got.body.desired_spec],
      ['"3"', null, settings.desired_spec],
    );
    const history = await it.ask("GET", `/global-resources/${id}/revisions?limit=2`);
    assert.deepEqual(
      history.body.revisions.map(({ generation }: { generation: number }) => generation),
      [3, 2],
    );
    for (const path of ["/global-resources/999", "/global-resources/99999999999"]) {
      assert.equal((await it.ask("GET", path)).code, 404);
      assert.equal((await it.ask("DELETE", path)).code, 404);
    }
    assert.equal((await it.ask("GET", "/global-resources/x")).code, 400);
    for (const name of ["b", "c"]) await it.ask("POST", "/global-resources", { ...settings, name });
    const first = await it.ask("GET", "/global-resources?limit=2&kind=ConfigMap");
    const second = await it.ask("GET", `/global-resources?limit=2&cursor=${first.body.next}`);
    assert.deepEqual(
      [first, second].map(({ body: page }) =>
        page.global_resources.map(({ name }: { name: string }) => name),
      ),
      [["settings", "b"], ["c"]],
    );
    assert.deepEqual([first.body.total, second.body.next], [3, null]);
    assert.equal((await it.ask("GET", "/global-resources?label=a%3Db")).code, 400);
  });

  test("F29: the values of a global Secret go in and never come out", async () => {
    await using it = await fresh();
    await target(it, "a");
    const secret = { ...settings, kind: "Secret", desired_spec: { data: { p: "c2VjcmV0" } } };
    const { id } = (await it.ask("POST", "/global-resources", secret)).body;
    const shown = (await it.ask("GET", `/global-resources/${id}`)).body;
    assert.match(shown.desired_spec.data.p, /^keelson:secret:/);
    const more = { desired_spec: { data: { p: shown.desired_spec.data.p, q: "bW9yZQ==" } } };
    assert.equal((await it.ask("PUT", `/global-resources/${id}`, more)).code, 200);
    assert.deepEqual(await it.tables.query(`SELECT desired_spec FROM resources`), [
      { desired_spec: { data: { p: "c2VjcmV0", q: "bW9yZQ==" } } },
    ]);
    const everything = JSON.stringify([
      (await it.ask("GET", `/global-resources/${id}`)).body,
      (await it.ask("GET", `/global-resources/${id}/revisions`)).body,
      (await it.ask("GET", "/global-resources")).body,
      await it.tables.query(`SELECT * FROM events_unnumbered`),
      await it.tables.query(`SELECT * FROM events`),
    ]);
    for (const word of ["c2VjcmV0", "bW9yZQ=="]) assert.ok(!everything.includes(word));
  });

  test("only admins, and writing needs every cluster", async () => {
    await using it = await fresh({
      tokens: {
        admin: { role: "admin" },
        some: { role: "admin", clusters: ["a"] },
        editor: { role: "editor" },
      },
    });
    for (const id of ["a", "b"]) await target(it, id);
    const post = (who: string) => it.ask("POST", "/global-resources", settings, as(who));
    assert.deepEqual([(await post("editor")).code, (await post("some")).code], [403, 403]);
    const { id } = (await post("admin")).body;
    const get = (who: string) => it.ask("GET", `/global-resources/${id}`, undefined, as(who));
    assert.equal((await get("editor")).code, 403);
    assert.deepEqual(
      [(await get("admin")).body.total_clusters, (await get("some")).body.total_clusters],
      [2, 1],
    );
  });

  test("a change of three hundred copies takes no statement for each", async () => {
    const statements: string[] = [];
    await using it = await fresh({
      onStatement: ({ statement }) => void statements.push(statement),
    });
    await it.tables.query(
      `INSERT INTO targets (cluster_id, in_process) SELECT 'c' || n, true FROM generate_series(1, 300) n`,
    );
    const { id } = (await it.ask("POST", "/global-resources", settings)).body;
    statements.length = 0;
    await it.ask("PUT", `/global-resources/${id}`, spec("2"));
    const { body } = await it.ask("GET", `/global-resources/${id}`);
    assert.equal(body.total_clusters, 300);
    assert.ok(statements.length < 30, statements.join(" "));
    assert.deepEqual(
      await it.tables.query(`SELECT DISTINCT generation, desired_spec FROM resources`),
      [{ generation: 2, desired_spec: { data: { a: "2" } } }],
    );
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
