// Writes that are only tried (F10).

import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../tools/until.ts";
import { startBed, synced, web, type Bed, type Details } from "./bed.ts";
import { clusterSuite } from "../tools/test-cluster.ts";
import { data, settings } from "./resource-fixture.ts";

const codeOf = ({ code }: { code: string }) => code;

/** Everything that a write would leave behind. */
const everything = (it: Bed) =>
  it.rest.tables.query(`
    SELECT (SELECT jsonb_agg(to_jsonb(r) ORDER BY id) FROM resources r) AS rows,
           (SELECT count(*)::integer FROM resource_revisions) AS history,
           (SELECT count(*)::integer FROM events_unnumbered) AS events,
           (SELECT sum(requests)::integer FROM resource_attempts) AS asked`);

clusterSuite("a write that is only tried", () => {
  test("F10: a PUT tells what would change, and changes nothing", async (t) => {
    await using it = await startBed(t.signal);
    const worker = it.startWorker();
    const id = await it.create(web);
    await it.becomes(id, synced);
    await worker.stop();
    const before = [await everything(it), await it.find("ConfigMap", "web")];
    const { code, body } = await it.rest.ask("PUT", `/resources/${id}?dryRun=true`, data("2"));
    assert.equal(code, 200, JSON.stringify(body));
    const { result, ...rest } = body;
    assert.deepEqual(result.data, { a: "2" });
    assert.equal(result.metadata.annotations["kontrol/generation"], "2");
    assert.deepEqual(rest, {
      dry_run: true,
      diff: [
        {
          path: "/data/a",
          desired: "2",
          applied: "1",
          current: "1",
          owner: "kontrol",
          cause: "pending",
        },
      ],
      conflicts: [],
      warnings: [],
    });
    for (const [method, path, sent, data_] of [
      ["POST", "/resources", { ...web, name: "new" }, { a: "1" }],
      ["PUT", "/resources", { ...web, ...data("3") }, { a: "3" }],
      ["DELETE", `/resources/${id}`, undefined, undefined],
    ] as const) {
      const answer = await it.rest.ask(method, `${path}?dryRun=true`, sent);
      assert.deepEqual(
        [answer.code, answer.body.dry_run],
        [200, true],
        JSON.stringify(answer.body),
      );
      assert.deepEqual(answer.body.result?.data, data_);
    }
    const orphan = await it.rest.ask("DELETE", `/resources/${id}?orphan=true&dryRun=true`);
    assert.deepEqual([orphan.body.result.data, orphan.body.diff], [{ a: "1" }, []]);
    const batch = await it.rest.ask("POST", "/batch?dryRun=true", {
      changes: [
        { op: "update", id, ...data("4") },
        { op: "create", ...web, name: "bad", desired_spec: { data: { a: 7 } } },
        { op: "create", ...web, name: "new" },
        { op: "upsert", ...web, ...data("4") },
        { op: "delete", ...web, desired_spec: undefined } as never,
      ],
    });
    assert.equal(batch.code, 200, JSON.stringify(batch.body));
    assert.deepEqual(
      batch.body.results.map(({ result: made, code: why }: Details) => made?.data ?? why ?? null),
      [{ a: "4" }, "TARGET_REFUSED", { a: "1" }, { a: "4" }, null],
    );
    assert.deepEqual(
      batch.body.results.map(({ outcome }: Details) => outcome),
      ["updated", undefined, "created", "unchanged", "deleted"],
    );
    for (const [verb, warnings] of [
      ["sync", []],
      ["pause", ["paused"]],
      ["resume", []],
    ] as const) {
      const { code: tried, body: told } = await it.rest.ask(
        "POST",
        `/resources/${id}/${verb}?dryRun=true`,
      );
      assert.deepEqual(
        [tried, told.dry_run, told.result.data, told.diff, told.warnings.map(codeOf)],
        [200, true, { a: "1" }, [], warnings],
        verb,
      );
      const nowhere = await it.rest.ask("POST", `/resources/999/${verb}?dryRun=true`);
      assert.equal(nowhere.code, 404);
    }
    // By the rules of a write, with nothing asked of the cluster.
    for (const [path, sent, expected] of [
      ["/resources", web, [409, "RESOURCE_EXISTS"]],
      ["/resources", { ...web, name: "Bad" }, [400, "VALIDATION_FAILED"]],
    ] as const) {
      const refused = await it.rest.ask("POST", `${path}?dryRun=true`, sent);
      assert.deepEqual([refused.code, refused.body.code], expected);
    }
    const stale = await it.rest.ask("PUT", `/resources/${id}?dryRun=true`, data("2"), {
      "if-match": '"9"',
    });
    assert.equal(stale.code, 412);
    assert.deepEqual([await everything(it), await it.find("ConfigMap", "web")], before);

    // Whatever it says of the resource, to a target that is paused nothing is written.
    await it.rest.tables.query(`UPDATE targets SET paused = true`);
    const inPaused = [
      await it.rest.ask("PUT", `/resources/${id}?dryRun=true`, data("2")),
      await it.rest.ask("POST", "/resources?dryRun=true", { ...web, name: "new" }),
      await it.rest.ask("POST", `/resources/${id}/sync?dryRun=true`),
    ].map(({ body: told }) => told);
    const both = await it.rest.ask("POST", "/batch?dryRun=true", {
      changes: [{ op: "update", id, paused: true, ...data("2") }],
    });
    const targetPaused = "target_paused";
    const message = "nothing is written to prod until that target is resumed";
    assert.deepEqual(
      [...inPaused, ...both.body.results].map((told: Details) => told.warnings),
      [
        [{ code: targetPaused, message }],
        [{ code: targetPaused, message }],
        [{ code: targetPaused, message }],
        [
          { code: "paused", message: "it is paused: nothing is applied until it is resumed" },
          { code: targetPaused, message },
        ],
      ],
    );
  });

  test("F10: what the cluster refuses is 422, no target 409, out of reach 502", async (t) => {
    await using it = await startBed(t.signal, { viaProxy: true });
    const tried = async (body: object) =>
      it.rest.ask("POST", "/resources?dryRun=true", { ...web, ...body });
    const invalid = await tried({
      kind: "Service",
      desired_spec: { spec: { ports: [{ port: 99_999 }] } },
    });
    assert.deepEqual([invalid.code, invalid.body.code], [422, "TARGET_REFUSED"]);
    assert.match(invalid.body.error, /99999/);
    assert.equal(invalid.body.details.fields[0].field, "spec.ports[0].port");
    for (const [change, words] of [
      [{ kind: "Widget", api_version: "example.com/v1" }, /Widget/],
      [{ namespace: "nowhere" }, /nowhere/],
    ] as const) {
      const refused = await tried(change);
      assert.deepEqual([refused.code, refused.body.code], [422, "TARGET_REFUSED"]);
      assert.match(refused.body.error, words);
    }
    // A kind of the cluster's own lives where the cluster says.
    await serveWidgets(it, t.signal);
    const widget = { kind: "Widget", api_version: "example.com/v1", desired_spec: { spec: {} } };
    const scoped = await tried(widget);
    assert.deepEqual([scoped.code, scoped.body.details.class], [422, "invalid"]);
    assert.match(scoped.body.error, /lives in no namespace/);
    const fits = await tried({ ...widget, namespace: "" });
    assert.equal(fits.code, 200, JSON.stringify(fits.body));
    const secret = await tried({ kind: "Secret", desired_spec: { data: { p: "not base64!" } } });
    assert.equal(secret.code, 422);
    assert.ok(!JSON.stringify(secret.body).includes("not base64!"));
    const annotations = {
      "kubectl.kubernetes.io/last-applied-configuration": `{"data":{"p":"c2VjcmV0"}}`,
    };
    const hidden = await tried({
      kind: "Secret",
      desired_spec: { metadata: { annotations }, data: { p: "c2VjcmV0" } },
    });
    assert.match(hidden.body.result.data.p, /^keelson:secret:/);
    assert.ok(!JSON.stringify(hidden.body).includes("c2VjcmV0"));
    const unknown = await tried({ cluster_id: "nowhere" });
    assert.deepEqual([unknown.code, unknown.body.code], [409, "TARGET_UNKNOWN"]);
    await it.rest.tables.query(`INSERT INTO targets (cluster_id, agent) VALUES ('inside', true)`);
    const inside = await tried({ cluster_id: "inside" });
    assert.deepEqual([inside.code, inside.body.code], [502, "TARGET_UNREACHABLE"]);
    assert.ok(it.proxy !== undefined);
    it.proxy.isRefusing = true;
    it.proxy.cut();
    const away = await tried({});
    assert.deepEqual([away.code, away.body.code], [502, "TARGET_UNREACHABLE"]);
    assert.equal((await it.rest.ask("GET", "/resources")).body.total, 0);
  });

  test("3.3: a write of a global resource is tried in each of its clusters, and changes nothing", async (t) => {
    await using it = await startBed(t.signal);
    const worker = it.startWorker();
    const made = await it.rest.ask("POST", "/global-resources", settings);
    const path = `/global-resources/${made.body.id}`;
    await until(async () => (await it.rest.ask("GET", path)).body.status === "synced", t.signal);
    await worker.stop();
    // One that cannot be reached, one whose key is taken, and one that joins by its label.
    await it.rest.tables.query(
      `INSERT INTO targets (cluster_id, agent, labels)
       VALUES ('inside', true, '{}'), ('taken', true, '{}'), ('later', true, '{"tier":"one"}')`,
    );
    await it.create({ ...settings, cluster_id: "taken", name: "new" });
    const all = async () => [
      await everything(it),
      await it.rest.tables.query(`SELECT * FROM global_resources`),
      await it.rest.tables.query(`SELECT * FROM global_placements ORDER BY cluster_id`),
      await it.find("ConfigMap", "settings"),
    ];
    const before = await all();
    const results = ({ body }: { body: Details }) =>
      body.results.map(({ cluster_id, outcome, code, result }: Details) => [
        cluster_id,
        outcome,
        code ?? result?.data ?? null,
      ]);
    const created = await it.rest.ask("POST", "/global-resources?dryRun=true", {
      ...settings,
      name: "new",
    });
    assert.equal(created.code, 200, JSON.stringify(created.body));
    assert.equal(created.body.dry_run, true);
    assert.deepEqual(results(created), [
      ["inside", "created", "TARGET_UNREACHABLE"],
      ["later", "created", "TARGET_UNREACHABLE"],
      ["prod", "created", { a: "1" }],
    ]);
    assert.deepEqual(
      created.body.warnings.map(({ code, message }: Details) => [code, /\btaken\b/.test(message)]),
      [["conflict", true]],
    );
    const changed = await it.rest.ask("PUT", `${path}?dryRun=true`, data("2"));
    const [, , prod] = changed.body.results;
    assert.deepEqual(
      [prod.cluster_id, prod.outcome, prod.result.data, prod.conflicts, prod.warnings],
      ["prod", "updated", { a: "2" }, [], []],
    );
    assert.deepEqual(prod.diff, [
      {
        path: "/data/a",
        desired: "2",
        applied: "1",
        current: "1",
        owner: "kontrol",
        cause: "pending",
      },
    ]);
    const same = await it.rest.ask("PUT", `${path}?dryRun=true`, data("1"));
    assert.deepEqual(
      results(same).map(([, outcome]: string[]) => outcome),
      ["unchanged", "unchanged", "unchanged", "unchanged"],
    );
    const narrowed = await it.rest.ask("PUT", `${path}?dryRun=true`, {
      selector: { matchLabels: { tier: "one" } },
    });
    assert.deepEqual(results(narrowed), [
      ["inside", "deleted", "TARGET_UNREACHABLE"],
      ["later", "unchanged", "TARGET_UNREACHABLE"],
      ["prod", "deleted", null],
      ["taken", "deleted", "TARGET_UNREACHABLE"],
    ]);
    const deleted = await it.rest.ask("DELETE", `${path}?dryRun=true`);
    assert.deepEqual([results(deleted)[2], deleted.body.warnings], [["prod", "deleted", null], []]);
    const forgotten = await it.rest.ask("DELETE", `${path}?dryRun=true&orphan=true`);
    assert.deepEqual(results(forgotten)[2], ["prod", "forgotten", { a: "1" }]);
    // By the rules of a write.
    const refused = await it.rest.ask("POST", "/global-resources?dryRun=true", settings);
    assert.deepEqual([refused.code, refused.body.code], [409, "RESOURCE_EXISTS"]);
    const stale = await it.rest.ask("PUT", `${path}?dryRun=true`, data("2"), { "if-match": '"9"' });
    assert.equal(stale.code, 412);
    assert.deepEqual(await all(), before);
  });

  test("from whom a field would be taken is told, and who would refuse it", async (t) => {
    await using it = await startBed(t.signal);
    const maps = await it.configMaps();
    const metadata = { namespace: "default", name: "web", finalizers: ["example.com/hold"] };
    const held = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { a: "theirs" } };
    await maps.apply(held, { fieldManager: "somebody" }, t.signal);
    const conflicts = [{ field: ".data.a", manager: "somebody" }];
    const forced = await it.rest.ask("POST", "/resources?dryRun=true", web);
    assert.deepEqual(
      [forced.body.result.data, forced.body.conflicts, forced.body.diff],
      [
        { a: "1" },
        conflicts,
        [
          {
            path: "/data/a",
            desired: "1",
            applied: null,
            current: "theirs",
            owner: "somebody",
            cause: "pending",
          },
        ],
      ],
    );
    const reported = await it.rest.ask("POST", "/resources?dryRun=true", {
      ...web,
      conflict_policy: "report",
    });
    assert.deepEqual(
      [reported.body.result, reported.body.conflicts, reported.body.warnings[0].code],
      [null, conflicts, "conflict"],
    );
    assert.equal(reported.body.diff[0].cause, "foreign");
  });
});

/** A kind without namespaces that only this cluster knows. */
async function serveWidgets(it: Bed, signal: AbortSignal): Promise<void> {
  const definitions = await it.client.resource(
    { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" },
    signal,
  );
  const schema = {
    openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  };
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      names: { kind: "Widget", plural: "widgets" },
      scope: "Cluster",
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
  await definitions.apply(definition, { fieldManager: "somebody" }, signal);
  await until(async () => {
    const widgets = await it.client
      .resource({ apiVersion: "example.com/v1", kind: "Widget" }, signal)
      .catch(() => undefined);
    return widgets !== undefined;
  }, signal);
}
