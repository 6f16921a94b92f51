// The API of global resources, as far as it needs no cluster.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { as, startFleetRest, type FleetRest } from "./fleet-rest.ts";
import { data, settings } from "./resource-fixture.ts";

suite("the API of global resources", () => {
  const target = (it: FleetRest, clusterId: string) =>
    it.tables.query(`INSERT INTO targets (cluster_id, in_process) VALUES ($1, true)`, [clusterId]);

  test("a copy is written by its global resource alone: whatever else is 409", async () => {
    await using it = await startFleetRest();
    await target(it, "a");
    const { body } = await it.ask("POST", "/global-resources", settings);
    const [copy] = (await it.ask("GET", "/resources")).body.resources;
    const shown = (await it.ask("GET", `/resources/${copy.id}`)).body;
    assert.equal(shown.global_id, body.id);
    const key = { ...settings, cluster_id: "a" };
    for (const [method, path, sent] of [
      ["PUT", `/resources/${copy.id}`, data("2")],
      ["PUT", `/resources/${copy.id}`, { paused: true }],
      ["PUT", "/resources", { ...key, ...data("2") }],
      ["DELETE", `/resources/${copy.id}`, undefined],
      ["DELETE", `/resources/${copy.id}?orphan=true`, undefined],
      ["POST", `/resources/${copy.id}/pause`, undefined],
      ["POST", "/batch", { changes: [{ op: "delete", id: copy.id }] }],
      ["POST", "/batch", { changes: [{ op: "update", id: copy.id, ...data("2") }] }],
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
    await using it = await startFleetRest();
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
    assert.equal((await put(data("2"), { "if-match": '"7"' })).code, 412);
    assert.equal((await put(data("2"), { "if-match": '"1"' })).body.generation, 2);
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
    await using it = await startFleetRest();
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

  test("a copy that leaves is shown until it is gone, also when its successor has come and gone", async () => {
    await using it = await startFleetRest();
    await target(it, "a");
    await it.ask("PUT", "/targets/a", { labels: { tier: "one" } });
    const selector = { matchLabels: { tier: "one" } };
    const { body } = await it.ask("POST", "/global-resources", { ...settings, selector });
    const shown = async () => {
      const { body: global } = await it.ask("GET", `/global-resources/${body.id}`);
      return [global.total_clusters, ...global.cluster_statuses.map(Object.values)];
    };
    const [copy] = (await it.ask("GET", "/resources")).body.resources;
    // As if a worker had begun it: it is not gone at once.
    await it.tables.query(`UPDATE resource_attempts SET last_attempt_at = now()`);
    const leaving = ["a", copy.id, null, false, "deleting"];
    await it.ask("PUT", "/targets/a", { labels: {} });
    assert.deepEqual(await shown(), [0, leaving]);
    await it.ask("PUT", "/targets/a", { labels: { tier: "one" } });
    assert.deepEqual(await shown(), [1, ["a", copy.id + 1, null, false, "pending"]]);
    await it.ask("PUT", "/targets/a", { labels: {} });
    assert.deepEqual(await shown(), [0, leaving]);
    await it.tables.query(`DELETE FROM resources WHERE deleted_at IS NOT NULL`);
    assert.deepEqual(await shown(), [0]);
  });

  test("only admins, and writing needs every cluster", async () => {
    await using it = await startFleetRest({
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
    await using it = await startFleetRest({
      onStatement: ({ statement }) => void statements.push(statement),
    });
    await it.tables.query(
      `INSERT INTO targets (cluster_id, in_process) SELECT 'c' || n, true FROM generate_series(1, 300) n`,
    );
    const { id } = (await it.ask("POST", "/global-resources", settings)).body;
    statements.length = 0;
    await it.ask("PUT", `/global-resources/${id}`, data("2"));
    const { body } = await it.ask("GET", `/global-resources/${id}`);
    assert.equal(body.total_clusters, 300);
    assert.ok(statements.length < 30, statements.join(" "));
    assert.deepEqual(
      await it.tables.query(`SELECT DISTINCT generation, desired_spec FROM resources`),
      [{ generation: 2, desired_spec: { data: { a: "2" } } }],
    );
  });
});
