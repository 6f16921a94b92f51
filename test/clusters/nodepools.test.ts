// Scenarios 46 and 47 of the contract: nodepools, what they inherit and what is reported of them.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { alice, bob, code, ctl, gcp, startClustersRest, unknownId } from "./clusters-rest.ts";

suite("nodepools", () => {
  test("46: a nodepool inherits its release, belongs to its cluster's owner, and ignores what we own", async () => {
    await using it = await startClustersRest();
    const release = { version: "4.1", channelGroup: "stable" };
    const id = await it.cluster(alice, "one", { ...gcp, release });
    const create = (who: string, body: object) => it.ask(who, "POST", "/nodepools", body as never);
    const made = await create(alice, {
      name: "p",
      cluster_id: id,
      spec: { replicas: 3, release: { version: "", channelGroup: "fast" }, machine: { any: [1] } },
      status: { phase: "Ready" },
      id: unknownId,
      created_by: bob,
    });
    assert.equal(made.code, 201);
    const {
      id: poolId,
      created_at: _c,
      updated_at: _u,
      resource_version: _r,
      status,
      ...rest
    } = made.body;
    assert.deepEqual(rest, {
      cluster_id: id,
      name: "p",
      target_project_id: null,
      created_by: alice,
      generation: 1,
      spec: {
        replicas: 3,
        release: { version: "4.1", channelGroup: "fast" },
        machine: { any: [1] },
      },
    });
    assert.notEqual(poolId, unknownId);
    assert.equal(status.phase, "Pending");
    const bare = await create(ctl, { name: "q", cluster_id: id });
    assert.deepEqual(
      [bare.code, bare.body.spec, bare.body.created_by],
      [201, { release: { version: "4.1" } }, alice],
    );
    const again = await create(alice, { name: "p", cluster_id: id });
    assert.deepEqual([again.code, again.body.code], [409, "NODEPOOL_NAME_EXISTS"]);
    for (const [who, body] of [
      [bob, { name: "x", cluster_id: id }],
      [alice, { name: "x", cluster_id: unknownId }],
      [alice, { name: "x", cluster_id: "no" }],
      [alice, { name: "x" }],
      [alice, { name: "x", cluster_id: id, spec: { replicas: -1 } }],
      [alice, { name: "x", cluster_id: id, spec: { replicas: 1.5 } }],
      [alice, { name: "x", cluster_id: id, spec: { replicas: "3" } }],
    ] as const) {
      assert.equal((await create(who, body)).code, 400, JSON.stringify(body));
    }
    // A number that is kept as it was written is no object.
    for (const [method, at, sent] of [
      ["POST", "/nodepools", `{"name":"x","cluster_id":"${id}","spec":1.0}`],
      ["PUT", `/nodepools/${poolId}`, `{"spec":1.0}`],
    ] as const) {
      assert.equal((await it.ask(alice, method, at, sent)).code, 400, sent);
    }
    const put = await it.ask(alice, "PUT", `/nodepools/${poolId}`, {
      spec: { replicas: 4, release: { version: " " } },
    });
    assert.deepEqual(
      [put.code, put.body.generation, put.body.spec],
      [200, 2, { replicas: 4, release: { version: "4.1" } }],
    );
    const events = (await it.events()).filter(({ type }) => String(type).startsWith("nodepool."));
    assert.deepEqual(
      events.map(({ type, platform, nodepool_id, cluster_id, created_by, user }) => [
        type,
        platform,
        nodepool_id,
        cluster_id,
        created_by,
        (user as { email: string }).email,
      ]),
      [
        ["nodepool.created", "gcp", poolId, id, alice, alice],
        ["nodepool.created", "gcp", bare.body.id, id, alice, ctl],
        ["nodepool.updated", "gcp", poolId, id, alice, alice],
      ],
    );
    const list = async (who: string, query: string) => {
      const { body } = await it.ask(who, "GET", `/nodepools?${query}`);
      return [body.nodepools.map(({ name }: { name: string }) => name).sort(), body.total];
    };
    assert.deepEqual(await list(alice, `clusterId=${id}`), [["p", "q"], 2]);
    assert.deepEqual(await list(alice, "name=p&platform=GCP&limit=1000"), [["p"], 1]);
    assert.deepEqual(await list(bob, `clusterId=${id}`), [[], 0]);
    assert.deepEqual(await list(ctl, ""), [["p", "q"], 2]);
    assert.equal(await code(it.ask(alice, "GET", "/nodepools?limit=1001")), 400);
    assert.equal(await code(it.ask(alice, "GET", "/nodepools?clusterId=no")), 400);
  });

  test("47: a nodepool's report concerns the nodepool alone, and ctl reads it back", async () => {
    await using it = await startClustersRest();
    await it.ask(ctl, "PUT", "/controllers/pools", { kinds: ["nodepool"], platforms: ["gcp"] });
    const id = await it.cluster(alice);
    const { body } = await it.ask(alice, "POST", "/nodepools", { name: "p", cluster_id: id });
    const path = `/nodepools/${body.id}`;
    await it.settle();
    const reported = await it.report(path, "pools", { metadata: { n: 12_345_678_901_234 } });
    assert.deepEqual(reported.body, {
      message: "status updated",
      nodepool_id: body.id,
      cluster_id: id,
      controller_name: "pools",
      observed_generation: 1,
    });
    const [dirty] = await it.tables.query(
      `SELECT (SELECT status_dirty FROM clusters) AS cluster, (SELECT status_dirty FROM nodepools) AS nodepool`,
    );
    assert.deepEqual(dirty, { cluster: false, nodepool: true });
    const status = await it.ask(ctl, "GET", `${path}/status`);
    assert.deepEqual(
      [status.body.nodepool_id, status.body.cluster_id, status.body.status.phase],
      [body.id, id, "Ready"],
    );
    assert.deepEqual(status.body.expected_controllers, ["pools"]);
    assert.deepEqual(status.body.controller_status[0].metadata, { n: 12_345_678_901_234 });
    assert.equal((await it.ask(alice, "GET", `/clusters/${id}`)).body.status.phase, "Pending");
    // No gate for nodepools; the cluster stays.
    assert.equal(await code(it.ask(alice, "DELETE", path)), 202);
    assert.equal(await code(it.ask(alice, "GET", path)), 404);
    assert.equal(await code(it.ask(alice, "GET", `/clusters/${id}`)), 200);
  });
});
