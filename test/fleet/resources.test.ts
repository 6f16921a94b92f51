// The contract's scenarios of the API and of revisions (F1 to F16), as far as they need no cluster.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eachPostgres } from "@keelson/database/testing";
import { as, bodyBytesMax, startFleetRest, type FleetRest } from "./fleet-rest.ts";

const web = {
  cluster_id: "prod",
  namespace: "shop",
  kind: "Deployment",
  name: "web",
  desired_spec: { metadata: { labels: { app: "web" } }, spec: { replicas: 1 } },
};

async function create(it: FleetRest, changes: object = {}): Promise<number> {
  const { code, body } = await it.ask("POST", "/resources", { ...web, ...changes });
  assert.equal(code, 201, JSON.stringify(body));
  return body.id as number;
}

const replicas = (count: number) => ({ desired_spec: { spec: { replicas: count } } });

eachPostgres("fleet's API", (server) => {
  const fresh = async (options: Parameters<typeof startFleetRest>[1] = {}) =>
    startFleetRest(await server(), options);

  test("F1: a resource is created, pending, with a warning for a target that nobody knows", async () => {
    await using it = await fresh();
    const { code, body } = await it.ask("POST", "/resources", web);
    assert.equal(code, 201);
    const { id } = body;
    const { desired_spec, ...key } = web;
    assert.deepEqual(body, {
      id,
      ...key,
      generation: 1,
      revision: 1,
      status: "pending",
      warnings: [
        {
          code: "unknown_target",
          message: "no target is registered as prod: it is delivered once one is",
        },
      ],
    });
    const got = await it.ask("GET", `/resources/${id}`);
    assert.equal(got.headers["etag"], '"1"');
    const { conditions, timeline, created_at, ...shown } = got.body;
    assert.deepEqual(shown, {
      id,
      ...key,
      api_version: "apps/v1",
      desired_spec,
      generation: 1,
      revision: 1,
      status: "pending",
      health: "Unknown",
      health_message: null,
      applied: null,
      current: null,
      drift: null,
      last_error: null,
      conflict_policy: "force",
      drift_policy: "heal",
      immutable_policy: "report",
      propagation: "background",
      paused: false,
      global_id: null,
    });
    assert.equal(created_at, timeline.committed_at);
    assert.match(timeline.committed_at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    assert.deepEqual(
      conditions.map(({ type, status: is, reason }: Record<string, string>) =>
        [type, is, reason].join(" "),
      ),
      [
        "Applied False Pending",
        "Observed False NeverSeen",
        "Drifted False AsApplied",
        "TargetReachable False UnknownTarget",
        "Paused False Running",
        "DeletionBlocked False NotBlocked",
        "Waiting False NotWaiting",
      ],
    );
  });

  test("F2: whatever is wrong is named by its field, and nothing is written", async () => {
    await using it = await fresh();
    const id = await create(it);
    const wrong: readonly (readonly [object, string])[] = [
      [{ cluster_id: undefined }, "cluster_id"],
      [{ cluster_id: "" }, "cluster_id"],
      [{ cluster_id: "-a" }, "cluster_id"],
      [{ cluster_id: "a".repeat(101) }, "cluster_id"],
      [{ cluster_id: 7 }, "cluster_id"],
      [{ namespace: undefined }, "namespace"],
      [{ namespace: "Shop" }, "namespace"],
      [{ namespace: "a.b" }, "namespace"],
      [{ kind: "deployment" }, "kind"],
      [{ kind: null }, "kind"],
      [{ name: "Web" }, "name"],
      [{ name: "a".repeat(254) }, "name"],
      [{ kind: "Widget" }, "api_version"],
      [{ api_version: "apps/v1/x" }, "api_version"],
      [{ revision: 0 }, "revision"],
      [{ revision: 1.5 }, "revision"],
      [{ revision: 2_147_483_648 }, "revision"],
      [{ paused: "no" }, "paused"],
      [{ drift_policy: "ignore" }, "drift_policy"],
      [{ colour: "red" }, "colour"],
      [{ desired_spec: undefined }, "desired_spec"],
      [{ desired_spec: null }, "desired_spec"],
      [{ desired_spec: [] }, "desired_spec"],
      [{ desired_spec: "x" }, "desired_spec"],
      [{ desired_spec: 1 }, "desired_spec"],
      [{ desired_spec: { kind: "Pod" } }, "desired_spec.kind"],
      [{ desired_spec: { apiVersion: "v1" } }, "desired_spec.apiVersion"],
      [{ desired_spec: { status: {} } }, "desired_spec.status"],
      [{ desired_spec: { metadata: { name: "x" } } }, "desired_spec.metadata.name"],
      [{ desired_spec: { metadata: { uid: "x" } } }, "desired_spec.metadata.uid"],
      [{ desired_spec: { metadata: { labels: { a: 1 } } } }, "desired_spec.metadata.labels.a"],
      [
        { desired_spec: { metadata: { annotations: { "kontrol/generation": "9" } } } },
        "desired_spec.metadata.annotations.kontrol/generation",
      ],
    ];
    for (const [change, field] of wrong) {
      const { code, body } = await it.ask("POST", "/resources", { ...web, ...change });
      assert.deepEqual([code, body.code], [400, "VALIDATION_FAILED"], JSON.stringify(change));
      assert.equal(body.details.fields[0].field, field, JSON.stringify(change));
    }
    for (const [change, field] of [
      [{}, "body"],
      [{ desired_spec: null }, "desired_spec"],
      [{ desired_spec: [] }, "desired_spec"],
      [{ name: "other", ...replicas(2) }, "name"],
      [{ api_version: "batch/v1", ...replicas(2) }, "api_version"],
      [{ restore_generation: 1, ...replicas(2) }, "desired_spec"],
    ] as const) {
      const { code, body } = await it.ask("PUT", `/resources/${id}`, change);
      assert.deepEqual([code, body.details?.fields?.[0]?.field], [400, field]);
    }
    assert.deepEqual(
      await it.tables.query(
        `SELECT count(*)::integer AS rows, max(generation) AS last FROM resources`,
      ),
      [{ rows: 1, last: 1 }],
    );
  });

  test("F3, F5: bad bodies and addresses are refused in the one shape", async () => {
    await using it = await fresh();
    const codes = async (...request: Parameters<FleetRest["ask"]>) => {
      const { code, body } = await it.ask(...request);
      assert.deepEqual(Object.keys(body).toSorted(), ["code", "details", "error"]);
      return [code, body.code];
    };
    assert.deepEqual(await codes("POST", "/resources", "{"), [400, "VALIDATION_FAILED"]);
    const large = { ...web, desired_spec: { a: "x".repeat(bodyBytesMax) } };
    assert.deepEqual(await codes("POST", "/resources", large), [413, "PAYLOAD_TOO_LARGE"]);
    assert.deepEqual(await codes("POST", "/resources", "a: 1", { "content-type": "text/yaml" }), [
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ]);
    assert.deepEqual(await codes("GET", "/nothing"), [404, "RESOURCE_NOT_FOUND"]);
    assert.deepEqual(await codes("DELETE", "/resources"), [405, "METHOD_NOT_ALLOWED"]);
    for (const method of ["GET", "PUT", "DELETE"] as const) {
      const body = method === "PUT" ? [replicas(2)] : [];
      assert.deepEqual(await codes(method, "/resources/999", ...body), [404, "RESOURCE_NOT_FOUND"]);
      assert.deepEqual(await codes(method, "/resources/99999999999", ...body), [
        404,
        "RESOURCE_NOT_FOUND",
      ]);
      assert.deepEqual(await codes(method, "/resources/web", ...body), [400, "VALIDATION_FAILED"]);
    }
  });

  test("a write that was meant as a trial, or asks what nobody knows, is not carried out", async () => {
    await using it = await fresh();
    const id = await create(it);
    for (const query of ["dryRun=All", "dryrun=true", "dry_run=true"]) {
      for (const [method, path, body] of [
        ["POST", "/resources", { ...web, name: "other" }],
        ["PUT", "/resources", { ...web, name: "other" }],
        ["PUT", `/resources/${id}`, replicas(2)],
        ["DELETE", `/resources/${id}`, undefined],
        ["POST", "/batch", { changes: [{ op: "delete", id }] }],
        ["POST", `/resources/${id}/pause`, undefined],
      ] as const) {
        const { code, body: told } = await it.ask(method, `${path}?${query}`, body);
        const field = told.details.fields[0].field;
        assert.deepEqual([code, field], [400, query.split("=")[0]], `${method} ${path}`);
      }
    }
    // What no cluster could be asked about cannot be tried.
    for (const path of [`/resources/${id}/pause`, `/resources/${id}/sync`, "/targets"]) {
      const { code, body } = await it.ask("POST", `${path}?dryRun=true`, {});
      assert.deepEqual([code, body.details.fields[0].field], [400, "dryRun"], path);
    }
    assert.deepEqual(await it.tables.query(`SELECT generation, paused FROM resources`), [
      { generation: 1, paused: false },
    ]);
    assert.equal((await it.ask("DELETE", `/resources/${id}?dryRun=false`)).code, 202);
  });

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

  test("F15: a hundred at once are a hundred generations, and a stale one is refused", async () => {
    await using it = await fresh();
    const id = await create(it);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, count) =>
        it.ask("PUT", `/resources/${id}`, replicas(count + 2)),
      ),
    );
    assert.ok(answers.every(({ code }) => code === 200));
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

  test("F27: kinds without a namespace have none, given or not", async () => {
    await using it = await fresh();
    const role = {
      cluster_id: "prod",
      kind: "ClusterRole",
      name: "system:node:reader",
      api_version: "rbac.authorization.k8s.io/v1",
      desired_spec: { rules: [] },
    };
    const first = await it.ask("POST", "/resources", { ...role, namespace: "ignored" });
    assert.deepEqual([first.code, first.body.namespace], [201, ""]);
    assert.equal((await it.ask("POST", "/resources", role)).code, 409);
  });

  test("F37: a deletion is asked for once; what was never delivered is gone at once", async () => {
    await using it = await fresh();
    const untouched = await create(it);
    assert.deepEqual(await it.ask("DELETE", `/resources/${untouched}`).then(({ body }) => body), {
      id: untouched,
      status: "deleting",
      message: "Resource marked for deletion",
    });
    assert.equal((await it.ask("GET", `/resources/${untouched}`)).code, 404);
    const id = await create(it);
    await it.tables.query(`UPDATE resource_attempts SET last_attempt_at = now()`);
    for (const _ of [1, 2]) assert.equal((await it.ask("DELETE", `/resources/${id}`)).code, 202);
    const { body } = await it.ask("GET", `/resources/${id}`);
    assert.deepEqual([body.status, body.generation], ["deleting", 2]);
    assert.equal(
      (await it.ask("PUT", `/resources/${id}`, replicas(2))).body.code,
      "RESOURCE_DELETING",
    );
    assert.equal((await it.ask("DELETE", `/resources/${id}?orphan=true`)).body.status, "deleted");
    assert.equal((await it.ask("GET", `/resources/${id}`)).code, 404);
    assert.deepEqual(
      await it.tables.query(
        `SELECT type, data->>'reason' AS reason FROM events_unnumbered ORDER BY id`,
      ),
      [
        { type: "resource.created", reason: null },
        { type: "resource.deleting", reason: null },
        { type: "resource.deleted", reason: "NeverApplied" },
        { type: "resource.created", reason: null },
        { type: "resource.deleting", reason: null },
        { type: "resource.deleted", reason: "Forgotten" },
      ],
    );
  });

  test("F29: a Secret's values go in and never come out", async () => {
    await using it = await fresh();
    const value = "cGFzc3dvcmQ=";
    const secret = { ...web, kind: "Secret", name: "login" };
    const id = await create(it, {
      ...secret,
      desired_spec: { data: { password: value, user: "YW5u" }, stringData: { pin: "1234" } },
    });
    const { body } = await it.ask("GET", `/resources/${id}`);
    const shown = body.desired_spec;
    assert.match(shown.data.password, /^keelson:secret:[\w-]{22}$/);
    // What was shown may be sent back, also under another key; what is new is taken as it is.
    const moved = {
      data: { password: shown.data.password, name: shown.data.user, more: "bW9yZQ==" },
    };
    assert.equal((await it.ask("PUT", `/resources/${id}`, { desired_spec: moved })).code, 200);
    assert.deepEqual(await it.tables.query(`SELECT desired_spec FROM resources`), [
      { desired_spec: { data: { password: value, name: "YW5u", more: "bW9yZQ==" } } },
    ]);
    const strange = { data: { password: "keelson:secret:0000000000000000000000" } };
    const refused = await it.ask("PUT", `/resources/${id}`, { desired_spec: strange });
    assert.deepEqual(
      [refused.code, refused.body.details.fields[0].field],
      [400, "desired_spec.data.password"],
    );
    const everything = JSON.stringify([
      body,
      (await it.ask("GET", `/resources/${id}`)).body,
      (await it.ask("GET", `/resources/${id}/revisions`)).body,
      (await it.ask("GET", "/resources")).body,
      await it.tables.query(`SELECT * FROM events_unnumbered`),
    ]);
    for (const word of [value, "YW5u", "1234", "bW9yZQ=="])
      assert.ok(!everything.includes(word), word);
  });

  test("every number and key comes back as it was sent", async () => {
    await using it = await fresh();
    const spec = `{"spec":{"big":9007199254740993,"far":1e300,"__proto__":{"a":1},"ünïcödé":"☃"}}`;
    const { desired_spec: _, ...key } = web;
    const { code, body } = await it.ask(
      "POST",
      "/resources",
      `${JSON.stringify(key).slice(0, -1)},"desired_spec":${spec}}`,
    );
    assert.equal(code, 201, JSON.stringify(body));
    assert.deepEqual(
      await it.tables.query(
        `SELECT desired_spec = $1::text::jsonb AS same, desired_spec->'spec'->>'big' AS big FROM resources`,
        [spec],
      ),
      [{ same: true, big: "9007199254740993" }],
    );
  });

  test("F49: a token sees and writes its clusters only, and its role says what it may do", async () => {
    await using it = await fresh({
      tokens: {
        admin: { role: "admin" },
        editor: { role: "editor", clusters: ["a"] },
        reader: { role: "reader" },
      },
    });
    const post = (cluster_id: string, who: string) =>
      it.ask("POST", "/resources", { ...web, cluster_id }, as(who));
    assert.equal((await post("a", "editor")).code, 201);
    assert.equal((await post("b", "editor")).code, 403);
    assert.equal((await post("b", "reader")).code, 403);
    const { body } = await post("b", "admin");
    const { id } = body;
    assert.equal((await it.ask("GET", `/resources/${id}`, undefined, as("editor"))).code, 404);
    assert.equal((await it.ask("PUT", `/resources/${id}`, replicas(2), as("editor"))).code, 404);
    assert.equal((await it.ask("DELETE", `/resources/${id}`, undefined, as("editor"))).code, 404);
    assert.equal((await it.ask("PUT", `/resources/${id}`, replicas(2), as("reader"))).code, 403);
    const totals = await Promise.all(
      ["admin", "editor", "reader"].map(
        async (who) => (await it.ask("GET", "/resources", undefined, as(who))).body.total as number,
      ),
    );
    assert.deepEqual(totals, [2, 1, 2]);
    assert.equal((await it.ask("GET", "/resources", undefined, as("nobody"))).code, 401);
  });
});
