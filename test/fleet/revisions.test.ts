// Generations, revisions and the history (F12 to F16), as far as they need no cluster.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eachFleetRest } from "./fleet-rest.ts";
import { create, replicas, web } from "./resource-fixture.ts";

eachFleetRest("fleet's API, revisions", (fresh) => {
  test("F12, F13, F14: a spec is replaced, a revision is restored, numbers say which", async () => {
    await using it = await fresh();
    const id = await create(it);
    const put = async (body: object) =>
      (await it.ask("PUT", `/resources/${id}`, body as never)).body;
    const spec = async () => (await it.ask("GET", `/resources/${id}`)).body.desired_spec;
    assert.deepEqual(await put(replicas(2)), {
      id,
      generation: 2,
      revision: 2,
      status: "pending",
    });
    assert.deepEqual(await spec(), { spec: { replicas: 2 } }); // No label is left of the first.
    assert.deepEqual(await put({ revision: 1 }), {
      id,
      generation: 3,
      revision: 1,
      status: "pending",
    });
    assert.deepEqual(await spec(), web.desired_spec);
    assert.deepEqual(await put({ revision: 1 }), {
      id,
      generation: 3,
      revision: 1,
      status: "pending",
    });
    const unknown = await it.ask("PUT", `/resources/${id}`, { revision: 9 });
    assert.deepEqual([unknown.code, unknown.body.code], [404, "RESOURCE_NOT_FOUND"]);
    assert.equal((await put({ ...replicas(2), revision: 1 })).generation, 4);
    assert.deepEqual(await put({ restore_generation: 1 }), {
      id,
      generation: 5,
      revision: 1,
      status: "pending",
    });
    assert.deepEqual(await spec(), web.desired_spec);
    const history = await it.ask("GET", `/resources/${id}/revisions?limit=2`);
    assert.deepEqual(
      history.body.revisions.map((row: Record<string, unknown>) => [
        row["generation"],
        row["revision"],
        row["actor"],
      ]),
      [
        [5, 1, "controller@system.local"],
        [4, 1, "controller@system.local"],
      ],
    );
    const older = await it.ask("GET", `/resources/${id}/revisions?before=${history.body.next}`);
    assert.deepEqual(
      older.body.revisions.map(({ generation }: { generation: number }) => generation),
      [3, 2, 1],
    );
  });

  test("F12: a spec whose numbers are written otherwise is the same, and nothing is written", async () => {
    await using it = await fresh();
    const id = await create(it);
    const put = async (number: string): Promise<unknown> => {
      const change = `{"op":"update","id":${id},"desired_spec":{"spec":{"replicas":${number}}}}`;
      const { body } = await it.ask("POST", "/batch", `{"changes":[${change}]}`);
      return [body.results[0].outcome, body.results[0].generation];
    };
    assert.deepEqual(await put("100"), ["updated", 2]);
    for (const number of ["1e2", "100.0", "1000e-1"]) {
      assert.deepEqual(await put(number), ["unchanged", 2], number);
    }
    assert.deepEqual(await put("1e3"), ["updated", 3]);
  });

  test("F15: a hundred at once are a hundred generations, and a stale one is refused", async () => {
    await using it = await fresh();
    const id = await create(it);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, count) =>
        it.ask("PUT", `/resources/${id}`, replicas(count + 2)),
      ),
    );
    assert.deepEqual(
      answers.filter(({ code }) => code !== 200),
      [],
    );
    const revisions = new Set(answers.map(({ body }) => body.revision));
    assert.equal(revisions.size, 100);
    assert.deepEqual(
      await it.tables.query(
        `SELECT count(*)::integer AS rows, max(generation) AS last FROM resource_revisions`,
      ),
      [{ rows: 101, last: 101 }],
    );
    const stale = await it.ask("PUT", `/resources/${id}`, replicas(1), { "if-match": '"1"' });
    assert.deepEqual([stale.code, stale.body.details], [412, { generation: 101 }]);
    const fits = await it.ask("PUT", `/resources/${id}`, replicas(1), { "if-match": '"101"' });
    assert.equal(fits.code, 200);
  });

  test("F16: a new version of its group raises the generation; policies and pauses do not", async () => {
    await using it = await fresh();
    const id = await create(it);
    const put = async (body: object) =>
      (await it.ask("PUT", `/resources/${id}`, body as never)).body;
    assert.equal((await put({ api_version: "apps/v1beta1" })).generation, 2);
    assert.equal((await put({ drift_policy: "report" })).generation, 2);
    assert.deepEqual((await it.ask("POST", `/resources/${id}/pause`)).body, { id, paused: true });
    const paused = (await it.ask("GET", `/resources/${id}`)).body;
    assert.deepEqual([paused.generation, paused.paused, paused.drift_policy], [2, true, "report"]);
    assert.deepEqual((await it.ask("POST", `/resources/${id}/resume`)).body, { id, paused: false });
    assert.equal((await it.ask("POST", `/resources/${id}/sync`)).code, 202);
  });

  test("3.2: a version that does not fit what is brought back, or the spec that stays, is refused", async () => {
    await using it = await fresh();
    const id = await create(it);
    const put = async (body: object) => {
      const answer = await it.ask("PUT", `/resources/${id}`, body as never);
      return [answer.code, answer.body.generation ?? answer.body.details.fields[0].field];
    };
    assert.deepEqual(await put({ api_version: "apps/v1beta1" }), [200, 2]);
    assert.deepEqual(await put(replicas(2)), [200, 3]);
    assert.deepEqual(await put({ revision: 1, api_version: "apps/v1" }), [400, "api_version"]);
    assert.deepEqual(await put({ revision: 1, api_version: "apps/v1beta1" }), [200, 4]);
    const spec = { apiVersion: "apps/v1beta1", spec: { replicas: 3 } };
    assert.deepEqual(await put({ desired_spec: spec }), [200, 5]);
    assert.deepEqual(await put({ api_version: "apps/v1" }), [400, "api_version"]);
    const whole = { api_version: "apps/v1", desired_spec: { ...spec, apiVersion: "apps/v1" } };
    assert.deepEqual(await put(whole), [200, 6]);
  });

  test("3.3: a batch brings back what it names by a key, whose version only says which", async () => {
    await using it = await fresh();
    const kind = { kind: "Widget", api_version: "example.com/v1" };
    const id = await create(it, kind);
    const { desired_spec: _, ...key } = { ...web, ...kind };
    const update = async (change: object) => {
      const changes = [{ op: "update", ...key, api_version: "example.com/v2", ...change }];
      const { code, body } = await it.ask("POST", "/batch", { changes });
      assert.equal(code, 200, JSON.stringify(body));
      return (await it.ask("GET", `/resources/${id}`)).body;
    };
    assert.equal((await update(replicas(2))).api_version, "example.com/v2");
    for (const back of [{ revision: 1 }, { restore_generation: 1 }]) {
      const restored = await update(back);
      assert.deepEqual(
        [restored.api_version, restored.desired_spec],
        ["example.com/v1", web.desired_spec],
      );
      await update(replicas(2));
    }
  });
});
