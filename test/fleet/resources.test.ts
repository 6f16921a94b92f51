// The contract's scenarios of the API (F1 to F5, F27, F37), as far as they need no cluster.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bodyBytesMax, eachFleetRest, type FleetRest } from "./fleet-rest.ts";
import { create, replicas, web } from "./resource-fixture.ts";

eachFleetRest("fleet's API", (fresh) => {
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

  test("5: a target's trouble is the last error of its resources, and leaves each its status", async () => {
    await using it = await fresh();
    const id = await create(it);
    await it.tables.query(`INSERT INTO targets (cluster_id, agent) VALUES ('prod', true)`);
    const shown = async (change: string) => {
      await it.tables.query(change);
      const { status, health, last_error } = (await it.ask("GET", `/resources/${id}`)).body;
      const { class: errorClass, message, generation } = last_error ?? {};
      return [status, health, errorClass, message, generation];
    };
    const away = (message: string): string =>
      `UPDATE targets SET health = 'Unreachable', health_message = '${message}'`;
    assert.deepEqual(
      [
        await shown(away("unauthorized: who are you")),
        await shown(away("its key is not given")),
        // Its own failure says why its status is what it is; one of an earlier generation does not.
        await shown(
          `UPDATE resource_attempts SET failed_generation = 1, error_class = 'invalid', error_message = 'no'`,
        ),
        await shown(`UPDATE resources SET desired_spec = '{}'`),
        await shown(`UPDATE targets SET health = 'Healthy', health_message = NULL`),
      ],
      [
        ["pending", "Unknown", "unauthorized", "who are you", null],
        ["pending", "Unknown", "unreachable", "its key is not given", null],
        ["error", "Unknown", "invalid", "no", 1],
        ["pending", "Unknown", "unreachable", "its key is not given", null],
        ["pending", "Unknown", "invalid", "no", 1],
      ],
    );
  });

  test("a paused target is told on its resources: as a condition and to whoever asks for a sync", async () => {
    await using it = await fresh();
    const id = await create(it);
    await it.tables.query(
      `INSERT INTO targets (cluster_id, agent, paused) VALUES ('prod', true, true)`,
    );
    const told = async () => {
      const { conditions } = (await it.ask("GET", `/resources/${id}`)).body;
      const { status, reason, message } = conditions.find(
        ({ type }: { type: string }) => type === "Paused",
      );
      const asked = await it.ask("POST", `/resources/${id}/sync`);
      return [status, reason, message, asked.body.message];
    };
    const ofTarget = "nothing is written to prod until that target is resumed";
    const ofResource = "nothing is written to the cluster until it is resumed";
    const isPaused = "Resource is paused, nothing is applied until it is resumed";
    const inTarget = "Resource is in prod, nothing is applied until that target is resumed";
    assert.deepEqual(await told(), ["True", "TargetPaused", ofTarget, inTarget]);
    await it.ask("POST", `/resources/${id}/pause`);
    assert.deepEqual(await told(), ["True", "Paused", ofResource, isPaused]);
    await it.ask("POST", `/resources/${id}/resume`);
    await it.ask("PUT", "/targets/prod", { paused: false });
    assert.deepEqual(await told(), ["False", "Running", "", "Resource will be applied"]);
    // As if a worker had begun it: it is not gone at once.
    await it.tables.query(`UPDATE resource_attempts SET last_attempt_at = now()`);
    await it.ask("DELETE", `/resources/${id}`);
    assert.deepEqual(await told(), ["False", "Running", "", "Resource will be deleted"]);
  });

  test("drifted fields are told as a condition whatever the status is", async () => {
    await using it = await fresh();
    const id = await create(it);
    const shown = async (change: string) => {
      await it.tables.query(change);
      const { status, conditions } = (await it.ask("GET", `/resources/${id}`)).body;
      const drifted = conditions.find(({ type }: { type: string }) => type === "Drifted");
      return [status, drifted.status, drifted.reason];
    };
    await it.tables.query(
      `INSERT INTO resource_applied_states (resource_id, generation, revision, status, uid)
       VALUES (${id}, 1, 1, 'success', 'u')`,
    );
    assert.deepEqual(
      [
        await shown(
          `INSERT INTO resource_current_states (resource_id, generation, revision, uid, observed_at, drifted)
           VALUES (${id}, 1, 1, 'u', now(), true)`,
        ),
        await shown(
          `UPDATE resource_attempts SET failed_generation = 1, error_class = 'conflict', error_message = 'no'`,
        ),
        await shown(`UPDATE resources SET desired_spec = '{}'`),
        await shown(`UPDATE resource_current_states SET drifted = false`),
      ],
      [
        ["drifted", "True", "Changed"],
        ["error", "True", "Changed"],
        ["out-of-sync", "True", "Changed"],
        ["out-of-sync", "False", "AsApplied"],
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
      [{ desired_spec: { data: { a: "\u0000" } } }, "desired_spec.data.a"],
      [{ desired_spec: { data: { list: ["x", "y\u0000"] } } }, "desired_spec.data.list[1]"],
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
    const role = {
      kind: "ClusterRole",
      api_version: "rbac.authorization.k8s.io/v1",
      desired_spec: { rules: [] },
    };
    for (const name of ["a".repeat(254), "a/b", "..", "half \ud800"]) {
      const { code, body } = await it.ask("POST", "/resources", { ...web, ...role, name });
      assert.deepEqual([code, body.details.fields[0].field], [400, "name"], name);
    }
    // Numbers that JSON may hold, and no column.
    for (const vast of ["1e999999", "1e-99999", "-0.1e131073", "1e131072", "0.1e-16383"]) {
      const spec = `"desired_spec":{"data":{"a":${vast}}}`;
      const { desired_spec: _, ...key } = web;
      const made = `${JSON.stringify(key).slice(0, -1)},${spec}}`;
      for (const [method, path, sent] of [
        ["POST", "/resources", made],
        ["PUT", "/resources", made],
        ["PUT", `/resources/${id}`, `{${spec}}`],
        ["PUT", `/resources/${id}?dryRun=true`, `{${spec}}`],
        ["POST", "/batch", `{"changes":[{"op":"update","id":${id},${spec}}]}`],
        [
          "POST",
          "/batch",
          `{"changes":[{"op":"delete","id":${id}},{"op":"create",${made.slice(1)}]}`,
        ],
      ] as const) {
        const { code, body } = await it.ask(method, path, sent);
        const [{ field, index }] = body.details.fields;
        const isBatch = path === "/batch";
        assert.equal(code, 400, `${method} ${path} ${vast}`);
        assert.match(
          field,
          isBatch ? /^changes\[\d\]\.desired_spec\.data\.a$/ : /^desired_spec\.data\.a$/,
        );
        assert.equal(index, isBatch ? Number(/\d/.exec(field)?.[0]) : undefined);
      }
    }
    assert.deepEqual(
      await it.tables.query(
        `SELECT count(*)::integer AS rows, max(generation) AS last FROM resources`,
      ),
      [{ rows: 1, last: 1 }],
    );
  });

  test("numbers are taken as far as the database keeps them", async () => {
    await using it = await fresh();
    const numbers = [
      "1e131071",
      "-0.1e131072",
      "1e-16383",
      "0.5e-16382",
      "0e999999",
      "0.00e+400000",
    ];
    const { desired_spec: _, ...key } = web;
    const sent = `${JSON.stringify(key).slice(0, -1)},"desired_spec":{"data":[${numbers.join()}]}}`;
    assert.equal((await it.ask("POST", "/resources", sent)).code, 201);
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
        ["POST", "/targets", { cluster_id: "prod", agent: true }],
      ] as const) {
        const { code, body: told } = await it.ask(method, `${path}?${query}`, body);
        const field = told.details.fields[0].field;
        assert.deepEqual([code, field], [400, query.split("=")[0]], `${method} ${path}`);
      }
    }
    assert.deepEqual(await it.tables.query(`SELECT generation, paused FROM resources`), [
      { generation: 1, paused: false },
    ]);
    assert.deepEqual((await it.ask("GET", "/targets")).body.targets, []);
    assert.equal((await it.ask("DELETE", `/resources/${id}?dryRun=false`)).code, 202);
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

  test("what a cluster says is shown as deep as it was read", async () => {
    await using it = await fresh();
    const id = await create(it);
    const levels = 1_021;
    const inner = `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    const drift = `[{"path":"/spec/deep","current":${inner},"desired":null,"manager":null}]`;
    await it.tables.query(
      `INSERT INTO resource_applied_states (resource_id, generation, status, uid, owned)
       VALUES ($1, 1, 'success', 'u', $2::text::jsonb)`,
      [id, `[{"path":["spec","deep"],"value":${inner}}]`],
    );
    await it.tables.query(
      `INSERT INTO resource_current_states (resource_id, spec, generation, uid, drifted, drift)
       VALUES ($1, $2::text::jsonb, 1, 'u', true, $3::text::jsonb)`,
      [id, `{"spec":{"deep":${inner}}}`, drift],
    );
    const { code, body } = await it.ask("GET", `/resources/${id}`);
    assert.equal(code, 200);
    assert.equal(JSON.stringify(body.current.spec.spec.deep), inner);
    assert.deepEqual(body.drift, JSON.parse(drift));
    assert.equal((await it.ask("GET", `/resources/${id}/diff`)).code, 200);
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
});
