// Generations, revisions and versions as the cluster sees them (F13, F14, F16).

import assert from "node:assert/strict";
import { test } from "node:test";
import { applied, definitionOf, startBed, synced, web, type Details } from "./bed.ts";
import { clusterSuite } from "../tools/test-cluster.ts";
import { data } from "./resource-fixture.ts";

clusterSuite("what is restored, in the cluster", () => {
  test("F13, F14: an old spec is applied again, and its annotations say which generation and revision", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const id = await it.create(web);
    const inCluster = async () => {
      const object = await it.find("ConfigMap", "web");
      const { annotations = {} } = object?.metadata ?? {};
      return [object?.["data"], annotations["kontrol/generation"], annotations["kontrol/revision"]];
    };
    const put = async (body: object, generation: number) => {
      assert.equal((await it.rest.ask("PUT", `/resources/${id}`, body as never)).code, 200);
      await it.becomes(id, applied(generation));
      return inCluster();
    };
    await it.becomes(id, applied(1));
    assert.deepEqual(await put(data("2"), 2), [{ a: "2" }, "2", "2"]);
    assert.deepEqual(await put({ ...data("1"), revision: 1 }, 3), [{ a: "1" }, "3", "1"]);
    assert.deepEqual(await put({ revision: 2 }, 4), [{ a: "2" }, "4", "2"]);
    const shown = await it.becomes(id, synced);
    assert.deepEqual([shown.current.generation, shown.current.revision], [4, 2]);
  });

  test("F16: another version alone is another generation, and is applied at that version", async (t) => {
    await using it = await startBed(t.signal);
    it.startWorker();
    const group = "versions.example.com";
    const definition = definitionOf(group, "Gizmo", "gizmology") as Details;
    const [version] = definition.desired_spec.spec.versions;
    const spec = { ...definition.desired_spec.spec };
    spec.versions = [version, { ...version, name: "v2", storage: false }];
    await it.create({ ...definition, desired_spec: { spec } });
    const gizmo = { ...web, kind: "Gizmo", desired_spec: { spec: { size: 1 } } };
    const id = await it.create({ ...gizmo, api_version: `${group}/v1` });
    await it.becomes(id, synced);
    const appliedAt = async () => {
      const object = await it.find("Gizmo", "web", `${group}/v1`);
      const ours = object?.metadata.managedFields?.find(({ manager }) => manager === "kontrol");
      return [ours?.apiVersion, object?.metadata.annotations?.["kontrol/generation"]];
    };
    assert.deepEqual(await appliedAt(), [`${group}/v1`, "1"]);
    const { body } = await it.rest.ask("PUT", `/resources/${id}`, { api_version: `${group}/v2` });
    assert.equal(body.generation, 2);
    await it.becomes(id, (now) => applied(2)(now) && now.status === "synced");
    assert.deepEqual(await appliedAt(), [`${group}/v2`, "2"]);
  });
});
