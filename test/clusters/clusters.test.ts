// Scenarios 1 to 7 and 11 of the contract: clusters over REST.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { RecordingLog } from "@keelson/base/testing";
import {
  alice,
  available,
  bob,
  ctl,
  gcp,
  release,
  startClustersRest,
  unknownId,
} from "./clusters-rest.ts";

suite("clusters over REST", () => {
  test("1: a valid spec makes a pending cluster, one event and one schedule", async () => {
    await using it = await startClustersRest();
    const sent = {
      name: "one",
      target_project_id: "project",
      spec: { platform: { type: "GCP" }, aws: { any: [1, 1.5, null, { deep: true }] } },
      // What we own is ignored.
      id: unknownId,
      generation: 7,
      created_by: bob,
      status: { phase: "Ready" },
    };
    const org = { "x-organization-id": "org-1" };
    const { code, headers, body } = await it.ask(alice, "POST", "/clusters", sent, org);
    assert.equal(code, 201);
    const { id, resource_version, created_at, updated_at, status, ...rest } = body;
    assert.deepEqual(rest, {
      name: "one",
      target_project_id: "project",
      created_by: alice,
      generation: 1,
      spec: sent.spec,
      organization_id: "org-1",
    });
    assert.notEqual(id, unknownId);
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.equal(updated_at, created_at);
    assert.deepEqual(
      [status.phase, status.reason, status.observedGeneration],
      ["Pending", "NoControllers", 1],
    );
    assert.equal(headers["etag"], `"${resource_version}"`);
    assert.equal(headers["cache-control"], "no-store");
    const got = await it.ask(alice, "GET", `/clusters/${id}`);
    assert.deepEqual([got.code, got.body], [200, body]);
    assert.equal(got.headers["etag"], `"${resource_version}"`);

    const events = await it.events();
    assert.deepEqual(
      events.map(({ type, reason, generation, cluster_id, platform, user }) => [
        type,
        reason,
        generation,
        cluster_id,
        platform,
        user,
      ]),
      [
        [
          "cluster.created",
          "cluster_created",
          1,
          id,
          "gcp",
          { email: alice, domain: "example.com", roles: [], organization_id: "org-1" },
        ],
      ],
    );
    assert.ok(!JSON.stringify(events).includes("deep"), "specs are never sent");
    assert.deepEqual(await it.tables.query(`SELECT cluster_id FROM reconciliation_schedule`), [
      { cluster_id: id },
    ]);
    const [row] = await it.tables.query(`SELECT status ->> 'phase' AS phase FROM clusters`);
    assert.deepEqual(row, { phase: "Pending" });
  });

  test("2: a release is filled from what is configured, kept from what is stored, or missed by name", async () => {
    await using bare = await startClustersRest();
    await bare.cluster(alice, "without");
    const lacking = await bare.ask(alice, "POST", "/clusters", {
      name: "lacking",
      spec: release({ channelGroup: "stable" }),
    });
    assert.deepEqual(
      [lacking.code, lacking.body.code, lacking.body.details],
      [
        400,
        "VALIDATION_FAILED",
        { fields: [{ field: "spec.release.version", message: "is required" }] },
      ],
    );
    const full = { version: "4.1", channelGroup: "fast", image: "x" };
    const id = await bare.cluster(alice, "full", release(full));
    // A missing release keeps what is stored, a missing field its own.
    const kept = await bare.ask(alice, "PUT", `/clusters/${id}`, { spec: { ...gcp, more: 1 } });
    assert.deepEqual(kept.body.spec, { ...gcp, more: 1, release: full });
    const newer = { spec: release({ version: "4.2" }) };
    const changed = await bare.ask(alice, "PUT", `/clusters/${id}`, newer);
    assert.deepEqual(changed.body.spec.release, { version: "4.2", channelGroup: "fast" });

    await using it = await startClustersRest({
      defaults: { clusterVersion: "4.9", channelGroup: "stable" },
    });
    const made = await it.ask(alice, "POST", "/clusters", { name: "one", spec: gcp });
    assert.deepEqual(made.body.spec.release, { version: "4.9", channelGroup: "stable" });
    await using half = await startClustersRest({
      defaults: { clusterVersion: "4.9", channelGroup: undefined },
    });
    const refused = await half.ask(alice, "POST", "/clusters", { name: "one", spec: gcp });
    assert.deepEqual(refused.body.details.fields, [
      { field: "spec.release.channelGroup", message: "is required" },
    ]);
  });

  test("3, 4: what is wrong is told by field, and nothing is stored or sent", async () => {
    await using it = await startClustersRest();
    const cases: readonly (readonly [body: unknown, code: number, field: string])[] = [
      [
        { name: "x", spec: release({ version: "1", channelGroup: "nightly" }) },
        400,
        "spec.release.channelGroup",
      ],
      [{ name: "x", spec: { ...gcp, infraID: "My_Infra" } }, 400, "spec.infraID"],
      [
        { name: "x", spec: { platform: { type: "GCP" }, infraID: "a".repeat(16) } },
        400,
        "spec.infraID",
      ],
      [{ name: "x", spec: { ...gcp, infraID: 7 } }, 400, "spec.infraID"],
      [{ name: "x", spec: { ...gcp, release: "4.1" } }, 400, "spec.release"],
      [{ name: "x", spec: {} }, 400, "spec.platform"],
      [{ name: "x", spec: { platform: { type: "" } } }, 400, "spec.platform.type"],
      [{ name: "x", spec: { platform: "gcp" } }, 400, "spec.platform"],
      [{ name: "x" }, 400, "spec"],
      [{ spec: gcp }, 400, "name"],
      [{ name: 7, spec: gcp }, 400, "name"],
      [{ name: "", spec: gcp }, 400, "name"],
      [{ name: "   ", spec: gcp }, 400, "name"],
      [{ name: "a\nb", spec: gcp }, 400, "name"],
      [{ name: "n".repeat(300), spec: gcp }, 400, "name"],
      [{ name: "x", spec: gcp, target_project_id: 7 }, 400, "target_project_id"],
      [`{"name":"x","spec":{"platform":{"type":"gcp"},"half":"\\ud800"}}`, 400, "body"],
      [`{"name":"x","spec":{"platform":{"type":"gcp"},"vast":1e999999}}`, 400, "body"],
      [`{"name":"x","spec":{"platform":{"type":"gcp"},"nul":"a\\u0000b"}}`, 400, "spec.nul"],
      [`{"name":`, 400, "body"],
      [`[]`, 400, "body"],
      [`{"name":"x","spec":${"[".repeat(100_000)}`, 400, "body"],
    ];
    for (const [body, code, field] of cases) {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const answer = await it.ask(alice, "POST", "/clusters", text);
      const fields = (answer.body.details?.fields ?? []) as { field: string }[];
      const found = [answer.code, answer.body.code, fields.map((one) => one.field)];
      assert.deepEqual(found, [code, "VALIDATION_FAILED", [field]], text.slice(0, 100));
    }
    const large = JSON.stringify({ name: "x", spec: { ...gcp, data: "x".repeat(10_000_000) } });
    const refused = await it.ask(alice, "POST", "/clusters", large);
    assert.deepEqual([refused.code, refused.body.code], [413, "PAYLOAD_TOO_LARGE"]);
    const xml = await it.ask(alice, "POST", "/clusters", "<a/>", { "content-type": "text/xml" });
    assert.deepEqual([xml.code, xml.body.code], [415, "UNSUPPORTED_MEDIA_TYPE"]);
    assert.deepEqual(await it.tables.query(`SELECT id FROM clusters`), []);
    assert.deepEqual(await it.events(), []);
    // Another platform's infraID is its own affair.
    await it.cluster(alice, "aws", { platform: { type: "aws" }, infraID: "My_Infra" });
  });

  test("5: a name is taken for its owner alone", async () => {
    await using it = await startClustersRest();
    await it.cluster(alice, "one");
    const again = await it.ask(alice, "POST", "/clusters", { name: "one", spec: gcp });
    assert.deepEqual([again.code, again.body.code], [409, "CLUSTER_NAME_EXISTS"]);
    await it.cluster(bob, "one");
    assert.equal((await it.events()).length, 2);
  });

  test("5: of many that are declared at once each has its own answer and event, and a name is taken once", async () => {
    let inserts = 0;
    await using it = await startClustersRest({
      onStatement: ({ statement, phase }: { statement: string; phase: string }) => {
        if (statement === "insertClusters" && phase === "before") inserts++;
      },
    });
    const good = Array.from({ length: 40 }, (_, n) => ({ name: `c-${n % 30}`, n }));
    const answers = await Promise.all([
      ...good.map(({ name, n }) =>
        it.ask(alice, "POST", "/clusters", { name, spec: { ...gcp, n } }),
      ),
      it.ask(bob, "POST", "/clusters", { name: "c-1", spec: gcp }),
    ]);
    assert.ok(inserts < answers.length, "they went together");
    const bobs = answers.at(-1);
    assert.equal(bobs?.code, 201);
    const made = answers.slice(0, 40).filter(({ code }) => code === 201);
    assert.deepEqual(
      made.map(({ body }) => body.name as string).toSorted(),
      [...new Set(good.map(({ name }) => name))].toSorted(),
    );
    const refused = answers.slice(0, 40).filter(({ code }) => code !== 201);
    assert.deepEqual(
      refused.map(({ code, body }) => `${code} ${body.code as string}`),
      Array.from({ length: 10 }, () => "409 CLUSTER_NAME_EXISTS"),
    );
    for (const { body } of made) {
      const { n } = body.spec as { readonly n: number };
      assert.equal(body.name, `c-${n % 30}`, "it is the answer to what was sent");
      assert.deepEqual((await it.ask(alice, "GET", `/clusters/${body.id as string}`)).body, body);
    }
    const told = await it.events();
    const owned = [...made, bobs].map((answer) => answer?.body as Record<string, unknown>);
    assert.deepEqual(
      told
        .map((event) => [event["type"], event["cluster_id"], event["created_by"]].join(" "))
        .toSorted(),
      owned.map((body) => ["cluster.created", body["id"], body["created_by"]].join(" ")).toSorted(),
    );
    const [rows] = await it.tables.query(
      `SELECT count(*)::integer AS n FROM reconciliation_schedule`,
    );
    assert.deepEqual(rows, { n: 31 });
    // One that cannot be stored fails for itself alone.
    const unstorable = `{"name":"bad","spec":{"platform":{"type":"gcp"},"half":"\\ud800"}}`;
    const mixed = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        it.ask(alice, "POST", "/clusters", n === 7 ? unstorable : { name: `d-${n}`, spec: gcp }),
      ),
    );
    assert.deepEqual(
      mixed.map(({ code }) => code),
      Array.from({ length: 10 }, (_, n) => (n === 7 ? 400 : 201)),
    );
    assert.equal((await it.events()).length, 40);
  });

  test("6: pages are disjoint, complete and stable, also where everything is equally old", async () => {
    await using it = await startClustersRest();
    const none = await it.ask(alice, "GET", "/clusters");
    assert.deepEqual(none.body, { clusters: [], total: 0, limit: 50, offset: 0 });
    await it.tables.query(`
      INSERT INTO clusters (name, created_by, spec, created_at)
      SELECT 'c' || i, '${alice}', '{"platform":{"type":"gcp"}}', '2026-01-01Z' FROM generate_series(1, 120) i`);
    await it.cluster(bob, "not hers");
    const pages = await Promise.all(
      [0, 50, 100, 150].map((offset) =>
        it.ask(alice, "GET", `/clusters?limit=50&offset=${offset}`),
      ),
    );
    assert.deepEqual(
      pages.map(({ body }) => [body.clusters.length, body.total, body.limit, body.offset]),
      [
        [50, 120, 50, 0],
        [50, 120, 50, 50],
        [20, 120, 50, 100],
        [0, 120, 50, 150],
      ],
    );
    const names = pages.flatMap(({ body }) =>
      body.clusters.map(({ name }: { name: string }) => name),
    );
    assert.equal(new Set(names).size, 120);
    for (const query of [
      "limit=0",
      "limit=101",
      "limit=abc",
      "limit=5.0",
      "limit=1e1",
      "limit=%205",
      "limit=5&limit=6",
      "limit=",
      "offset=-1",
      "offset=x",
      "status=Sleeping",
      "include_deleted=1",
    ]) {
      const { code, body } = await it.ask(alice, "GET", `/clusters?${query}`);
      assert.deepEqual([code, body.code], [400, "VALIDATION_FAILED"], query);
    }
  });

  test("7: filters by status, platform and name agree with the total and with what a GET shows", async () => {
    await using it = await startClustersRest();
    const ids = new Map<string, string>();
    for (const [name, type] of [
      ["web-1", "gcp"],
      ["web-2", "GCP"],
      ["db_1", "aws"],
    ] as const) {
      ids.set(name, await it.cluster(alice, name, { platform: { type } }));
    }
    await it.report(`/clusters/${ids.get("web-1")}`, "dns");
    await it.report(`/clusters/${ids.get("db_1")}`, "dns", { conditions: [available("False")] });
    const list = async (query: string) => {
      const { body } = await it.ask(alice, "GET", `/clusters?${query}`);
      const found = body.clusters.map(
        ({ name, status }: { name: string; status: { phase: string } }) => [name, status.phase],
      );
      assert.equal(body.total, found.length, query);
      return found.sort();
    };
    // Nobody has cached anything yet: what is dirty is calculated.
    assert.deepEqual(await list("status=Ready"), [["web-1", "Ready"]]);
    assert.deepEqual(await list("status=Pending"), [["web-2", "Pending"]]);
    assert.deepEqual(await list("status=Progressing"), [["db_1", "Progressing"]]);
    assert.deepEqual(await list("status=Error"), []);
    assert.deepEqual(await list("platform=Gcp"), [
      ["web-1", "Ready"],
      ["web-2", "Pending"],
    ]);
    assert.deepEqual(await list("name=web-1"), [["web-1", "Ready"]]);
    assert.deepEqual((await list("name=web*")).length, 2);
    assert.deepEqual(await list("name=db%25*"), []);
    assert.deepEqual((await list("name=db_*")).length, 1);
    assert.deepEqual(await list("name=web*&platform=gcp&status=Ready"), [["web-1", "Ready"]]);
    // From that commit on it is not Ready, also for the filter.
    await it.ask(alice, "PUT", `/clusters/${ids.get("web-1")}`, { spec: { ...gcp, x: 1 } });
    assert.deepEqual(await list("status=Ready"), []);
    const [first] = (await it.ask(alice, "GET", "/clusters?limit=1")).body.clusters;
    assert.deepEqual(first, (await it.ask(alice, "GET", `/clusters/${first.id}`)).body);
  });

  test("11: what is no address is told so, in the one shape", async () => {
    await using it = await startClustersRest();
    for (const [method, path, code, word] of [
      ["GET", "/clusters/not-a-uuid", 400, "VALIDATION_FAILED"],
      ["GET", `/clusters/${unknownId}`, 404, "RESOURCE_NOT_FOUND"],
      ["GET", "/nothing", 404, "RESOURCE_NOT_FOUND"],
      ["PATCH", `/clusters/${unknownId}`, 405, "METHOD_NOT_ALLOWED"],
      ["DELETE", "/clusters", 405, "METHOD_NOT_ALLOWED"],
    ] as const) {
      const { code: found, body, headers } = await it.ask(alice, method, path);
      assert.deepEqual([found, body.code], [code, word], path);
      assert.equal(typeof headers["x-request-id"], "string");
      assert.deepEqual(Object.keys(body).sort(), ["code", "details", "error"]);
    }
  });

  test("what was done is in the log, with who and which request", async () => {
    const log = new RecordingLog();
    await using it = await startClustersRest({ log });
    const id = await it.cluster(alice);
    const request = { "x-request-id": "request-7" };
    await it.ask(alice, "PUT", `/clusters/${id}`, { spec: { ...gcp, n: 1 } }, request);
    await it.ask(alice, "PUT", `/clusters/${id}`, { spec: { ...gcp, n: 1 } }); // Nothing was done.
    await it.ask(alice, "DELETE", `/clusters/${id}`);
    const lines = log.entries.filter(({ level }) => level === "info");
    assert.deepEqual(
      lines.map(({ message }) => message),
      ["created", "updated", "deletion requested"],
    );
    const told = (await it.events()).filter(({ reason }) => reason !== "finalized");
    assert.deepEqual(
      lines.map(({ fields }) => fields["event_id"]),
      told.map((event) => event["id"]),
    );
    assert.deepEqual(lines[1]?.fields, {
      request_id: "request-7",
      user: alice,
      kind: "cluster",
      resource: id,
      generation: 2,
      event_id: told[1]?.["id"],
    });
  });

  test("12 of secrets: they are hidden from all but a controller that asks, and kept by their marker", async () => {
    const log = new RecordingLog();
    await using it = await startClustersRest({ log });
    const secret = "s3cret-value";
    const spec = { ...gcp, auth: { Password: secret, user: "u" }, keys: [{ token: secret }] };
    const made = await it.ask(alice, "POST", "/clusters", { name: "one", spec });
    const hidden = {
      ...gcp,
      auth: { Password: "[REDACTED]", user: "u" },
      keys: [{ token: "[REDACTED]" }],
    };
    assert.deepEqual(made.body.spec, hidden);
    const path = `/clusters/${made.body.id}`;
    const specOf = async (who: string, query = "") =>
      (await it.ask(who, "GET", `${path}${query}`)).body.spec;
    assert.deepEqual(await specOf(alice), hidden);
    assert.deepEqual(await specOf(ctl), hidden);
    assert.deepEqual(await specOf(ctl, "?include_secrets=true"), spec);
    assert.equal((await it.ask(alice, "GET", `${path}?include_secrets=true`)).code, 403);
    assert.equal((await it.ask(bob, "GET", `${path}?include_secrets=true`)).code, 404);
    assert.equal((await it.ask(alice, "GET", `/clusters?include_secrets=true`)).code, 403);
    assert.ok(!JSON.stringify((await it.ask(alice, "GET", "/clusters")).body).includes(secret));

    const same = await it.ask(alice, "PUT", path, { spec: hidden });
    assert.deepEqual([same.code, same.body.generation], [200, 1]);
    await it.ask(alice, "PUT", path, { spec: { ...hidden, more: 1 } });
    assert.deepEqual(await specOf(ctl, "?include_secrets=true"), { ...spec, more: 1 });
    const stray = await it.ask(alice, "PUT", path, { spec: { ...gcp, token: "[REDACTED]" } });
    assert.deepEqual([stray.code, stray.body.details.fields[0].field], [400, "spec.token"]);
    const fresh = { name: "two", spec: { ...gcp, token: "[REDACTED]" } };
    assert.equal((await it.ask(alice, "POST", "/clusters", fresh)).code, 400);
    const bad = { spec: { ...spec, infraID: "BAD!" } };
    assert.ok(!JSON.stringify((await it.ask(alice, "PUT", path, bad)).body).includes(secret));
    await it.settle();
    const [leaks] = await it.tables.query(
      `SELECT (SELECT count(*) FROM outbox WHERE outbox::text LIKE '%${secret}%')
            + (SELECT count(*) FROM audit WHERE audit::text LIKE '%${secret}%') AS rows`,
    );
    assert.deepEqual(leaks, { rows: "0" });
    assert.ok(!JSON.stringify(log.entries).includes(secret));
  });
});
