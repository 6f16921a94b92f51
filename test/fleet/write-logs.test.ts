// What the log says of writes (contract 10): who, which request, which resource; nothing of what was written.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Json } from "@keelson/base";
import { RecordingLog } from "@keelson/base/testing";
import { kubeconfigOf } from "../tools/kubeconfig.ts";
import { startFleetRest } from "./fleet-rest.ts";
import { replicas, web } from "./resource-fixture.ts";

const secretValue = "c2VjcmV0LXZhbHVl";
const { cluster_id, ...everywhere } = web;

async function start() {
  const log = new RecordingLog();
  const it = await startFleetRest({ log });
  /** What a request leaves in the log: messages, with fields that are not the sender's. */
  const logged = async (
    method: "POST" | "PUT" | "DELETE",
    path: string,
    body?: Json,
  ): Promise<{ readonly message: string; readonly [field: string]: unknown }[]> => {
    const before = log.entries.length;
    const id = `${method} ${path}`.replaceAll(/\W+/g, "-");
    await it.ask(method, path, body, { "x-request-id": id });
    return log.entries.slice(before).map(({ level, message, fields }) => {
      const { request_id, user, ...others } = fields;
      assert.deepEqual([level, request_id], ["info", id]);
      assert.match(String(user), /^\S+@\S+$/);
      return { message, ...others };
    });
  };
  return { it, log, logged, [Symbol.asyncDispose]: () => it[Symbol.asyncDispose]() };
}

suite("the log of fleet's writes", () => {
  test("10: a write of a resource leaves one line once it is committed, and what writes nothing leaves none", async () => {
    await using bed = await start();
    const { logged } = bed;
    const made = await logged("POST", "/resources", web);
    const resource_id = made[0]?.["resource_id"];
    const line = (message: string, generation: number) => [
      { message, resource_id, cluster_id, generation, revision: generation },
    ];
    assert.deepEqual(made, line("resource created", 1));
    const at = `/resources/${String(resource_id)}`;
    const next = { ...web, ...replicas(3) };
    for (const [method, path, body, expected] of [
      ["POST", "/resources", web, []], // It is there already.
      ["PUT", at, replicas(2), line("resource updated", 2)],
      ["PUT", at, replicas(2), []],
      ["PUT", `${at}?dryRun=true`, replicas(9), []],
      ["PUT", "/resources", next, line("resource updated", 3)],
      ["POST", `${at}/pause`, undefined, line("resource paused", 3)],
      ["POST", `${at}/pause`, undefined, []],
      ["POST", `${at}/resume`, undefined, line("resource resumed", 3)],
      [
        "POST",
        `${at}/sync`,
        undefined,
        [{ message: "sync asked for", resource_id, cluster_id, generation: 3 }],
      ],
    ] as const) {
      assert.deepEqual(await logged(method, path, body), expected, `${method} ${path}`);
    }
    // One that was attempted stays until its object is gone.
    await bed.it.tables.query(
      `UPDATE resource_attempts SET attempts = 1, last_attempt_at = now() WHERE resource_id = $1`,
      [resource_id],
    );
    assert.deepEqual(await logged("DELETE", at), [
      { message: "resource deleted", resource_id, cluster_id, generation: 4, revision: 3 },
    ]);
    assert.deepEqual(await logged("DELETE", at), []);
    assert.deepEqual(await logged("DELETE", `${at}?orphan=true`), [
      { message: "resource forgotten", resource_id, cluster_id, generation: 4, revision: 3 },
    ]);
  });

  test("10: a batch leaves one line with its change set, a batch that fails none", async () => {
    await using bed = await start();
    const { it, logged } = bed;
    const changes = ["a", "b", "c"].map((name) => ({ op: "create", ...web, name }));
    const [line, ...others] = await logged("POST", "/batch", { changes });
    assert.deepEqual(others, []);
    const rows = await it.tables.query<{ resource_id: number; change_set: string }>(
      `SELECT resource_id, change_set FROM resource_revisions ORDER BY resource_id`,
    );
    assert.deepEqual(line, {
      message: "batch written",
      change_set: rows[0]?.change_set,
      changes: 3,
      resource_ids: rows.map(({ resource_id }) => resource_id),
    });
    const many = Array.from({ length: 150 }, (_, n) => ({ op: "create", ...web, name: `n-${n}` }));
    const [long] = await logged("POST", "/batch", { changes: many });
    assert.ok(Array.isArray(long?.["resource_ids"]));
    assert.deepEqual([long["changes"], long["resource_ids"].length], [150, 100]);
    assert.deepEqual(await logged("POST", "/batch", { changes }), []);
  });

  test("10: so do global resources and targets, and no line holds a value or a credential", async () => {
    await using bed = await start();
    const { log, logged } = bed;
    const kubeconfig = kubeconfigOf({ server: "https://127.0.0.1:1" }, { token: secretValue });
    const target = { message: "target created", cluster_id };
    const secret = { ...everywhere, kind: "Secret", desired_spec: { data: { key: secretValue } } };
    assert.deepEqual(await logged("POST", "/targets", { cluster_id, kubeconfig }), [target]);
    const at = `/targets/${cluster_id}`;
    const [made] = await logged("POST", "/global-resources", secret);
    const global_id = made?.["global_id"];
    const line = (message: string, generation: number, revision: number) => [
      { message, global_id, generation, revision },
    ];
    const global = `/global-resources/${String(global_id)}`;
    assert.deepEqual([made], line("global resource created", 1, 1));
    const more = { desired_spec: { data: { key: secretValue, more: secretValue } } };
    for (const [method, path, body, expected] of [
      ["PUT", at, { labels: { tier: "1" } }, [{ ...target, message: "target updated" }]],
      ["PUT", at, { labels: { tier: "1" } }, []],
      ["PUT", global, more, line("global resource updated", 2, 2)],
      ["PUT", global, more, []],
      ["DELETE", global, undefined, line("global resource deleted", 3, 2)],
      ["POST", "/resources", { ...web, ...secret }, undefined],
      ["DELETE", at, undefined, []], // It has a resource.
      ["DELETE", `${at}?orphan=true`, undefined, [{ ...target, message: "target forgotten" }]],
    ] as const) {
      const said = await logged(method, path, body);
      if (expected !== undefined) assert.deepEqual(said, expected, `${method} ${path}`);
    }
    assert.ok(log.entries.length >= 7);
    assert.ok(!JSON.stringify(log.entries).includes(secretValue));
  });
});
