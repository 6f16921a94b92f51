// How things end (6.1, F37 to F42): deletions that wait, successors, what comes back, what was never begun.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { DynamicObject } from "@keelson/client";
import { until } from "../tools/until.ts";
import { applied, definitionOf, startBed, synced, web, type Bed, type Details } from "./bed.ts";
import { clusterSuite } from "../tools/test-cluster.ts";

const ref = { namespace: "default", name: "web" };

function conditionOf(body: Details, type: string) {
  const all = (body.conditions ?? []) as {
    type: string;
    status: string;
    reason: string;
    message: string;
  }[];
  return all.find((one) => one.type === type);
}

/** The request that made a ConfigMap, with its marks, for once more. */
function sentAgain(made: DynamicObject) {
  const { metadata, data } = made as DynamicObject & { data: object };
  const { annotations = {} } = metadata;
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { ...ref, annotations },
    data: { ...data },
  };
}

/** Which events told of a row, with their reasons. */
async function eventsOf(it: Bed, id: number): Promise<readonly string[]> {
  const rows = await it.rest.tables.query<{ told: string }>(
    `SELECT concat_ws(' ', replace(type, 'resource.', ''), data->>'reason') AS told
     FROM events_unnumbered WHERE resource_id = $1 ORDER BY id`,
    [id],
  );
  return rows.map(({ told }) => told);
}

clusterSuite("how things end", () => {
  test("F37: a successor waits until its predecessor is gone, and the old deletion leaves it alone", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const old = await it.create(web);
    await it.becomes(old, applied(1));
    const maps = await it.configMaps();
    const object = await maps.get(ref, t.signal);
    const held = await maps.addFinalizer(object, "example.com/hold", t.signal);
    assert.ok(held);
    await it.rest.ask("DELETE", `/resources/${old}`);
    assert.equal((await it.rest.ask("DELETE", `/resources/${old}`)).code, 202);
    const next = await it.create({ ...web, desired_spec: { data: { b: "2" } } });
    const waiting = await it.becomes(
      next,
      (body) => conditionOf(body, "Waiting")?.status === "True",
    );
    assert.match(conditionOf(waiting, "Waiting")?.message ?? "", new RegExp(`resource ${old},`));
    assert.deepEqual([waiting.status, waiting.last_error], ["pending", null]);
    assert.deepEqual((await maps.get(ref, t.signal))["data"], { a: "1" });
    await maps.removeFinalizer(held, "example.com/hold", t.signal);
    const arrived = await it.becomes(next, synced);
    assert.equal(conditionOf(arrived, "Waiting")?.status, "False");
    const made = await maps.get(ref, t.signal);
    assert.notEqual(made.metadata.uid, object.metadata.uid);
    assert.deepEqual(made["data"], { b: "2" });
    assert.equal((await it.rest.ask("GET", `/resources/${old}`)).code, 404);
    const told = await eventsOf(it, old);
    assert.deepEqual([told.includes("deleting"), told.at(-1)], [true, "deleted Deleted"]);
  });

  test("6.1: what was only seen is not ours, and survives the deletion of a row that never got it", async (t) => {
    await using it = await startBed(t.signal);
    const maps = await it.configMaps();
    const theirs: DynamicObject = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "web", namespace: "default" },
      data: { a: "theirs" },
    };
    await maps.apply(theirs, { fieldManager: "them" }, t.signal);
    it.startWorker();
    const id = await it.create({ ...web, conflict_policy: "report" });
    await it.becomes(id, (body) => body.status === "error" && body.current !== null);
    await it.rest.ask("DELETE", `/resources/${id}`);
    await it.goes(id);
    assert.deepEqual((await maps.get(ref, t.signal))["data"], { a: "theirs" });
    assert.deepEqual((await eventsOf(it, id)).at(-1), "deleted NotOurs");
  });

  test("6.1: an apply that arrives after the purge is taken back; one of a living key is healed", async (t) => {
    await using it = await startBed(t.signal);
    const first = it.startWorker();
    const maps = await it.configMaps();
    const id = await it.create(web);
    await it.becomes(id, synced);
    const late = sentAgain(await maps.get(ref, t.signal));
    const applyLate = () => maps.apply(late, { fieldManager: "kontrol", force: true }, t.signal);
    await it.rest.ask("DELETE", `/resources/${id}`);
    await it.goes(id);
    await applyLate();
    await until(async () => (await maps.find(ref, t.signal)) === undefined, t.signal);
    // Also where nothing of its kind is wanted any more, and the worker is another.
    await first.stop();
    await applyLate();
    it.startWorker();
    await until(async () => (await maps.find(ref, t.signal)) === undefined, t.signal);
    // A copy by another hand is none of ours.
    await maps.apply(late, { fieldManager: "them" }, t.signal);
    const next = await it.create({ ...web, desired_spec: { data: { b: "2" } } });
    await it.becomes(next, synced);
    await applyLate();
    await until(async () => (await eventsOf(it, next)).includes("healed"), t.signal);
    const healed = await it.becomes(next, synced);
    assert.equal(healed.generation, 1);
    const { annotations: marks } = (await maps.get(ref, t.signal)).metadata;
    assert.equal(marks?.["kontrol/resource-id"], String(next));
  });

  test("6.1: an apply that arrives in the moment of the purge is taken back, too", async (t) => {
    let atPurge: (() => Promise<void>) | undefined;
    await using it = await startBed(t.signal, {
      onStatement: async ({ statement, phase }) => {
        if (statement !== "purgeDeleted" || phase !== "before") return;
        const now = atPurge;
        atPurge = undefined;
        await now?.();
      },
    });
    it.startWorker();
    const maps = await it.configMaps();
    const id = await it.create(web);
    await it.becomes(id, synced);
    const late = sentAgain(await maps.get(ref, t.signal));
    atPurge = async () => {
      const made = await maps.apply(late, { fieldManager: "kontrol", force: true }, t.signal);
      // It was seen while its row was there, and nothing of it will be heard again.
      await it.becomes(id, ({ current }) => current?.uid === made.metadata.uid);
    };
    await it.rest.ask("DELETE", `/resources/${id}`);
    await it.goes(id);
    assert.equal(atPurge, undefined);
    await it.create({ ...web, name: "other" }); // What a worker is woken by.
    await until(async () => (await maps.find(ref, t.signal)) === undefined, t.signal);
  });

  test("F28: deleting a row whose kind has vanished says so", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const group = "gone.example.com";
    const definition = await it.create(definitionOf(group, "Gadget", "gadgetry"));
    const gadget = {
      cluster_id: "prod",
      namespace: "default",
      kind: "Gadget",
      api_version: `${group}/v1`,
      desired_spec: { spec: { size: 1 } },
    };
    const [one, two] = [
      await it.create({ ...gadget, name: "one" }),
      await it.create({ ...gadget, name: "two" }),
    ];
    for (const id of [one, two]) await it.becomes(id, synced);
    // The kind goes while they are paused: nobody makes them again.
    for (const id of [one, two]) await it.rest.ask("POST", `/resources/${id}/pause`);
    await it.rest.ask("DELETE", `/resources/${definition}`);
    await it.goes(definition);
    for (const id of [one, two]) await it.rest.ask("DELETE", `/resources/${id}`);
    await it.rest.tables.query(`UPDATE resources SET paused = false`);
    for (const id of [one, two]) {
      await it.goes(id);
      assert.deepEqual((await eventsOf(it, id)).at(-1), "deleted KindNotServed");
    }
  });

  test("6.1: what is served in another version than the row's is deleted in that", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const container = { name: "c", image: "i" };
    const template = { metadata: { labels: { app: "web" } }, spec: { containers: [container] } };
    const id = await it.create({
      ...web,
      kind: "Deployment",
      desired_spec: { spec: { selector: { matchLabels: { app: "web" } }, template } },
    });
    await it.becomes(id, synced);
    await it.rest.ask("PUT", `/resources/${id}`, { api_version: "apps/v1beta1" });
    await it.becomes(id, ({ last_error }) => last_error?.class === "no-kind");
    const trial = await it.rest.ask("DELETE", `/resources/${id}?dryRun=true`);
    assert.deepEqual([trial.code, trial.body.warnings], [200, []], JSON.stringify(trial.body));
    await it.rest.ask("DELETE", `/resources/${id}`);
    await it.goes(id);
    assert.equal(await it.find("Deployment", "web", "apps/v1"), undefined);
    assert.equal((await eventsOf(it, id)).at(-1), "deleted Deleted");
  });

  test("6.1: what its definition serves in another version by now is deleted in that", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const group = "moved.example.com";
    const first = definitionOf(group, "Gadget", "gadgetry") as Details;
    const { spec } = first.desired_spec;
    const [v1] = spec.versions;
    const definition = await it.create(first);
    const gadget = {
      cluster_id: "prod",
      namespace: "default",
      kind: "Gadget",
      name: "one",
      api_version: `${group}/v1`,
      desired_spec: { spec: { size: 1 } },
    };
    const id = await it.create(gadget);
    await it.becomes(id, synced);
    const versions = [
      { ...v1, served: false },
      { ...v1, name: "v2", storage: false },
    ];
    await it.rest.ask("PUT", `/resources/${definition}`, {
      desired_spec: { spec: { ...spec, versions } },
    });
    const isServed = async (version: string) => {
      it.client.kinds.invalidate();
      const kind = { apiVersion: `${group}/${version}`, kind: "Gadget" };
      return it.client.resource(kind, t.signal).then(
        () => true,
        () => false,
      );
    };
    await until(async () => (await isServed("v2")) && !(await isServed("v1")), t.signal);
    assert.ok((await it.find("Gadget", "one", `${group}/v2`)) !== undefined);
    await it.rest.ask("DELETE", `/resources/${id}`);
    await it.goes(id);
    assert.equal(await it.find("Gadget", "one", `${group}/v2`), undefined);
    assert.equal((await eventsOf(it, id)).at(-1), "deleted Deleted");
  });

  test("a row of a kind of which nothing is kept can go", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const id = await it.create({
      cluster_id: "prod",
      kind: "SelfSubjectReview",
      name: "me",
      api_version: "authentication.k8s.io/v1",
      desired_spec: {},
    });
    await it.becomes(id, ({ status }) => status === "error");
    await it.rest.ask("DELETE", `/resources/${id}`);
    await it.goes(id);
    assert.equal((await eventsOf(it, id)).at(-1), "deleted NeverApplied");
  });

  test("what no cluster has ever taken can go, and a trial of that says so", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const group = "gadgets.example.com";
    await it.becomes(await it.create(definitionOf(group, "Gadget", "gadgetry")), synced);
    const body = { cluster_id: "prod", name: "one", desired_spec: {} };
    for (const kind of [
      { kind: "SelfSubjectReview", api_version: "authentication.k8s.io/v1" }, // Answered, and never kept.
      { kind: "Gizmo", api_version: `${group}/v1` }, // Not served.
      { kind: "Gadget", api_version: `${group}/v1` }, // It lives in namespaces.
    ]) {
      const id = await it.create({ ...body, ...kind });
      await it.becomes(id, ({ status }) => status === "error");
      for (const query of ["dryRun=true", "dryRun=true&orphan=true"]) {
        const trial = await it.rest.ask("DELETE", `/resources/${id}?${query}`);
        assert.deepEqual([trial.code, trial.body.result], [200, null], JSON.stringify(trial.body));
      }
      await it.rest.ask("DELETE", `/resources/${id}`);
      await it.goes(id);
    }
  });

  test("what cannot be changed is made anew under recreate, and told under report", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const fixed = (a: string) => ({ desired_spec: { immutable: true, data: { a } } });
    const id = await it.create({ ...web, ...fixed("1") });
    const { current } = await it.becomes(id, synced);
    await it.rest.ask("PUT", `/resources/${id}`, fixed("2"));
    const stuck = await it.becomes(id, ({ status }) => status === "error");
    assert.equal(stuck.last_error.class, "immutable");
    const maps = await it.configMaps();
    const held = await maps.addFinalizer(
      await maps.get(ref, t.signal),
      "example.com/hold",
      t.signal,
    );
    assert.ok(held);
    await it.rest.ask("PUT", `/resources/${id}`, { immutable_policy: "recreate" });
    const waiting = await it.becomes(id, (body) =>
      (conditionOf(body, "Waiting")?.message ?? "").includes("example.com/hold"),
    );
    assert.equal(waiting.status, "out-of-sync");
    const isSentAway = async () =>
      (
        await it.rest.tables.query(
          `SELECT deleted_at IS NOT NULL AS is FROM resource_applied_states`,
        )
      )[0]?.["is"];
    assert.equal(await isSentAway(), true);
    await maps.removeFinalizer(held, "example.com/hold", t.signal);
    const anew = await it.becomes(id, (body) => synced(body) && body.generation === 2);
    assert.equal(await isSentAway(), false);
    assert.notEqual(anew.current.uid, current.uid);
    assert.deepEqual(anew.current.spec.data, { a: "2" });
  });

  test("what is deleted to be made anew is made again, also under drift_policy report and a rollback in between", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const fixed = (a: string) => ({ desired_spec: { immutable: true, data: { a } } });
    const policies = { immutable_policy: "recreate", drift_policy: "report" };
    const id = await it.create({ ...web, ...policies, ...fixed("1") });
    const { current } = await it.becomes(id, synced);
    const maps = await it.configMaps();
    const held = await maps.addFinalizer(
      await maps.get(ref, t.signal),
      "example.com/hold",
      t.signal,
    );
    assert.ok(held);
    await it.rest.ask("PUT", `/resources/${id}`, fixed("2"));
    await it.becomes(id, (body) => conditionOf(body, "Waiting")?.status === "True");
    await it.rest.ask("PUT", `/resources/${id}`, { revision: 1 });
    await it.becomes(id, applied(3));
    await maps.removeFinalizer(held, "example.com/hold", t.signal);
    const anew = await it.becomes(
      id,
      (body) => synced(body) && body.current.uid !== current.uid && body.current.uid !== null,
    );
    assert.deepEqual([anew.generation, anew.current.spec.data], [3, { a: "1" }]);
    // What others remove is only shown.
    await maps.delete(ref, t.signal);
    await it.becomes(id, ({ status }) => status === "drifted");
    const query = `SELECT due_at FROM resource_attempts`;
    assert.deepEqual(await it.rest.tables.query(query), [{ due_at: null }]);
  });

  test("what is wrong besides is not made anew under recreate: nothing would take its place", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const deployment = (app: string, container: string) => ({
      desired_spec: {
        spec: {
          selector: { matchLabels: { app } },
          template: {
            metadata: { labels: { app } },
            spec: { containers: [{ name: container, image: "i" }] },
          },
        },
      },
    });
    const id = await it.create({
      ...web,
      kind: "Deployment",
      immutable_policy: "recreate",
      ...deployment("web", "c"),
    });
    const { current } = await it.becomes(id, synced);
    await it.rest.ask("PUT", `/resources/${id}`, deployment("other", "BAD_NAME"));
    // Whatever is done about it, it ends as this: what was deleted could not be made again.
    const told = await it.becomes(id, ({ last_error }) => last_error?.class === "invalid");
    const { message } = told.last_error;
    assert.deepEqual([/immutable/.test(message), /BAD_NAME/.test(message)], [true, true]);
    const kept = await it.find("Deployment", "web", "apps/v1");
    assert.equal(kept?.metadata.uid, current.uid);
    assert.equal(kept?.metadata.deletionTimestamp, undefined);
    await it.rest.ask("PUT", `/resources/${id}`, deployment("other", "c"));
    const anew = await it.becomes(id, (body) => synced(body) && body.generation === 3);
    assert.notEqual(anew.current.uid, current.uid);
  });

  test("a RoleBinding that points elsewhere is made anew under recreate", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const to = (name: string) => ({
      desired_spec: {
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
        subjects: [{ kind: "ServiceAccount", name: "default", namespace: "default" }],
      },
    });
    const id = await it.create({
      ...web,
      kind: "RoleBinding",
      api_version: "rbac.authorization.k8s.io/v1",
      immutable_policy: "recreate",
      ...to("view"),
    });
    const { current } = await it.becomes(id, synced);
    await it.rest.ask("PUT", `/resources/${id}`, to("edit"));
    const anew = await it.becomes(id, (body) => synced(body) && body.generation === 2);
    assert.notEqual(anew.current.uid, current.uid);
    assert.equal(anew.current.spec.roleRef.name, "edit");
  });

  test("F39: a Job takes its pods along", async (t) => {
    await using it = await startBed(t.signal, { simulatesWorkloads: true });
    it.startWorker();
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
    const id = await it.create({
      cluster_id: "prod",
      namespace: "default",
      kind: "Job",
      name: "once",
      desired_spec: { spec: { template } },
    });
    const pods = await it.client.resource({ apiVersion: "v1", kind: "Pod" }, t.signal);
    const ofJob = async () => (await pods.list({ labelSelector: "job-name=once" }, t.signal)).items;
    await until(async () => (await ofJob()).length > 0, t.signal);
    await it.rest.ask("DELETE", `/resources/${id}`);
    await it.goes(id);
    await until(async () => (await ofJob()).length === 0, t.signal);
  });

  test("a row deleted by SQL is forgotten, and its object stays", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const id = await it.create(web);
    await it.becomes(id, synced);
    await it.rest.tables.query(`DELETE FROM resources WHERE id = $1`, [id]);
    const other = await it.create({ ...web, name: "other" });
    await it.becomes(other, synced);
    assert.ok((await it.find("ConfigMap", "web")) !== undefined);
    assert.equal((await eventsOf(it, id)).at(-1), "deleted Forgotten");
  });
});
