// The API of targets (3.3, 8, F24, F49, F53): who may, what is taken, and what never comes back.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { JsonObject } from "@keelson/base";
import { openAccess } from "@keelson/fleet";
import { testCipher } from "./assembled-worker.ts";
import { as, startFleetRest, type FleetRest } from "./fleet-rest.ts";

const kubeconfig = (user: JsonObject, server = "https://10.1.2.3:6443") => ({
  apiVersion: "v1",
  kind: "Config",
  clusters: [
    { name: "first", cluster: { server } },
    { name: "second", cluster: { server: "https://admin:hunter2@second.example.com/path" } },
  ],
  users: [{ name: "me", user }],
  contexts: [
    { name: "first", context: { cluster: "first", user: "me" } },
    { name: "second", context: { cluster: "second", user: "me" } },
  ],
  "current-context": "first",
});
const secret = "a-very-secret-token";
const good = kubeconfig({ token: secret });
const shown = {
  cluster_id: "prod",
  server: "https://10.1.2.3:6443",
  labels: {},
  paused: false,
  health: "Unknown",
  health_message: null,
  last_contact_at: null,
  agent: false,
  deleting: false,
};

async function eventsOf(it: FleetRest, clusterId: string): Promise<readonly string[]> {
  const rows = await it.tables.query<{ type: string; data: string }>(
    `SELECT type, data::text AS data FROM events_unnumbered WHERE cluster_id = $1 AND type LIKE 'target.%' ORDER BY id`,
    [clusterId],
  );
  for (const { data } of rows) assert.ok(!data.includes(secret));
  return rows.map(({ type }) => type);
}

suite("the API of targets", () => {
  test("F53: a target is registered, shown, changed and removed; its credential is encrypted and never shown", async () => {
    await using it = await startFleetRest();
    const created = await it.ask("POST", "/targets", {
      cluster_id: "prod",
      kubeconfig: good,
    });
    assert.deepEqual([created.code, created.body], [201, shown]);
    const twice = await it.ask("POST", "/targets", { cluster_id: "prod", agent: true });
    assert.deepEqual([twice.code, twice.body.code], [409, "TARGET_EXISTS"]);
    assert.deepEqual((await it.ask("GET", "/targets/prod")).body, shown);
    assert.deepEqual((await it.ask("GET", "/targets")).body, { targets: [shown], next: null });

    const credential = async (): Promise<Uint8Array> => {
      const [row] = await it.tables.query<{ credential: Uint8Array }>(
        `SELECT credential FROM targets`,
      );
      assert.ok(row !== undefined);
      return row.credential;
    };
    const stored = await credential();
    assert.ok(!Buffer.from(stored).includes(secret));
    assert.match(
      JSON.stringify(openAccess(testCipher, "prod", stored)),
      new RegExp(`${secret}.*"trust":"data"`),
    );

    // The same again writes nothing, and neither does what is carried and equal.
    const same = { kubeconfig: good, labels: {}, paused: false };
    assert.deepEqual((await it.ask("PUT", "/targets/prod", same)).body, shown);
    assert.deepEqual(await credential(), stored);
    // What it does not carry stays.
    const labelled = await it.ask("PUT", "/targets/prod", { labels: { env: "prod", tier: "1" } });
    const withLabels = { ...shown, labels: { env: "prod", tier: "1" } };
    assert.deepEqual([labelled.code, labelled.body], [200, withLabels]);
    const paused = await it.ask("PUT", "/targets/prod", { cluster_id: "prod", paused: true });
    assert.deepEqual(paused.body, { ...withLabels, paused: true });
    // A password in an address is not shown.
    const second = await it.ask("PUT", "/targets/prod", { context: "second" });
    assert.equal(second.body.server, "https://second.example.com/path");
    assert.equal(openAccess(testCipher, "prod", await credential()).context, "second");
    const byText = await it.ask("PUT", "/targets/prod", {
      kubeconfig: `# as YAML\n${JSON.stringify(good)}`,
      context: "first",
    });
    assert.equal(byText.body.server, shown.server);
    const inside = await it.ask("PUT", "/targets/prod", { agent: true });
    assert.deepEqual([inside.body.agent, inside.body.server], [true, null]);
    assert.equal((await it.ask("PUT", "/targets/prod", { agent: false })).code, 400);
    const outside = await it.ask("PUT", "/targets/prod", { kubeconfig: good });
    assert.deepEqual([outside.body.agent, outside.body.server], [false, shown.server]);

    assert.deepEqual((await it.ask("DELETE", "/targets/prod")).code, 204);
    assert.deepEqual((await it.ask("GET", "/targets/prod")).code, 404);
    assert.deepEqual((await it.ask("PUT", "/targets/prod", { paused: true })).code, 404);
    assert.deepEqual((await it.ask("DELETE", "/targets/prod")).code, 404);
    assert.deepEqual(await eventsOf(it, "prod"), [
      "target.created",
      ...Array.from({ length: 6 }, () => "target.updated"),
      "target.deleted",
    ]);
  });

  test("F53: what would run programs or read files of the server is refused by its field", async () => {
    await using it = await startFleetRest();
    const refusals: readonly (readonly [JsonObject, string])[] = [
      [{ exec: { command: "sh" } }, "kubeconfig.users[0].user.exec"],
      [{ "auth-provider": { name: "oidc" } }, "kubeconfig.users[0].user.auth-provider"],
      [{ tokenFile: "/etc/passwd" }, "kubeconfig.users[0].user.tokenFile"],
      [{ "client-key": "/etc/shadow" }, "kubeconfig.users[0].user.client-key"],
      [{ "client-certificate": "x" }, "kubeconfig.users[0].user.client-certificate"],
    ];
    for (const [user, field] of refusals) {
      for (const sent of [kubeconfig(user), JSON.stringify(kubeconfig(user))]) {
        const answer = await it.ask("POST", "/targets", { cluster_id: "prod", kubeconfig: sent });
        assert.equal(answer.code, 400, field);
        assert.deepEqual(
          answer.body.details.fields.map((problem: { field: string }) => problem.field),
          [field],
        );
      }
    }
    const authority = kubeconfig({ token: secret });
    Object.assign(authority.clusters[0]?.cluster ?? {}, { "certificate-authority": "/etc/x" });
    const answer = await it.ask("POST", "/targets", { cluster_id: "prod", kubeconfig: authority });
    assert.equal(
      answer.body.details.fields[0].field,
      "kubeconfig.clusters[0].cluster.certificate-authority",
    );
    assert.deepEqual((await it.ask("GET", "/targets")).body.targets, []);
  });

  test("a bad body is told by field, and nothing is written", async () => {
    await using it = await startFleetRest();
    const named = { cluster_id: "prod" };
    const bad: readonly (readonly [object, readonly string[]])[] = [
      [{ kubeconfig: good }, ["cluster_id"]],
      [{ ...named }, ["kubeconfig"]],
      [{ ...named, kubeconfig: 5 }, ["kubeconfig"]],
      [{ ...named, kubeconfig: "no: [yaml" }, ["kubeconfig"]],
      [{ ...named, kubeconfig: {} }, ["kubeconfig"]],
      [{ ...named, kubeconfig: good, context: "third" }, ["kubeconfig"]],
      [{ ...named, kubeconfig: good, agent: true }, ["agent"]],
      [{ ...named, agent: true, context: "first" }, ["context"]],
      [{ ...named, agent: true, labels: ["a"] }, ["labels"]],
      [
        { ...named, agent: true, labels: { "not a key": "x", ok: "not a value", n: 1 } },
        ["labels.not a key", "labels.ok", "labels.n"],
      ],
      [{ ...named, agent: true, paused: "yes", color: "red" }, ["paused", "color"]],
      [{ cluster_id: "-x", agent: true }, ["cluster_id"]],
    ];
    for (const [body, fields] of bad) {
      const answer = await it.ask("POST", "/targets", body as never);
      assert.equal(answer.code, 400, JSON.stringify(body));
      assert.deepEqual(
        answer.body.details.fields.map(({ field }: { field: string }) => field),
        fields,
      );
      assert.ok(!JSON.stringify(answer.body).includes(secret));
    }
    await it.ask("POST", "/targets", { cluster_id: "prod", agent: true });
    for (const body of [{}, { cluster_id: "other" }, { context: "first" }, { kubeconfig: null }]) {
      assert.equal((await it.ask("PUT", "/targets/prod", body)).code, 400, JSON.stringify(body));
    }
    for (const query of ["limit=0", "cursor=x", "color=red"]) {
      assert.equal((await it.ask("GET", `/targets?${query}`)).code, 400, query);
    }
    assert.equal((await it.ask("DELETE", "/targets/prod?orphan=perhaps")).code, 400);
    assert.deepEqual(await eventsOf(it, "prod"), ["target.created"]);
  });

  test("the process's own server keeps its way, and is labelled and paused like any other", async () => {
    await using it = await startFleetRest();
    await it.tables.query(
      `INSERT INTO targets (cluster_id, in_process, server) VALUES ('local', true, 'https://127.0.0.1:6443')`,
    );
    assert.equal((await it.ask("PUT", "/targets/local", { kubeconfig: good })).code, 400);
    assert.equal((await it.ask("PUT", "/targets/local", { agent: true })).code, 400);
    const changed = await it.ask("PUT", "/targets/local", { labels: { a: "b" }, paused: true });
    assert.deepEqual([changed.body.labels, changed.body.paused], [{ a: "b" }, true]);
  });

  test("a target with resources stays unless they are forgotten; copies are deleted first", async () => {
    await using it = await startFleetRest();
    await it.ask("POST", "/targets", { cluster_id: "prod", agent: true });
    const web = { cluster_id: "prod", namespace: "default", kind: "ConfigMap", name: "web" };
    await it.ask("POST", "/resources", { ...web, desired_spec: {} });
    const held = await it.ask("DELETE", "/targets/prod");
    assert.deepEqual([held.code, held.body.code], [409, "TARGET_IN_USE"]);
    assert.deepEqual(held.body.details, { resources: 1 });
    assert.equal((await it.ask("DELETE", "/targets/prod?orphan=true")).code, 204);
    assert.deepEqual(await it.tables.query(`SELECT id FROM resources`), []);

    await it.ask("POST", "/targets", { cluster_id: "prod", agent: true });
    await it.tables.query(
      `INSERT INTO global_resources (namespace, kind, name, api_version, desired_spec)
       VALUES ('default', 'ConfigMap', 'web', 'v1', '{}')`,
    );
    await it.tables.query(`UPDATE resource_attempts SET last_attempt_at = now()`);
    const leaving = await it.ask("DELETE", "/targets/prod");
    assert.deepEqual([leaving.code, leaving.body.status], [202, "deleting"]);
    assert.equal((await it.ask("DELETE", "/targets/prod")).code, 202);
    assert.equal((await it.ask("GET", "/targets/prod")).body.deleting, true);
    const relabelled = await it.ask("PUT", "/targets/prod", { labels: { a: "b" } });
    assert.deepEqual([relabelled.code, relabelled.body.code], [409, "RESOURCE_DELETING"]);
    // What keeps its copies in it can be changed: whether it is paused, and how it is reached.
    for (const paused of [true, false]) {
      const changed = await it.ask("PUT", "/targets/prod", { paused, labels: {} });
      assert.deepEqual(
        [changed.code, changed.body.paused, changed.body.deleting],
        [200, paused, true],
      );
    }
    const moved = await it.ask("PUT", "/targets/prod", { kubeconfig: good });
    assert.deepEqual([moved.code, moved.body.server], [200, shown.server]);
    const [copy] = (await it.ask("GET", "/resources")).body.resources;
    assert.equal(copy.status, "deleting");
    assert.equal((await it.ask("DELETE", "/targets/prod?orphan=true")).code, 204);
    assert.deepEqual((await it.ask("GET", "/resources")).body.resources, []);
  });

  test("F49, F50: only admins, and each only of its clusters; pages follow the ids", async () => {
    await using it = await startFleetRest({
      tokens: {
        admin: { role: "admin" },
        a: { role: "admin", clusters: ["a"] },
        editor: { role: "editor" },
      },
    });
    const agent = (clusterId: string) => ({ cluster_id: clusterId, agent: true });
    assert.equal((await it.ask("POST", "/targets", agent("a"))).code, 401);
    assert.equal((await it.ask("POST", "/targets", agent("a"), as("nobody"))).code, 401);
    assert.equal((await it.ask("POST", "/targets", agent("a"), as("editor"))).code, 403);
    assert.equal((await it.ask("GET", "/targets", undefined, as("editor"))).code, 403);
    for (const clusterId of ["b", "a", "C"]) {
      assert.equal((await it.ask("POST", "/targets", agent(clusterId), as("admin"))).code, 201);
    }
    assert.equal((await it.ask("POST", "/targets", agent("d"), as("a"))).code, 403);
    assert.equal((await it.ask("GET", "/targets/a", undefined, as("a"))).code, 200);
    for (const method of ["GET", "DELETE"] as const) {
      assert.equal((await it.ask(method, "/targets/b", undefined, as("a"))).code, 404);
    }
    assert.equal((await it.ask("PUT", "/targets/b", { paused: true }, as("a"))).code, 404);
    const seen = await it.ask("GET", "/targets", undefined, as("a"));
    assert.deepEqual(
      seen.body.targets.map((one: { cluster_id: string }) => one.cluster_id),
      ["a"],
    );
    const pages: string[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const query: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const { body } = await it.ask("GET", `/targets?limit=1${query}`, undefined, as("admin"));
      pages.push(...body.targets.map((one: { cluster_id: string }) => one.cluster_id));
      cursor = body.next;
    }
    assert.deepEqual(pages, ["C", "a", "b"]);
  });
});
