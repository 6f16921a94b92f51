// Delivery to a cluster (F17 to F28, F37 to F45): our own API server as the target, on a real database.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { DynamicObject } from "@keelson/client";
import { statement } from "@keelson/database";
import { until } from "../tools/until.ts";
import { applied, startBed, web } from "./bed.ts";
import { clusterSuite, isOracle } from "../tools/test-cluster.ts";
import { HangingWebhook } from "./hanging-webhook.ts";

const lockWork = statement<string>(
  "lockWork",
  (sql, name) => sql`
    SELECT FROM resource_attempts t JOIN resources r ON r.id = t.resource_id WHERE r.name = ${name} FOR UPDATE OF t`,
);

clusterSuite("delivery to a cluster", () => {
  test("F17, F22: what is wanted is applied with its marks, and what is dropped leaves", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const id = await it.create(web);
    await it.becomes(id, applied(1));
    const first = await it.find("ConfigMap", "web");
    assert.deepEqual(first?.["data"], { a: "1" });
    assert.deepEqual(first.metadata.annotations, {
      "kontrol/resource-id": String(id),
      "kontrol/generation": "1",
      "kontrol/revision": "1",
    });
    await it.rest.ask("PUT", `/resources/${id}`, { desired_spec: { data: { b: "2" } } });
    await it.becomes(id, applied(2));
    assert.deepEqual((await it.find("ConfigMap", "web"))?.["data"], { b: "2" });
    const [row] = await it.rest.tables.query<{ owned: { path: unknown[]; value: unknown }[] }>(
      `SELECT owned FROM resource_applied_states WHERE resource_id = $1`,
      [id],
    );
    assert.deepEqual(
      row?.owned.map(({ path, value }) => [path.join("."), value]),
      [
        ["data.b", "2"],
        ["metadata.annotations.kontrol/generation", "2"],
        ["metadata.annotations.kontrol/resource-id", String(id)],
        ["metadata.annotations.kontrol/revision", "2"],
      ],
    );
  });

  test("F17: a row written by SQL is delivered like any other", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    await it.rest.tables.query(
      `INSERT INTO resources (cluster_id, namespace, kind, name, api_version, desired_spec)
       VALUES ('prod', 'default', 'ConfigMap', 'plain', 'v1', '{"data":{"x":"y"}}')`,
    );
    await until(async () => (await it.find("ConfigMap", "plain")) !== undefined, t.signal);
  });

  test("F18: a row whose spec cannot be read fails alone, and can be deleted", async (t) => {
    await using it = await startBed(t.signal);
    const levels = 1_200;
    const spec = `{"data":${'{"a":'.repeat(levels)}1${"}".repeat(levels)}}`;
    const [deep] = await it.rest.tables.query<{ id: number }>(
      `INSERT INTO resources (cluster_id, namespace, kind, name, desired_spec)
       VALUES ('prod', 'default', 'ConfigMap', 'deep', $1::text::jsonb) RETURNING id`,
      [spec],
    );
    const id = await it.create(web);
    it.startWorker();
    await it.becomes(id, applied(1));
    await until(async () => {
      const [row] = await it.rest.tables.query(
        `SELECT error_class FROM resource_attempts WHERE resource_id = $1`,
        [deep?.id],
      );
      return row?.["error_class"] === "internal";
    }, t.signal);
    await it.rest.tables.query(`UPDATE resources SET deleted_at = now() WHERE id = $1`, [deep?.id]);
    await it.goes(deep?.id ?? 0);
  });

  test("F18: a refusal is told and the last good record kept; success clears it", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const id = await it.create(web);
    await it.becomes(id, applied(1));
    const bad = { desired_spec: { data: { "not a key": "1" } } };
    await it.rest.ask("PUT", `/resources/${id}`, bad);
    const failed = await it.becomes(id, ({ status }) => status === "error");
    const { last_error: error, applied: kept } = failed;
    assert.deepEqual([error.class, error.generation, error.http_status], ["invalid", 2, 422]);
    assert.match(error.message, /data\[not a key\]/);
    assert.deepEqual([kept.generation, kept.status], [1, "error"]);
    await it.becomes(id, (body) => body.last_error?.attempts >= 2);
    await it.rest.ask("PUT", `/resources/${id}`, { revision: 1 });
    const good = await it.becomes(id, applied(3));
    assert.equal(good.last_error, null);
  });

  test("F19: one that hangs keeps nobody else waiting, and what is asked for meanwhile is done after it", async (t) => {
    const held = Promise.withResolvers<void>();
    let isHolding = false;
    await using it = await startBed(t.signal, {
      onStatement: async ({ statement, phase }) => {
        if (!isHolding || statement !== "recordApplied" || phase !== "before") return;
        isHolding = false;
        await held.promise;
      },
    });
    it.startWorker();
    isHolding = true;
    const slow = await it.create(web);
    await until(async () => (await it.find("ConfigMap", "web")) !== undefined, t.signal);
    const other = await it.create({ ...web, name: "other" });
    await it.becomes(other, applied(1));
    assert.equal(await it.status(slow), "pending");
    await it.rest.ask("PUT", `/resources/${slow}`, { desired_spec: { data: { a: "2" } } });
    held.resolve();
    await it.becomes(slow, applied(2));
  });

  // Our own server calls no webhooks.
  if (isOracle) {
    test("F19: an apply that hangs in a webhook times out and is recorded, and others proceed", async (t) => {
      await using hook = await HangingWebhook.start();
      await using it = await startBed(t.signal);
      const labels = { hangs: "yes" };
      const hooks = await it.client.resource(
        {
          apiVersion: "admissionregistration.k8s.io/v1",
          kind: "ValidatingWebhookConfiguration",
        },
        t.signal,
      );
      const fieldManager = "them";
      const configuration = hook.configuration(labels) as DynamicObject;
      await hooks.apply(configuration, { fieldManager }, t.signal);
      // The server learns of it after a while.
      const maps = await it.configMaps();
      const metadata = { name: "probe", namespace: "default", labels };
      const probe = { apiVersion: "v1", kind: "ConfigMap", metadata };
      await until(async () => {
        const trial = { fieldManager, dryRun: true, timeoutMs: 500 };
        await maps.apply(probe, trial, t.signal).catch(() => undefined);
        return hook.asked > 0;
      }, t.signal);
      it.startWorker();
      const before = hook.asked;
      const desired_spec = { metadata: { labels }, data: { a: "1" } };
      const slow = await it.create({ ...web, desired_spec });
      await until(() => hook.asked > before, t.signal);
      const other = await it.create({ ...web, name: "other" });
      await it.becomes(other, applied(1));
      const late = await it.becomes(slow, ({ status }) => status === "error");
      assert.deepEqual(
        [late.last_error.class, late.last_error.generation, late.applied.status],
        ["timeout", 1, "error"],
      );
      hook.letGo();
      const good = await it.becomes(slow, applied(1));
      assert.equal(good.last_error, null);
      await hooks.delete({ name: "hangs" }, t.signal);
    });
  }

  test("F21: another's field is told under report, and taken under force", async (t) => {
    await using it = await startBed(t.signal);
    const maps = await it.configMaps();
    const theirs = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "web", namespace: "default" },
      data: { a: "theirs", b: "stays" },
    };
    await maps.apply(theirs, { fieldManager: "them" }, t.signal);
    it.startWorker();
    const id = await it.create({ ...web, conflict_policy: "report" });
    const body = await it.becomes(id, ({ status }) => status === "error");
    const { class: errorClass, message } = body.last_error;
    assert.deepEqual(errorClass, "conflict");
    assert.match(message, /"them".*\.data\.a/);
    await it.rest.ask("PUT", `/resources/${id}`, { conflict_policy: "force" });
    await it.becomes(id, applied(1));
    assert.deepEqual((await it.find("ConfigMap", "web"))?.["data"], { a: "1", b: "stays" });
    // Of a Secret the field and its owner are told, and no value.
    const secrets = await it.client.resource({ apiVersion: "v1", kind: "Secret" }, t.signal);
    const hidden = { ...theirs, kind: "Secret", data: { a: "dGhlaXJz" } };
    await secrets.apply(hidden, { fieldManager: "them" }, t.signal);
    const ours = { kind: "Secret", desired_spec: { data: { a: "b3Vycw==" } } };
    const secret = await it.create({ ...web, ...ours, conflict_policy: "report" });
    const { last_error: said } = await it.becomes(secret, ({ status }) => status === "error");
    assert.equal(said.message, "the cluster refused the Secret (Conflict): .data.a of them");
  });

  test("F21: so it is with the replicas of a Deployment that somebody else scales", async (t) => {
    await using it = await startBed(t.signal);
    const apiVersion = "apps/v1";
    const deployments = await it.client.resource({ apiVersion, kind: "Deployment" }, t.signal);
    const labels = { app: "web" };
    const shared = {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "web", image: "nginx" }] },
      },
    };
    const metadata = { name: "web", namespace: "default", labels: { of: "theirs" } };
    const theirs = { apiVersion, kind: "Deployment", metadata, spec: { ...shared, replicas: 5 } };
    await deployments.apply(theirs, { fieldManager: "autoscaler" }, t.signal);
    it.startWorker();
    const id = await it.create({
      ...web,
      kind: "Deployment",
      desired_spec: { spec: { ...shared, replicas: 2 } },
      conflict_policy: "report",
    });
    const { last_error: error } = await it.becomes(id, ({ status }) => status === "error");
    assert.equal(error.class, "conflict");
    assert.match(error.message, /"autoscaler".*\.spec\.replicas/);
    await it.rest.ask("PUT", `/resources/${id}`, { conflict_policy: "force" });
    await it.becomes(id, applied(1));
    const live = await it.find("Deployment", "web", apiVersion);
    assert.ok(live !== undefined);
    assert.equal((live["spec"] as { replicas: number }).replicas, 2);
    assert.equal(live.metadata.labels?.["of"], "theirs");
  });

  test("F23, F26, F28: what misses its kind or namespace waits, and arrives when they do", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const group = "shop.example.com";
    const widget = await it.create({
      cluster_id: "prod",
      namespace: "team",
      kind: "Widget",
      name: "one",
      api_version: `${group}/v1`,
      desired_spec: { spec: { size: 3 } },
    });
    const waiting = await it.becomes(widget, ({ status }) => status === "error");
    assert.equal(waiting.last_error.class, "no-kind");
    await it.create({
      cluster_id: "prod",
      kind: "CustomResourceDefinition",
      name: `widgetses.${group}`,
      api_version: "apiextensions.k8s.io/v1",
      desired_spec: {
        spec: {
          group,
          scope: "Namespaced",
          names: {
            plural: "widgetses",
            singular: "widget",
            kind: "Widget",
            listKind: "WidgetList",
          },
          versions: [
            {
              name: "v1",
              served: true,
              storage: true,
              schema: {
                openAPIV3Schema: {
                  type: "object",
                  properties: {
                    spec: { type: "object", properties: { size: { type: "integer" } } },
                  },
                },
              },
            },
          ],
        },
      },
    });
    const missing = await it.becomes(widget, (body) => body.last_error?.class === "no-namespace");
    assert.equal(missing.status, "error");
    await it.create({ cluster_id: "prod", kind: "Namespace", name: "team", desired_spec: {} });
    await it.becomes(widget, applied(1));
  });

  test("F25: what is paused is not written, and a resumption converges", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const id = await it.create(web);
    await it.becomes(id, applied(1));
    await it.rest.ask("POST", `/resources/${id}/pause`);
    await it.rest.ask("PUT", `/resources/${id}`, { desired_spec: { data: { a: "2" } } });
    const other = await it.create({ ...web, name: "other" });
    await it.becomes(other, applied(1)); // Whatever was to be done has been done by now.
    assert.equal(await it.status(id), "out-of-sync");
    assert.deepEqual((await it.find("ConfigMap", "web"))?.["data"], { a: "1" });
    await it.rest.ask("POST", `/resources/${id}/resume`);
    await it.becomes(id, applied(2));
    // Deletions are writes, too.
    await it.rest.ask("POST", `/resources/${id}/pause`);
    assert.equal((await it.rest.ask("DELETE", `/resources/${id}`)).code, 202);
    await it.rest.ask("DELETE", `/resources/${other}`);
    await it.goes(other);
    assert.equal(await it.status(id), "deleting");
    assert.ok((await it.find("ConfigMap", "web")) !== undefined);
    await it.rest.ask("POST", `/resources/${id}/resume`);
    await it.goes(id);
    assert.equal(await it.find("ConfigMap", "web"), undefined);
  });

  test("F5, F37, F38: a deletion waits for finalizers, names them, and then leaves nothing", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const id = await it.create(web);
    await it.becomes(id, applied(1));
    const maps = await it.configMaps();
    const object = await maps.get({ namespace: "default", name: "web" }, t.signal);
    const held = await maps.addFinalizer(object, "example.com/hold", t.signal);
    assert.ok(held);
    await it.rest.ask("DELETE", `/resources/${id}`);
    const body = await it.becomes(id, ({ conditions }) =>
      (conditions as { type: string; status: string; message: string }[]).some(
        ({ type, status, message }) =>
          type === "DeletionBlocked" && status === "True" && message.includes("example.com/hold"),
      ),
    );
    assert.equal(body.status, "deleting");
    const sent = await it.rest.tables.query(
      `SELECT generation, status, deleted_at IS NOT NULL AS is_sent FROM resource_applied_states`,
    );
    assert.deepEqual(sent, [{ generation: 1, status: "success", is_sent: true }]);
    await maps.removeFinalizer(held, "example.com/hold", t.signal);
    await it.goes(id);
    const put = await it.rest.ask("PUT", `/resources/${id}`, { desired_spec: {} });
    assert.deepEqual(
      [put.code, (await it.rest.ask("DELETE", `/resources/${id}`)).code],
      [404, 404],
    );
    const left = await it.rest.tables.query(
      `SELECT (SELECT count(*) FROM resource_applied_states)::integer AS states,
              (SELECT uid IS NOT NULL FROM resource_tombstones WHERE resource_id = $1) AS buried`,
      [id],
    );
    assert.deepEqual(left, [{ states: 0, buried: true }]);
  });

  test("F42: a deletion takes nothing that is not ours", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const id = await it.create(web);
    await it.becomes(id, applied(1));
    await it.rest.ask("POST", `/resources/${id}/pause`);
    const maps = await it.configMaps();
    await maps.delete({ namespace: "default", name: "web" }, t.signal);
    const another = {
      apiVersion: "v1",
      kind: "ConfigMap",
      // With our mark, copied by another hand.
      metadata: {
        name: "web",
        namespace: "default",
        annotations: { "kontrol/resource-id": String(id) },
      },
      data: { somebody: "else" },
    };
    await maps.apply(another, { fieldManager: "them" }, t.signal);
    await it.rest.ask("DELETE", `/resources/${id}`);
    await it.rest.tables.query(`UPDATE resources SET paused = false WHERE id = $1`, [id]);
    await it.goes(id);
    assert.deepEqual((await it.find("ConfigMap", "web"))?.["data"], { somebody: "else" });
  });

  test("F48: a row of the queue that somebody holds keeps its own record waiting and no other", async (t) => {
    const held = Promise.withResolvers<void>();
    const names = new Set(["held-1", "held-2"]);
    const holding: Promise<unknown>[] = [];
    await using it = await startBed(t.signal, {
      onStatement: async ({ statement: name, phase }) => {
        if (name !== "recordApplied" || phase !== "before" || names.size === 0) return;
        const [next = ""] = names;
        names.delete(next);
        const locked = Promise.withResolvers<void>();
        const hold = holder.transaction(async (sql) => {
          await sql.run(lockWork, next);
          locked.resolve();
          await held.promise;
        }, t.signal);
        holding.push(hold);
        await Promise.race([locked.promise, hold]);
      },
    });
    const holder = it.rest.tables.openAnother({ connectionsMax: 2 });
    it.startWorker();
    // One after the other: two that come together may be recorded by one statement.
    const slow: number[] = [];
    for (const name of ["held-1", "held-2"]) {
      slow.push(await it.create({ ...web, name }));
      await until(() => holding.length === slow.length, t.signal);
    }
    for (const name of ["a", "b", "c"]) {
      await it.becomes(await it.create({ ...web, name }), applied(1));
    }
    assert.deepEqual(await Promise.all(slow.map((id) => it.status(id))), ["pending", "pending"]);
    held.resolve();
    await Promise.all(holding);
    for (const id of slow) await it.becomes(id, applied(1));
  });

  test("F44, F45: who has lost its claim records nothing, nor does an older generation; both are counted", async (t) => {
    let disturb: (() => Promise<unknown>) | undefined;
    await using it = await startBed(t.signal, {
      onStatement: async ({ statement, phase }) => {
        if (statement !== "recordApplied" || phase !== "before") return;
        const now = disturb;
        disturb = undefined;
        await now?.();
      },
    });
    it.startWorker({ leaseMs: 300 });
    const refused = () => it.metrics.value("keelson_fleet_stale_write_refused_total", {}) ?? 0;
    const id = await it.create(web);
    await it.becomes(id, applied(1));
    // Another takes the claim over while we are on our way: its record would stand, and ours must not.
    disturb = () => it.rest.tables.query(`UPDATE resource_attempts SET fence = fence + 1`);
    await it.rest.ask("PUT", `/resources/${id}`, { desired_spec: { data: { a: "2" } } });
    // At least: with so short a lease a slow machine may lose a claim by itself.
    await until(() => refused() > 0, t.signal);
    await it.becomes(id, applied(2));
    // Somebody has recorded a later generation already.
    const before = refused();
    let isOvertaken = false;
    disturb = async () => {
      await it.rest.tables.query(`UPDATE resource_applied_states SET generation = 9`);
      isOvertaken = true;
    };
    await it.rest.ask("PUT", `/resources/${id}`, { desired_spec: { data: { a: "3" } } });
    await until(() => isOvertaken && refused() > before, t.signal);
    const [row] = await it.rest.tables.query(`SELECT generation FROM resource_applied_states`);
    assert.deepEqual(row, { generation: 9 });
  });

  test("F41: between call and record anything may fail; it is done again, and recorded once", async (t) => {
    const failures = new Set<string>();
    await using it = await startBed(t.signal, {
      onStatement: ({ statement, phase }) => {
        const at = `${phase} ${statement}`;
        if (!failures.delete(at)) return;
        throw new Error(`a fault ${at}`);
      },
    });
    it.startWorker({ leaseMs: 300 });
    for (const [index, at] of [
      "before readClaimed",
      "before recordApplied",
      "after recordApplied",
    ].entries()) {
      failures.add(at);
      const id = await it.create({ ...web, name: `fault-${index}` });
      await it.becomes(id, applied(1));
      await until(async () => {
        const [row] = await it.rest.tables.query(
          `SELECT due_at IS NULL AND lease_owner IS NULL AS done FROM resource_attempts WHERE resource_id = $1`,
          [id],
        );
        return row?.["done"] === true;
      }, t.signal);
      assert.equal(failures.size, 0, at);
    }
  });

  test("F44: two workers share the work, and each generation is applied by one", async (t) => {
    await using it = await startBed(t.signal);
    // However busy the machine is: a call or a claim whose time is up would be another claim.
    const patient = { leaseMs: 3_600_000, callTimeoutMs: 240_000 };
    it.startWorker(patient);
    it.startWorker(patient);
    const changes = Array.from({ length: 60 }, (_, index) => ({
      op: "create",
      ...web,
      name: `shared-${index}`,
    }));
    await it.rest.ask("POST", "/batch", { changes });
    await until(async () => {
      const [row] = await it.rest.tables.query(
        `SELECT count(*)::integer AS rows FROM resource_applied_states WHERE generation = 1`,
      );
      return row?.["rows"] === 60;
    }, t.signal);
    assert.deepEqual(
      await it.rest.tables.query(`SELECT max(fence)::integer AS fence FROM resource_attempts`),
      [{ fence: 1 }],
    );
  });
});
