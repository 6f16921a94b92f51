// What clusters show (F17, F25, F29 to F36): seen, compared with what was applied, repaired.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@keelson/base";
import type { DynamicObject } from "@keelson/client";
import { until } from "../tools/until.ts";
import { startBed, synced, web, type Bed, type Details } from "./bed.ts";
import { clusterSuite, ownTest } from "../tools/test-cluster.ts";

const isTrue = (conditions: readonly Details[], type: string) =>
  conditions.some((one) => one.type === type && one.status === "True");

const somebody = { fieldManager: "somebody" };

const ref = { namespace: "default", name: "web" };

async function eventTypes(it: Bed): Promise<readonly string[]> {
  const rows = await it.rest.tables.query<{ type: string }>(
    `SELECT type FROM events_unnumbered WHERE type LIKE 'resource.%' ORDER BY id`,
  );
  return rows.map(({ type }) => type.replace("resource.", ""));
}

clusterSuite("watching a cluster", () => {
  test("F17: what was applied is seen, and then it is synced", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const id = await it.create(web);
    const body = await it.becomes(id, synced);
    assert.deepEqual(
      [body.applied.generation, body.current.generation, body.current.revision, body.health],
      [1, 1, 1, "Healthy"],
    );
    assert.deepEqual(body.current.spec, { data: { a: "1" } });
    const object = await it.find("ConfigMap", "web");
    assert.deepEqual(
      [body.current.uid, body.current.k8s_resource_version],
      [object?.metadata.uid, object?.metadata.resourceVersion],
    );
    assert.deepEqual(await eventTypes(it), ["created", "applied", "observed"]);
    // 3.4: each question is answered, and each step has its time.
    const told = await it.becomes(id, ({ conditions }) => isTrue(conditions, "TargetReachable"));
    assert.deepEqual(
      told.conditions
        .filter(({ status }: Details) => status === "True")
        .map(({ type }: Details) => type),
      ["Applied", "Observed", "TargetReachable"],
    );
    const { committed_at, claimed_at, applied_at, observed_at } = told.timeline;
    assert.ok(
      committed_at <= claimed_at && claimed_at <= applied_at,
      JSON.stringify(told.timeline),
    );
    assert.ok(claimed_at <= observed_at, JSON.stringify(told.timeline));
  });

  test("4.3: numbers that others write onto an object are not believed, and are drift", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const id = await it.create({ ...web, drift_policy: "report" });
    const other = await it.create({ ...web, name: "other" });
    for (const one of [id, other]) await it.becomes(one, synced);
    const maps = await it.configMaps();
    for (const [name, value] of [
      ["generation", "99"],
      ["revision", "98"],
      ["resource-id", String(other)],
    ] as const) {
      const body = { metadata: { annotations: { [`kontrol/${name}`]: value } } };
      await maps.patch(ref, { type: "merge", body, options: somebody }, t.signal);
      const path = `/metadata/annotations/kontrol~1${name}`;
      const { current, drift } = await it.becomes(
        id,
        ({ status, drift: fields }) =>
          status === "drifted" && fields.some((field: Details) => field.path === path),
      );
      assert.deepEqual([current.generation, current.revision], [1, 1], name);
      const field = drift.find((one: Details) => one.path === path);
      assert.deepEqual([field.current, field.manager], [value, "somebody"]);
    }
    const { uid } = (await maps.get({ ...ref, name: "other" }, t.signal)).metadata;
    const beside = await it.becomes(other, synced);
    assert.equal(beside.current.uid, uid);
    await it.rest.ask("PUT", `/resources/${id}`, { drift_policy: "heal" });
    await it.becomes(id, synced);
    const { annotations } = (await maps.get(ref, t.signal)).metadata;
    assert.deepEqual(
      [annotations?.["kontrol/generation"], annotations?.["kontrol/resource-id"]],
      ["1", String(id)],
    );
  });

  test("6.3: an object of a generation that no record knows is repaired, as after a restore of the database", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const id = await it.create(web);
    await it.becomes(id, synced);
    const maps = await it.configMaps();
    const { annotations = {} } = (await maps.get(ref, t.signal)).metadata;
    const lost: DynamicObject = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { ...ref, annotations: { ...annotations, "kontrol/generation": "7" } },
      data: { a: "lost" },
    };
    await maps.apply(lost, { fieldManager: "kontrol", force: true }, t.signal);
    await until(async () => (await eventTypes(it)).includes("healed"), t.signal);
    await it.becomes(id, (body) => synced(body) && body.current.generation === 1);
    const { metadata, data } = await maps.get(ref, t.signal);
    assert.deepEqual([metadata.annotations?.["kontrol/generation"], data], ["1", { a: "1" }]);
  });

  test("F30: a field of ours that is changed is restored at the same generation; others' fields stay", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const id = await it.create(web);
    await it.becomes(id, synced);
    const maps = await it.configMaps();
    const theirs = { data: { a: "changed", b: "theirs" }, metadata: { labels: { x: "y" } } };
    await maps.patch(ref, { type: "merge", body: theirs, options: somebody }, t.signal);
    await until(async () => (await eventTypes(it)).includes("healed"), t.signal);
    const body = await it.becomes(id, synced);
    assert.equal(body.generation, 1);
    const object = await it.find("ConfigMap", "web");
    assert.deepEqual(object?.["data"], { a: "1", b: "theirs" });
    assert.deepEqual(object.metadata.labels, { x: "y" });
  });

  test("F36: drift is shown by field, value and whose it is, and left alone under report", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const id = await it.create({ ...web, drift_policy: "report" });
    await it.becomes(id, synced);
    const maps = await it.configMaps();
    const body = { data: { a: "changed" } };
    await maps.patch(ref, { type: "merge", body, options: somebody }, t.signal);
    const drifted = await it.becomes(id, ({ status }) => status === "drifted");
    assert.deepEqual(drifted.drift, [
      { path: "/data/a", desired: "1", current: "changed", manager: "somebody" },
    ]);
    assert.deepEqual((await it.find("ConfigMap", "web"))?.["data"], { a: "changed" });
  });

  test("6.3: of one kind in two versions neither is drift, and what others change in either is", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
    const scaler = (version: string, target: JsonObject) => ({
      ...web,
      kind: "HorizontalPodAutoscaler",
      api_version: `autoscaling/${version}`,
      name: version,
      desired_spec: { spec: { scaleTargetRef, maxReplicas: 3, ...target } },
    });
    const average = { type: "Utilization", averageUtilization: 50 };
    const metrics = [{ type: "Resource", resource: { name: "cpu", target: average } }];
    const ids = [
      await it.create(scaler("v1", { targetCPUUtilizationPercentage: 50 })),
      await it.create(scaler("v2", { metrics })),
    ];
    for (const id of ids) await it.becomes(id, synced);
    const scalers = await it.client.resource(
      { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler" },
      t.signal,
    );
    for (const [index, name] of ["v1", "v2"].entries()) {
      const body = { spec: { maxReplicas: 7 } };
      const there = { ...ref, name };
      await scalers.patch(there, { type: "merge", body, options: somebody }, t.signal);
      await until(async () => {
        const { spec } = (await scalers.get(there, t.signal)) as DynamicObject & { spec: Details };
        return spec.maxReplicas === 3;
      }, t.signal);
      await it.becomes(ids[index] ?? 0, synced);
    }
    // Each was seen, drifted once, and was healed.
    assert.equal((await eventTypes(it)).filter((type) => type === "drifted").length, 2);
  });

  test("F31: what was deleted in the cluster is made again, also after a time without workers", async (t) => {
    await using it = await startBed(t.signal);
    const worker = it.startWorker();
    const id = await it.create(web);
    const first = await it.becomes(id, synced);
    const maps = await it.configMaps();
    await maps.delete(ref, t.signal);
    const second = await it.becomes(
      id,
      (body) => synced(body) && body.current.uid !== first.current.uid,
    );
    assert.equal(second.generation, 1);
    await worker.stop();
    await maps.delete(ref, t.signal);
    it.startWorker();
    await it.becomes(id, (body) => synced(body) && body.current.uid !== second.current.uid);
  });

  test("F25: what is paused shows its drift, and is repaired when it is resumed", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const id = await it.create(web);
    await it.becomes(id, synced);
    await it.rest.ask("POST", `/resources/${id}/pause`);
    const maps = await it.configMaps();
    await maps.patch(ref, { type: "merge", body: { data: { a: "changed" } } }, t.signal);
    await it.becomes(id, ({ status }) => status === "drifted");
    await it.rest.ask("POST", `/resources/${id}/resume`);
    await it.becomes(id, synced);
    assert.deepEqual((await it.find("ConfigMap", "web"))?.["data"], { a: "1" });
  });

  test("F29: a Secret's drift is healed, and no value of it is told", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const secret = { ...web, kind: "Secret", desired_spec: { data: { password: "cGFzcw==" } } };
    const id = await it.create({ ...secret, drift_policy: "report" });
    await it.becomes(id, synced);
    const secrets = await it.client.resource({ apiVersion: "v1", kind: "Secret" }, t.signal);
    const body = { data: { password: "c3RvbGVu" } };
    await secrets.patch(ref, { type: "merge", body, options: somebody }, t.signal);
    const drifted = await it.becomes(id, ({ status }) => status === "drifted");
    assert.deepEqual(drifted.drift, [
      { path: "/data/password", desired: null, current: null, manager: "somebody" },
    ]);
    const told = JSON.stringify([
      drifted,
      await it.rest.tables.query(`SELECT * FROM events_unnumbered`),
    ]);
    for (const value of ["cGFzcw==", "c3RvbGVu"]) assert.ok(!told.includes(value), value);
    await it.rest.ask("PUT", `/resources/${id}`, { drift_policy: "heal" });
    await it.becomes(id, synced);
    assert.deepEqual((await secrets.get(ref, t.signal))["data"], { password: "cGFzcw==" });
  });

  test("F22, F29: what a Secret was given as texts is healed and leaves like its data, and is told nowhere", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const texts = (stringData: JsonObject) => ({ desired_spec: { stringData } });
    const secret = { ...web, kind: "Secret", ...texts({ a: "swordfish", b: "sesame" }) };
    const id = await it.create({ ...secret, drift_policy: "report" });
    await it.becomes(id, synced);
    const secrets = await it.client.resource({ apiVersion: "v1", kind: "Secret" }, t.signal);
    const body = { data: { a: "c3RvbGVu" } };
    await secrets.patch(ref, { type: "merge", body, options: somebody }, t.signal);
    const drifted = await it.becomes(id, ({ status }) => status === "drifted");
    assert.deepEqual(drifted.drift, [
      { path: "/data/a", desired: null, current: null, manager: "somebody" },
    ]);
    const pathsOf = (fields: Details[]) => fields.map(({ path, cause }) => [path, cause]);
    const { body: diff } = await it.rest.ask("GET", `/resources/${id}/diff`);
    assert.deepEqual(pathsOf(diff.fields), [["/data/a", "drift"]]);
    await it.rest.ask("PUT", `/resources/${id}`, { drift_policy: "heal" });
    await it.becomes(id, synced);
    const data = async () => (await secrets.get(ref, t.signal))["data"];
    assert.deepEqual(await data(), { a: "c3dvcmRmaXNo", b: "c2VzYW1l" });

    const onlyB = texts({ b: drifted.desired_spec.stringData.b });
    const { body: trial } = await it.rest.ask("PUT", `/resources/${id}?dryRun=true`, onlyB);
    assert.deepEqual(pathsOf(trial.diff), [["/data/a", "pending"]]);
    assert.deepEqual(Object.keys(trial.result.data), ["b"]);
    await it.rest.ask("PUT", `/resources/${id}`, onlyB);
    const dropped = await it.becomes(id, (now) => synced(now) && now.generation === 2);
    assert.deepEqual(await data(), { b: "c2VzYW1l" });
    assert.deepEqual(Object.keys(dropped.desired_spec), ["stringData"]);
    const told = JSON.stringify([
      drifted,
      diff,
      trial,
      dropped,
      await it.rest.tables.query(`SELECT * FROM events_unnumbered`),
    ]);
    for (const value of ["swordfish", "sesame", "c3dvcmRmaXNo", "c2VzYW1l", "c3RvbGVu"])
      assert.ok(!told.includes(value), value);
  });

  test("F29: what kubectl keeps of a Secret in an annotation is told no more than its data", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const annotation = "kubectl.kubernetes.io/last-applied-configuration";
    const kept = (password: string) => ({
      annotations: { [annotation]: JSON.stringify({ data: { password } }) },
    });
    const desired_spec = { metadata: kept("cGFzcw=="), data: { password: "cGFzcw==" } };
    const secret = { ...web, kind: "Secret", desired_spec };
    const id = await it.create({ ...secret, drift_policy: "report" });
    await it.becomes(id, synced);
    const secrets = await it.client.resource({ apiVersion: "v1", kind: "Secret" }, t.signal);
    const body = { metadata: kept("c3RvbGVu") };
    await secrets.patch(ref, { type: "merge", body, options: somebody }, t.signal);
    const drifted = await it.becomes(id, ({ status }) => status === "drifted");
    const path = "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration";
    assert.deepEqual(drifted.drift, [{ path, desired: null, current: null, manager: "somebody" }]);
    const diff = await it.rest.ask("GET", `/resources/${id}/diff`);
    assert.deepEqual(
      diff.body.fields.map((field: Details) => [field.path, field.cause]),
      [[path, "drift"]],
    );
    const trial = await it.rest.ask("POST", `/resources/${id}/sync?dryRun=true`);
    assert.equal(trial.body.diff[0].path, path);
    const told = JSON.stringify([drifted, diff.body, trial.body]);
    for (const value of ["cGFzcw==", "c3RvbGVu"]) assert.ok(!told.includes(value), value);
  });

  test("health follows the workload, and scaling by others is no drift", async (t) => {
    await using it = await startBed(t.signal, { simulatesWorkloads: true });
    it.startWorker();
    const container = { name: "web", image: "nginx:1", ports: [{ containerPort: 80 }] };
    const id = await it.create({
      cluster_id: "prod",
      namespace: "default",
      kind: "Deployment",
      name: "web",
      desired_spec: {
        spec: {
          selector: { matchLabels: { app: "web" } },
          template: {
            metadata: { labels: { app: "web" } },
            spec: { containers: [container] },
          },
        },
      },
    });
    await it.becomes(id, (body) => synced(body) && body.health === "Healthy");
    const deployments = await it.client.resource(
      { apiVersion: "apps/v1", kind: "Deployment" },
      t.signal,
    );
    await deployments.patch(ref, { type: "merge", body: { spec: { replicas: 3 } } }, t.signal);
    await it.becomes(
      id,
      (body) => body.current?.spec.spec.replicas === 3 && body.health === "Healthy" && synced(body),
    );
    const items = [{ ...container, image: "nginx:2" }];
    const strategic = { spec: { template: { spec: { containers: items } } } };
    await deployments.patch(
      ref,
      { type: "strategic", body: strategic, options: somebody },
      t.signal,
    );
    await until(async () => (await eventTypes(it)).includes("healed"), t.signal);
    const body = await it.becomes(id, (body) => synced(body) && body.health === "Healthy");
    const [{ image }] = body.current.spec.spec.template.spec.containers;
    assert.deepEqual([image, body.current.spec.spec.replicas], ["nginx:1", 3]);
  });

  ownTest("the mark of what is simulated is no drift, on any kind", async (t) => {
    await using it = await startBed(t.signal, { simulatesWorkloads: true });
    it.startWorker();
    const labels = { app: "web" };
    const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    const containers = [{ name: "web", image: "nginx:1" }];
    const set = {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    };
    const specs = {
      StatefulSet: { serviceName: "web", ...set },
      DaemonSet: set,
      Job: { template: { spec: { containers, restartPolicy: "Never" } } },
      Service: { type: "LoadBalancer", selector: labels, ports: [{ port: 80 }] },
      Ingress: { defaultBackend: { service: { name: "web", port: { number: 80 } } } },
      PersistentVolumeClaim: claim,
    };
    for (const [kind, spec] of Object.entries(specs)) {
      const metadata = { annotations: { mine: "yes" } };
      const id = await it.create({
        cluster_id: "prod",
        namespace: "default",
        kind,
        name: "web",
        ...(kind === "PersistentVolumeClaim" ? { api_version: "v1" } : {}),
        desired_spec: { metadata, spec },
      });
      const body = await it.becomes(
        id,
        ({ status, health, current }) =>
          status === "synced" &&
          health === "Healthy" &&
          current?.spec.metadata.annotations["keelson.dev/simulated"] === "true",
      );
      assert.equal(body.current.spec.metadata.annotations.mine, "yes", kind);
    }
    const types = await eventTypes(it);
    assert.deepEqual(
      types.filter((type) => type === "drifted" || type === "healed"),
      [],
    );
  });

  test("F24: what is in a target when it goes is followed again once the target is registered anew", async (t) => {
    await using it = await startBed(t.signal);
    // It was watched by one after the other.
    await it.rest.tables.query(`UPDATE targets SET fence = 7`);
    const worker = it.startWorker();
    const id = await it.create(web);
    await it.becomes(id, synced);
    await worker.stop();
    await it.rest.tables.query(`DELETE FROM targets`);
    await it.rest.tables.query(
      `INSERT INTO targets (cluster_id, in_process) VALUES ('prod', true)`,
    );
    it.startWorker();
    await it.rest.ask("PUT", `/resources/${id}`, { desired_spec: { data: { a: "2" } } });
    const { generation } = await it.becomes(id, synced);
    assert.equal(generation, 2);
  });

  test("F44: a watcher that lost its target records nothing more", async (t) => {
    await using it = await startBed(t.signal);
    let records = 0;
    it.startWorker({
      leaseMs: 3_600_000, // It does not hear by a renewal that it has lost it.
      onStatement: ({ statement, phase }) => {
        if (statement === "recordObserved" && phase === "after") records += 1;
      },
    });
    const id = await it.create(web);
    await it.becomes(id, synced);
    const [target] = await it.rest.tables.query<{ fence: string }>(`SELECT fence FROM targets`);
    await it.rest.tables.query(
      `UPDATE targets SET lease_owner = 'another', lease_until = now() + interval '1 h', fence = fence + 1`,
    );
    await it.rest.tables.query(`UPDATE resource_current_states SET fence = fence + 1`);
    const maps = await it.configMaps();
    const before = records;
    await maps.patch(ref, { type: "merge", body: { data: { a: "changed" } } }, t.signal);
    await until(() => records > before, t.signal); // It has seen that, and tried.
    const [row] = await it.rest.tables.query(
      `SELECT drifted, fence FROM resource_current_states WHERE resource_id = $1`,
      [id],
    );
    assert.deepEqual(row, { drifted: false, fence: String(Number(target?.fence) + 1) });
  });
});
