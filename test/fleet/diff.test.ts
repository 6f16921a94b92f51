// Differences of a resource, field by field (F36).

import assert from "node:assert/strict";
import { test } from "node:test";
import { startBed, synced, type Details } from "./bed.ts";
import { clusterSuite } from "../tools/test-cluster.ts";

const labels = { app: "web" };

const deployment = (
  replicas: number,
  image: string,
  env: { name: string; value: string }[] = [],
) => ({
  spec: {
    replicas,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        containers: [
          {
            name: "web",
            image,
            env,
            ports: [{ containerPort: 80 }],
            resources: { requests: { cpu: "1000m" } },
          },
        ],
      },
    },
  },
});

const web = {
  cluster_id: "prod",
  namespace: "default",
  kind: "Deployment",
  name: "web",
  drift_policy: "report",
  desired_spec: deployment(1, "web:1", [{ name: "A", value: "1" }]),
};

const ref = { namespace: "default", name: "web" };
const container = "/spec/template/spec/containers/0";

clusterSuite("the difference of a resource", () => {
  test("F36: what is pending, what has drifted and what is another's, by path, cause and owner", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const id = await it.create(web);
    const diff = async () => (await it.rest.ask("GET", `/resources/${id}/diff`)).body;
    await it.becomes(id, synced);
    // The server has filled in much and written 1000m as 1: that is no difference.
    assert.deepEqual(await diff(), { fields: [] });

    const objects = await it.client.resource(
      { apiVersion: "apps/v1", kind: "Deployment" },
      t.signal,
    );
    const theirs = {
      metadata: { labels: { team: "shop" } },
      spec: { replicas: 3, minReadySeconds: 5 },
    };
    const options = { fieldManager: "somebody" };
    await objects.patch(ref, { type: "merge", body: theirs, options }, t.signal);
    const drifted = await it.becomes(id, ({ status }: Details) => status === "drifted");
    assert.deepEqual(drifted.drift, [
      { path: "/spec/replicas", desired: 1, current: 3, manager: "somebody" },
    ]);
    const foreign = (path: string, current: unknown) => ({
      path,
      desired: null,
      applied: null,
      current,
      owner: "somebody",
      cause: "foreign",
    });
    const changed = {
      path: "/spec/replicas",
      desired: 1,
      applied: 1,
      current: 3,
      owner: "somebody",
      cause: "drift",
    };
    const others = [foreign("/metadata/labels/team", "shop"), foreign("/spec/minReadySeconds", 5)];
    assert.deepEqual((await diff()).fields, [...others, changed]);

    await it.rest.ask("POST", `/resources/${id}/pause`);
    const desired_spec = deployment(1, "web:2", [{ name: "B", value: "2" }]);
    await it.rest.ask("PUT", `/resources/${id}`, { desired_spec });
    const pending = (path: string, [desired, applied]: readonly unknown[], current: unknown) => ({
      path: container + path,
      desired,
      applied,
      current,
      owner: current === null ? null : "kontrol",
      cause: "pending",
    });
    assert.deepEqual((await diff()).fields, [
      ...others,
      changed,
      pending("/env/0/name", [null, "A"], "A"),
      pending("/env/0/value", [null, "1"], "1"),
      pending("/env/1/name", ["B", null], null),
      pending("/env/1/value", ["2", null], null),
      pending("/image", ["web:2", "web:1"], "web:1"),
    ]);

    // Delivered, only what is another's is left.
    await it.rest.ask("POST", `/resources/${id}/resume`);
    await it.becomes(id, synced);
    assert.deepEqual((await diff()).fields, others);
    assert.equal((await it.rest.ask("GET", "/resources/999/diff")).code, 404);
  });

  test("F36: what is wanted and another holds is foreign; a Secret differs without its values", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const maps = await it.configMaps();
    const held = { apiVersion: "v1", kind: "ConfigMap", metadata: ref, data: { a: "theirs" } };
    await maps.apply(held, { fieldManager: "somebody" }, t.signal);
    const id = await it.create({
      ...web,
      kind: "ConfigMap",
      conflict_policy: "report",
      desired_spec: { data: { a: "ours", b: "ours" } },
    });
    await it.becomes(id, ({ status, current }: Details) => status === "error" && current !== null);
    const { body } = await it.rest.ask("GET", `/resources/${id}/diff`);
    assert.deepEqual(body.fields, [
      {
        path: "/data/a",
        desired: "ours",
        applied: null,
        current: "theirs",
        owner: "somebody",
        cause: "foreign",
      },
      {
        path: "/data/b",
        desired: "ours",
        applied: null,
        current: null,
        owner: null,
        cause: "pending",
      },
    ]);

    const secret = await it.create({
      ...web,
      kind: "Secret",
      name: "login",
      desired_spec: { data: { p: "b2xk", q: "c2FtZQ==" } },
    });
    await it.becomes(secret, synced);
    const secrets = await it.client.resource({ apiVersion: "v1", kind: "Secret" }, t.signal);
    const change = { data: { p: "c3RvbGVu" } };
    const options = { fieldManager: "somebody" };
    await secrets.patch(
      { namespace: "default", name: "login" },
      { type: "merge", body: change, options },
      t.signal,
    );
    await it.becomes(secret, ({ status }: Details) => status === "drifted");
    await it.rest.ask("POST", `/resources/${secret}/pause`);
    await it.rest.ask("PUT", `/resources/${secret}`, { desired_spec: { data: { p: "b2xk" } } });
    const { body: hidden } = await it.rest.ask("GET", `/resources/${secret}/diff`);
    assert.deepEqual(
      hidden.fields.map(({ path, owner, cause }: Details) => [path, owner, cause]),
      [
        ["/data/p", "somebody", "drift"],
        ["/data/q", "kontrol", "pending"],
      ],
    );
    const [{ desired, applied, current }] = hidden.fields;
    assert.match(desired, /^keelson:secret:/);
    assert.ok(desired === applied && desired !== current);
    for (const value of ["b2xk", "c2FtZQ==", "c3RvbGVu"]) {
      assert.ok(!JSON.stringify(hidden).includes(value), value);
    }
  });
});
