// How fleet finds the client of a cluster, on a real table and a real server.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { startTestServer } from "@keelson/apiserver/testing";
import { noMetrics, systemClock, systemRandom } from "@keelson/base";
import { fixedCredentials } from "@keelson/client";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { CredentialCipher, sealAccess, TargetClients, type StoredAccess } from "@keelson/fleet";
import { createFleetDatabase } from "@keelson/fleet/testing";

const cipher = new CredentialCipher([Buffer.alloc(32, 1)], systemRandom);

/** A kubeconfig with a context for each server. */
function accessTo(servers: Readonly<Record<string, string>>, context: string): StoredAccess {
  const names = Object.keys(servers);
  const text = JSON.stringify({
    clusters: names.map((name) => ({ name, cluster: { server: servers[name] } })),
    users: [{ name: "me", user: { token: "a secret" } }],
    contexts: names.map((name) => ({ name, context: { cluster: name, user: "me" } })),
    "current-context": names[0],
  });
  return { source: { text }, context, trust: "data" };
}

suite("clients of targets", () => {
  test("a registered cluster has one client, and another once its credential has changed", async (t) => {
    await using server = await startTestServer({}, t.signal);
    await using tables = await createFleetDatabase(await sharedThrowawayPostgres("embedded"));
    const { database } = tables;
    const local = { server: server.url, credentials: fixedCredentials({}) };
    await using clients = new TargetClients({
      callTimeoutMs: 10_000,
      database,
      cipher,
      own: new Map([["local", local]]),
      proxies: {},
      clock: systemClock,
      random: systemRandom,
      metrics: noMetrics,
    });
    const refused = (clusterId: string) => clients.clientOf(clusterId, t.signal);
    await assert.rejects(refused("prod"), { code: "TARGET_UNKNOWN" });

    const servers = { here: server.url, nowhere: "http://127.0.0.1:1" };
    const sealed = (context: string): Buffer =>
      sealAccess(cipher, "prod", accessTo(servers, context));
    await tables.query(
      `INSERT INTO targets (cluster_id, credential, in_process, agent) VALUES
         ('prod', $1, false, false), ('local', NULL, true, false), ('elsewhere', NULL, true, false),
         ('inside', NULL, false, true), ('moved', $1, false, false)`,
      [sealed("here")],
    );
    const [one, again] = await Promise.all([
      clients.clientOf("prod", t.signal),
      clients.clientOf("prod", t.signal),
    ]);
    assert.equal(one, again);
    const namespaces = await one.resource({ apiVersion: "v1", kind: "Namespace" }, t.signal);
    assert.ok((await namespaces.find({ name: "default" }, t.signal)) !== undefined);
    const own = await clients.clientOf("local", t.signal);
    assert.equal(own.transport.server, server.url);
    await assert.rejects(refused("elsewhere"), { code: "TARGET_UNREACHABLE" });
    await assert.rejects(refused("inside"), { code: "TARGET_UNREACHABLE" });
    // Another cluster's credential is none.
    await assert.rejects(refused("moved"), { code: "TARGET_UNREACHABLE" });

    await tables.query(`UPDATE targets SET credential = $1 WHERE cluster_id = 'prod'`, [
      sealed("nowhere"),
    ]);
    const other = await clients.clientOf("prod", t.signal);
    assert.notEqual(other, one);
    assert.equal(other.transport.server, "http://127.0.0.1:1");
    // What was under way may end.
    assert.ok((await namespaces.find({ name: "default" }, t.signal)) !== undefined);
    await tables.query(`DELETE FROM targets WHERE cluster_id = 'prod'`);
    await assert.rejects(refused("prod"), { code: "TARGET_UNKNOWN" });
    assert.deepEqual(
      await tables.query(
        `SELECT type, data->>'health' AS health FROM events_unnumbered WHERE cluster_id = 'prod' ORDER BY id`,
      ),
      ["created", "updated", "deleted"].map((what) => ({
        type: `target.${what}`,
        health: "Unknown",
      })),
    );
  });
});
