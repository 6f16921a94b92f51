// Many resources at once (F4, F6, F8, F9): who comes first, pages, batches.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eachFleetRest } from "./fleet-rest.ts";
import { create, replicas, web } from "./resource-fixture.ts";

eachFleetRest("fleet's API, many at once", (fresh) => {
  test("F4: of fifty that create one key, one does", async () => {
    await using it = await fresh();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => it.ask("POST", "/resources", web)),
    );
    const codes = answers.map(({ code }) => code).toSorted((a, b) => a - b);
    assert.deepEqual(codes, [201, ...Array.from({ length: 49 }, () => 409)]);
    assert.ok(answers.every(({ code, body }) => code === 201 || body.code === "RESOURCE_EXISTS"));
    assert.deepEqual(await it.tables.query(`SELECT count(*)::integer AS rows FROM resources`), [
      { rows: 1 },
    ]);
  });

  test("F6: pages show each resource once, in order, while more are added", async () => {
    await using it = await fresh();
    const names = Array.from({ length: 250 }, (_, index) => `r${index}`);
    const changes = names.map((name) => ({ op: "create", ...web, name }));
    assert.equal((await it.ask("POST", "/batch", { changes })).code, 200);
    const seen: string[] = [];
    let cursor = "";
    for (let page = 0; ; page++) {
      const path = `/resources?cluster_id=prod&limit=100${cursor}`;
      const { body } = await it.ask("GET", path);
      assert.equal(body.total, 250 + page);
      seen.push(...body.resources.map(({ name }: { name: string }) => name));
      if (body.next === null) break;
      cursor = `&cursor=${body.next}`;
      await create(it, { name: `late${page}` });
    }
    assert.deepEqual(seen, [...names, "late0", "late1"]);
    const only = async (query: string) =>
      (await it.ask("GET", `/resources?${query}`)).body.resources.length as number;
    assert.deepEqual(
      [
        await only("name=r7"),
        await only("label=app%3Dweb&name=r7"),
        await only("label=app%3Dother"),
        await only("status=pending&limit=1000"),
        await only("status=synced"),
        await only("kind=Pod"),
        await only("namespace=shop&limit=10"),
      ],
      [1, 1, 0, 252, 0, 0, 10],
    );
    for (const [query, field] of [
      ["limit=0", "limit"],
      ["limit=1001", "limit"],
      ["limit=ten", "limit"],
      ["cursor=abc", "cursor"],
      ["status=fine", "status"],
      ["label=app", "label"],
      ["colour=red", "colour"],
    ]) {
      const { code, body } = await it.ask("GET", `/resources?${query}`);
      assert.deepEqual([code, body.details.fields[0].field], [400, field]);
    }
  });

  test("F6: ten thousand rows by filter and cursor while rows are added: each old row once, and no statement for each", async () => {
    let statements = 0;
    await using it = await fresh({
      onStatement: ({ phase }) => {
        if (phase === "before") statements += 1;
      },
    });
    const old = 10_000;
    await it.tables.query(
      `INSERT INTO resources (cluster_id, namespace, kind, name, api_version, desired_spec)
       SELECT CASE WHEN n % 5 = 0 THEN 'other' ELSE 'prod' END, 'shop', 'Deployment', 'r' || n, 'apps/v1', '{}'
       FROM generate_series(1, ${old}) n`,
    );
    const selected = Array.from({ length: old }, (_, n) => n + 1).filter((n) => n % 5 !== 0);
    const seen: string[] = [];
    let added = 0;
    for (let cursor = ""; ;) {
      const before = statements;
      const path = `/resources?cluster_id=prod&kind=Deployment&status=pending&limit=1000${cursor}`;
      const { body } = await it.ask("GET", path);
      assert.ok(statements - before <= 5, `${statements - before} statements for a page`);
      assert.equal(body.total, selected.length + added);
      seen.push(...body.resources.map(({ name }: { name: string }) => name));
      if (body.next === null) break;
      cursor = `&cursor=${body.next}`;
      for (const clusterId of ["prod", "other"]) {
        await create(it, { name: `late${added}`, cluster_id: clusterId });
      }
      added += 1;
    }
    const late = Array.from({ length: added }, (_, index) => `late${index}`);
    assert.deepEqual(seen, [...selected.map((n) => `r${n}`), ...late]);
  });

  test("3.2: a PUT by key heeds If-Match, also where there is nothing to match", async () => {
    await using it = await fresh();
    const put = async (count: number, tag: string, query = "") => {
      const body = { ...web, ...replicas(count) };
      const answer = await it.ask("PUT", `/resources${query}`, body, { "if-match": tag });
      return [answer.code, answer.body.generation ?? answer.body.code];
    };
    assert.deepEqual(await put(1, '"1"'), [412, "PRECONDITION_FAILED"]);
    await create(it);
    assert.deepEqual(await put(2, '"1"'), [200, 2]);
    assert.deepEqual(await put(3, '"1"'), [412, "PRECONDITION_FAILED"]);
    assert.deepEqual(await put(3, '"1"', "?dryRun=true"), [412, "PRECONDITION_FAILED"]);
    assert.deepEqual(await put(3, "*"), [200, 3]);
  });

  test("F8: a batch with one bad change names it and writes nothing; corrected, it is one change set", async () => {
    await using it = await fresh();
    const changes: object[] = Array.from({ length: 1_000 }, (_, index) => ({
      op: "create",
      ...web,
      name: `r${index}`,
    }));
    const bad = changes.with(700, { op: "create", ...web, name: "Bad" });
    const refused = await it.ask("POST", "/batch", { changes: bad as never });
    assert.deepEqual([refused.code, refused.body.details.fields[0].index], [400, 700]);
    assert.equal(refused.body.details.fields[0].field, "changes[700].name");
    const twice = changes.with(999, { op: "create", ...web, name: "r3" });
    const taken = await it.ask("POST", "/batch", { changes: twice as never });
    assert.deepEqual([taken.code, taken.body.details.fields[0].index], [409, 999]);
    for (const count of [0, 10_001]) {
      const many = Array.from({ length: count }, () => ({ op: "delete", id: 1 }));
      const { code, body } = await it.ask("POST", "/batch", JSON.stringify({ changes: many }));
      assert.deepEqual([code, body.details.fields[0].field], [400, "changes"], String(count));
    }
    const rows = () =>
      it.tables.query(`
        SELECT (SELECT count(*)::integer FROM resources) AS resources,
               (SELECT count(*)::integer FROM events_unnumbered) AS events,
               (SELECT count(DISTINCT change_set)::integer FROM resource_revisions) AS sets`);
    assert.deepEqual(await rows(), [{ resources: 0, events: 0, sets: 0 }]);
    const made = await it.ask("POST", "/batch", { changes: changes as never });
    assert.equal(made.code, 200);
    assert.equal(made.body.results.length, 1_000);
    assert.deepEqual(await rows(), [{ resources: 1_000, events: 1_000, sets: 1 }]);

    const [first, second, third] = made.body.results.map(({ id }: { id: number }) => id);
    const mixed = await it.ask("POST", "/batch", {
      changes: [
        { op: "update", id: first, ...replicas(2) },
        { op: "update", ...web, name: "r1", desired_spec: web.desired_spec },
        { op: "delete", id: third },
        { op: "upsert", ...web, name: "new" },
      ],
    });
    assert.deepEqual(
      mixed.body.results.map(({ generation, status, outcome }: Record<string, unknown>) => [
        generation,
        status,
        outcome,
      ]),
      [
        [2, "pending", "updated"],
        [1, "pending", "unchanged"],
        [2, "deleting", "deleted"],
        [1, "pending", "created"],
      ],
    );
    assert.equal(mixed.body.results[1].id, second);
  });

  test("F8: of many that are created the first that is refused is named, whatever refuses it", async () => {
    const tokens = { editor: { role: "editor", clusters: ["prod"] } } as const;
    const ran: string[] = [];
    await using it = await fresh({
      tokens,
      onStatement: ({ statement, phase }) => void (phase === "before" && ran.push(statement)),
    });
    const ask = (changes: readonly object[]) =>
      it.ask("POST", "/batch", { changes: changes as never }, { authorization: "Bearer editor" });
    const made = (name: string, more = {}) => ({ op: "create", ...web, name, ...more });
    const elsewhere = made("z", { cluster_id: "elsewhere" });
    const blamed = async (changes: readonly object[]) => {
      const { code, body } = await ask(changes);
      return [code, body.details.fields[0].index];
    };
    assert.deepEqual(await blamed([made("a"), made("b"), elsewhere]), [403, 2]);
    assert.deepEqual(await blamed([made("a"), made("a"), elsewhere]), [409, 1]);
    assert.deepEqual(await blamed([elsewhere, made("a"), made("a")]), [403, 0]);
    ran.length = 0;
    const { body } = await ask(["a", "b", "c"].map((name) => made(name)));
    const ids = body.results.map(({ id }: { id: number }) => id);
    assert.deepEqual(
      ids,
      [...ids].toSorted((a, b) => a - b),
    );
    assert.deepEqual(
      ran.filter((name) => name.startsWith("insert")),
      ["insertResources"],
    );
    const { body: list } = await it.ask("GET", "/resources", undefined, {
      authorization: "Bearer editor",
    });
    const named = list.resources.map(({ id, name }: Record<string, unknown>) => [id, name]);
    assert.deepEqual(named, [
      [ids[0], "a"],
      [ids[1], "b"],
      [ids[2], "c"],
    ]);
  });

  test("F9: of twenty that write one key, one creates it", async () => {
    await using it = await fresh();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, count) =>
        it.ask("PUT", "/resources", { ...web, ...replicas(count) }),
      ),
    );
    assert.deepEqual(
      answers.map(({ code }) => code).toSorted((a, b) => a - b),
      [...Array.from({ length: 19 }, () => 200), 201],
    );
    const { body } = await it.ask("GET", "/resources");
    assert.deepEqual([body.total, body.resources[0].generation], [1, 20]);
  });
});
