// Who may what (scenarios 12 to 17 of the contract): every endpoint by everybody, as one table.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { testIdentity } from "@keelson/base/testing";
import { kinds } from "@keelson/clusters";
import {
  alice,
  available,
  bob,
  ctl,
  gatewaySecret,
  gcp,
  startClustersRest,
  unknownId,
  type ClustersRest,
  type Method,
  type Who,
} from "./clusters-rest.ts";

const report = { controller_name: "dns", observed_generation: 1, conditions: [available()] };

/** Alice's cluster with a nodepool, made anew for each row: rows write. */
interface Owned {
  readonly cluster: string;
  readonly nodepool: string;
}

async function owned(it: ClustersRest, name: string): Promise<Owned> {
  const cluster = await it.cluster(alice, name);
  const { body } = await it.ask(alice, "POST", "/nodepools", { name: "p", cluster_id: cluster });
  return { cluster, nodepool: body.id as string };
}

/** What owner, stranger and controller get. Who is nobody, or only says who they are, gets 401 everywhere. */
const table: readonly (readonly [
  method: Method,
  path: (at: Owned) => string,
  body: ((at: Owned) => object) | undefined,
  owner: number,
  stranger: number,
  controller: number,
])[] = [
  ["GET", () => "/clusters", undefined, 200, 200, 200],
  ["POST", () => "/clusters", () => ({ name: "new", spec: gcp }), 201, 201, 201],
  ["GET", ({ cluster }) => `/clusters/${cluster}`, undefined, 200, 404, 200],
  [
    "PUT",
    ({ cluster }) => `/clusters/${cluster}`,
    () => ({ spec: { ...gcp, n: 1 } }),
    200,
    404,
    200,
  ],
  ["GET", ({ cluster }) => `/clusters/${cluster}/status`, undefined, 200, 404, 200],
  ["PUT", ({ cluster }) => `/clusters/${cluster}/status`, () => report, 403, 403, 200],
  ["POST", ({ cluster }) => `/clusters/${cluster}/reconcile`, undefined, 202, 404, 202],
  ["POST", ({ cluster }) => `/clusters/${cluster}/pause`, undefined, 200, 404, 200],
  ["POST", ({ cluster }) => `/clusters/${cluster}/resume`, undefined, 200, 404, 200],
  ["GET", ({ cluster }) => `/clusters/${cluster}?include_secrets=true`, undefined, 403, 404, 200],
  ["DELETE", ({ cluster }) => `/clusters/${cluster}?force=true`, undefined, 202, 404, 202],
  ["GET", ({ cluster }) => `/clusters/${cluster}/events`, undefined, 200, 404, 200],
  ["GET", ({ nodepool }) => `/nodepools/${nodepool}/events`, undefined, 200, 404, 200],
  ["GET", () => "/nodepools", undefined, 200, 200, 200],
  [
    "POST",
    () => "/nodepools",
    ({ cluster }) => ({ name: "q", cluster_id: cluster }),
    201,
    400,
    201,
  ],
  ["GET", ({ nodepool }) => `/nodepools/${nodepool}`, undefined, 200, 404, 200],
  ["PUT", ({ nodepool }) => `/nodepools/${nodepool}`, () => ({ spec: { n: 1 } }), 200, 404, 200],
  ["GET", ({ nodepool }) => `/nodepools/${nodepool}/status`, undefined, 200, 404, 200],
  ["PUT", ({ nodepool }) => `/nodepools/${nodepool}/status`, () => report, 403, 403, 200],
  ["POST", ({ nodepool }) => `/nodepools/${nodepool}/reconcile`, undefined, 202, 404, 202],
  ["POST", ({ nodepool }) => `/nodepools/${nodepool}/pause`, undefined, 200, 404, 200],
  ["POST", ({ nodepool }) => `/nodepools/${nodepool}/resume`, undefined, 200, 404, 200],
  ["DELETE", ({ nodepool }) => `/nodepools/${nodepool}`, undefined, 202, 404, 202],
  ["GET", () => "/controllers", undefined, 403, 403, 200],
  ["PUT", () => "/controllers/dns", () => ({ kinds: ["cluster"] }), 403, 403, 200],
  ["DELETE", () => "/controllers/dns", undefined, 403, 403, 204],
];

/** Everything there is, as text, but for what reading may cache. */
async function everything(it: ClustersRest): Promise<string> {
  const rows = await Promise.all([
    it.tables.query(
      `SELECT id, spec, generation, deletion_timestamp, deleted_at FROM clusters ORDER BY id`,
    ),
    it.tables.query(
      `SELECT id, spec, generation, deletion_timestamp, deleted_at FROM nodepools ORDER BY id`,
    ),
    it.tables.query(`SELECT cluster_id, controller_name FROM controller_status`),
    it.tables.query(`SELECT cluster_id, enabled FROM reconciliation_schedule ORDER BY 1`),
    it.tables.query(`SELECT * FROM controllers`),
    it.tables.query(`SELECT event_id FROM outbox_unnumbered WHERE topic IS NOT NULL ORDER BY id`),
  ]);
  return JSON.stringify(rows);
}

suite("authorization", () => {
  test("the matrix: every endpoint by owner, stranger, controller, nobody and a forger", async () => {
    await using it = await startClustersRest();
    const nobodies: readonly (readonly [Who, string])[] = [
      [{}, "AUTH_REQUIRED"],
      [{ "x-gateway-secret": gatewaySecret }, "AUTH_REQUIRED"],
      [{ "x-user-email": alice }, "UNTRUSTED_GATEWAY"],
      [{ "x-user-email": ctl, "x-gateway-secret": "wrong" }, "UNTRUSTED_GATEWAY"],
      [{ "x-user-roles": "controller" }, "UNTRUSTED_GATEWAY"],
      [{ "x-user-email": "not-an-email", "x-gateway-secret": gatewaySecret }, "INVALID_EMAIL"],
    ];
    for (const [row, [method, path, body, ...codes]] of table.entries()) {
      await it.ask(ctl, "PUT", "/controllers/dns", { kinds: ["cluster"] });
      const at = await owned(it, `row ${row}`);
      const words = `${method} ${path({ cluster: "{id}", nodepool: "{id}" })}`;
      const ask = (who: Who, ids = at) => it.ask(who, method, path(ids), body?.(ids) as never);
      for (const [who, code] of nobodies) {
        const before = await everything(it);
        const answer = await ask(who);
        assert.deepEqual([answer.code, answer.body.code], [401, code], words);
        assert.ok((await everything(it)) === before, `${words} changed something`);
      }
      const [owner, stranger, controller] = codes;
      const isAllowed = stranger < 300;
      const before = await everything(it);
      const strange = await ask(bob);
      assert.equal(strange.code, stranger, `${words} by a stranger`);
      if (!isAllowed) {
        assert.ok((await everything(it)) === before, `${words} by a stranger changed something`);
        // What is somebody else's answers as what is not there.
        const nowhere = { cluster: unknownId, nodepool: unknownId };
        if (stranger !== 403) {
          const { body: unknown } = await ask(bob, nowhere);
          assert.deepEqual(strange.body, unknown, words);
        }
      }
      // A forced deletion leaves nothing for the next to delete.
      const mine = await ask(alice);
      assert.equal(mine.code, owner, `${words} by its owner: ${JSON.stringify(mine.body)}`);
      const again = method === "DELETE" || method === "POST" ? await owned(it, `again ${row}`) : at;
      const theirs = await ask(ctl, again);
      assert.equal(
        theirs.code,
        controller,
        `${words} by a controller: ${JSON.stringify(theirs.body)}`,
      );
    }
  });

  test("14, 16: lists hold one's own; a controller's hold everybody's", async () => {
    await using it = await startClustersRest();
    const { cluster } = await owned(it, "hers");
    await it.cluster(bob, "his");
    const names = async (who: string, path: string) => {
      const { body } = await it.ask(who, "GET", path);
      const found = (body.clusters ?? body.nodepools) as { name: string }[];
      assert.equal(body.total, found.length);
      return found.map(({ name }) => name).sort();
    };
    assert.deepEqual(await names(alice, "/clusters"), ["hers"]);
    assert.deepEqual(await names(bob, "/clusters"), ["his"]);
    assert.deepEqual(await names(ctl, "/clusters"), ["hers", "his"]);
    assert.deepEqual(await names(bob, `/nodepools?clusterId=${cluster}`), []);
    assert.deepEqual(await names(ctl, `/nodepools?clusterId=${cluster}`), ["p"]);
  });

  test("17: what makes a controller is the address, a binding or the role, and nothing else", async () => {
    await using it = await startClustersRest({
      controllerEmail: "the-one@system.local",
      controllerIdentities: { "dns@example.com": "dns" },
    });
    const path = `/clusters/${await it.cluster(alice)}`;
    const as = (email: string, roles = ""): Who => ({
      "x-user-email": email,
      "x-user-roles": roles,
      "x-gateway-secret": gatewaySecret,
    });
    const reports = async (who: Who, name: string) =>
      (await it.ask(who, "PUT", `${path}/status`, { ...report, controller_name: name })).code;
    const registers = async (who: Who, name: string) =>
      (await it.ask(who, "PUT", `/controllers/${name}`, { kinds: ["cluster"] })).code;
    for (const [who, name, code] of [
      [as("evil@system.local"), "x", 403],
      [as("controller@system.local"), "x", 403],
      [as("the-one@system.local"), "x", 200],
      [as("The-One@system.local"), "x", 403],
      [as("any@example.com", "viewer,controller"), "x", 200],
      [as("any@example.com", "controllers"), "x", 403],
      // A bound name belongs to its identity, which has no other.
      [as("dns@example.com"), "dns", 200],
      [as("dns@example.com"), "x", 403],
      [as("the-one@system.local"), "dns", 403],
      [as("any@example.com", "controller"), "dns", 403],
    ] as const) {
      assert.equal(await reports(who, name), code, JSON.stringify([who, name]));
      assert.equal(await registers(who, name), code, JSON.stringify([who, name]));
    }
  });

  test("a credential that may only read writes nowhere, whatever its roles", async () => {
    await using it = await startClustersRest();
    const { cluster } = await owned(it, "one");
    const { access, writer, reports, registry, deletions } = it.service;
    const caller = access.callerOf(
      testIdentity({ user: alice, roles: ["controller"], readOnly: true }),
    );
    const signal = new AbortController().signal;
    const at = { kind: kinds.cluster, id: cluster };
    const writes: readonly (() => Promise<unknown>)[] = [
      () => writer.createCluster(caller, { name: "x", spec: gcp }, signal),
      () => writer.createNodepool(caller, { name: "x", cluster_id: cluster }, signal),
      () => writer.reconcile(caller, at, signal),
      () => writer.setEnabled(caller, { ...at, enabled: false }, signal),
      () =>
        writer.update(
          caller,
          {
            ...at,
            spec: gcp,
            targetProjectId: null,
            expectedGeneration: undefined,
            ifMatch: undefined,
          },
          signal,
        ),
      () => reports.report(caller, at, report, signal),
      () => registry.register(caller, "dns", { kinds: ["cluster"] }, signal),
      () => registry.retire(caller, "dns", signal),
      () =>
        deletions.delete(
          caller,
          { ...at, force: true, confirm: undefined, ifMatch: undefined },
          signal,
        ),
    ];
    for (const write of writes) await assert.rejects(write(), { code: "FORBIDDEN" });
  });

  test("who was turned away is in the audit, with nothing of what was sent", async () => {
    await using it = await startClustersRest();
    const { cluster } = await owned(it, "one");
    await it.ask({ "x-user-email": alice }, "GET", `/clusters/${cluster}?x=s3cret`);
    await it.ask(bob, "PUT", `/clusters/${cluster}`, { spec: { ...gcp, token: "s3cret" } });
    await it.ask(alice, "PUT", `/clusters/${cluster}/status`, {
      ...report,
      metadata: { a: "s3cret" },
    });
    await it.ask(bob, "GET", `/clusters/${unknownId}`); // That is not there: nobody was turned away.
    await it.ask({}, "GET", "/events?topic=s3cret");
    await it.ask(alice, "GET", "/events?topic=cluster-events");
    await it.settle();
    const rows = await it.tables.query<{ data: Record<string, unknown> }>(
      `SELECT actor, action, kind, resource_id, position, data FROM audit WHERE action = 'denied' ORDER BY id`,
    );
    assert.deepEqual(
      rows.map(({ data: { request_id, ...data }, ...row }) => {
        assert.equal(typeof request_id, "string");
        return { ...row, data };
      }),
      [
        ["anonymous", "UNTRUSTED_GATEWAY", "GET", "/api/v1/clusters/:id"],
        [bob, "RESOURCE_NOT_FOUND", "PUT", "/api/v1/clusters/:id"],
        [alice, "FORBIDDEN", "PUT", "/api/v1/clusters/:id/status"],
        ["anonymous", "AUTH_REQUIRED", "GET", "/api/v1/events"],
        [alice, "FORBIDDEN", "GET", "/api/v1/events"],
      ].map(([actor, code, method, route = ""]) => ({
        actor,
        action: "denied",
        kind: route.includes("clusters") ? "cluster" : null,
        resource_id: route.includes("clusters") ? cluster : null,
        position: null,
        data: { code, method, route },
      })),
    );
  });
});
