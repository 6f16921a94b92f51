import assert from "node:assert/strict";

import type { JsonObject } from "@keelson/base";
import { until } from "@keelson/base/testing";
import { sharedThrowawayPostgres } from "@keelson/database/testing";

import { meta, type Api, type WatchedEvent } from "../testing/api.ts";
import { eachBackend } from "../testing/each-backend.ts";
import { agent, ark, configMap, core } from "../testing/objects.ts";

const told = (events: readonly WatchedEvent[]): readonly string[] =>
  events.map((event) => `${event.type} ${meta(event, "name")}`);

async function names(api: Api, path: string): Promise<readonly string[]> {
  const { items } = (await api.get(path)).object as { items: { metadata: { name: string } }[] };
  return items.map(({ metadata }) => metadata.name);
}

/** An MCPServer with so many Tools that it owns. */
async function familyIn(api: Api, namespace: string, count: number): Promise<string> {
  const type = { apiVersion: "ark.mckinsey.com/v1alpha1" };
  const owner = await api.create(ark(namespace, "mcpservers"), {
    ...type,
    kind: "MCPServer",
    metadata: { name: "server" },
    spec: { address: { value: "http://mcp" } },
  });
  assert.equal(owner.code, 201);
  const uid = meta(owner, "uid");
  const reference = { ...type, kind: "MCPServer", name: "server", uid, blockOwnerDeletion: true };
  const tools = Array.from({ length: count }, (_, index) =>
    api.create(ark(namespace, "tools"), {
      ...type,
      kind: "Tool",
      metadata: { name: `tool-${index}`, ownerReferences: [reference] },
      spec: { type: "mcp", mcp: { mcpServerRef: { name: "server" }, toolName: "t" } },
    }),
  );
  assert.deepEqual(new Set((await Promise.all(tools)).map(({ code }) => code)), new Set([201]));
  return `${ark(namespace, "mcpservers")}/server`;
}

eachBackend(
  "deletions",
  () => sharedThrowawayPostgres("embedded"),
  (it) => {
    it("API-12 in the background: dependents follow", async ({ api, namespace }) => {
      const own = await namespace();
      const path = await familyIn(api, own, 20);
      const { code } = await api.delete(path, { propagationPolicy: "Background" });
      assert.deepEqual([code, (await api.get(path)).code], [200, 404]);
      await until(async () => (await names(api, ark(own, "tools"))).length === 0, "no tools");
    });

    it("API-12 in the foreground: dependents go first", async ({ api, namespace }) => {
      const own = await namespace();
      const revision = meta(await api.get(ark(own, "tools")), "resourceVersion");
      const path = await familyIn(api, own, 20);
      const { object } = await api.delete(path, { propagationPolicy: "Foreground" });
      assert.deepEqual((object["metadata"] as JsonObject)["finalizers"], ["foregroundDeletion"]);
      await until(async () => (await api.get(path)).code === 404, "the owner is gone");
      assert.deepEqual(await names(api, ark(own, "tools")), []);
      const last = async (plural: string, count: number): Promise<number> => {
        using watch = await api.watch(`${ark(own, plural)}?watch=1&resourceVersion=${revision}`);
        const events = await watch.take(count);
        assert.equal(events.at(-1)?.type, "DELETED");
        return Number(meta(events.at(-1) ?? { object: {} }, "resourceVersion"));
      };
      // ADDED and DELETED of each; of the owner also the mark.
      assert.ok((await last("tools", 40)) < (await last("mcpservers", 3)));
    });

    it("API-12 as orphans: dependents remain", async ({ api, namespace }) => {
      const own = await namespace();
      const path = await familyIn(api, own, 20);
      await api.delete(path, { propagationPolicy: "Orphan" });
      await until(async () => (await api.get(path)).code === 404, "the owner is gone");
      const { items } = (await api.get(ark(own, "tools"))).object as { items: JsonObject[] };
      assert.deepEqual(
        items.map((object) => (object["metadata"] as JsonObject)["ownerReferences"]),
        Array.from({ length: 20 }, () => undefined),
      );
    });

    it("API-13 wait for finalizers, say so once, and end in one event", async ({
      api,
      namespace,
    }) => {
      const agents = ark(await namespace(), "agents");
      const metadata = { finalizers: ["example.com/a", "example.com/b"] };
      const created = await api.create(agents, agent("a", { metadata }));
      using watch = await api.watch(
        `${agents}?watch=1&resourceVersion=${meta(created, "resourceVersion")}`,
      );
      const marked = await api.delete(`${agents}/a`);
      const { deletionTimestamp, deletionGracePeriodSeconds, generation } = marked.object[
        "metadata"
      ] as JsonObject;
      assert.equal(marked.code, 200);
      assert.ok(typeof deletionTimestamp === "string");
      assert.deepEqual([deletionGracePeriodSeconds, generation], [0, 2]);
      const again = await api.delete(`${agents}/a`);
      assert.deepEqual(again.object, marked.object);
      const refused = await api.merge(`${agents}/a`, {
        metadata: { finalizers: [...metadata.finalizers, "example.com/c"] },
      });
      assert.equal(refused.code, 422);
      await api.merge(`${agents}/a`, { metadata: { finalizers: ["example.com/b"] } });
      const last = await api.merge(`${agents}/a`, { metadata: { finalizers: null } });
      assert.equal(last.code, 200);
      await api.create(agents, agent("mark"));
      assert.deepEqual(told(await watch.take(4)), [
        "MODIFIED a",
        "MODIFIED a",
        "DELETED a",
        "ADDED mark",
      ]);
    });

    it("API-14 of a collection take what is selected", async ({ api, namespace }) => {
      const agents = ark(await namespace(), "agents");
      const created = Array.from({ length: 50 }, (_, index) =>
        api.create(agents, agent(`a-${index}`, { labels: { team: index % 2 === 0 ? "x" : "y" } })),
      );
      await Promise.all(created);
      const { code } = await api.send("DELETE", `${agents}?labelSelector=team%3Dx`);
      assert.equal(code, 200);
      const left = await names(api, agents);
      assert.deepEqual(
        [left.length, left.every((name) => Number(name.slice(2)) % 2 === 1)],
        [25, true],
      );
      await api.send("DELETE", `${agents}?limit=5`);
      assert.equal((await names(api, agents)).length, 20);
    });

    it("KB 35 compare what they expect inside the transaction", async ({ api, namespace }) => {
      const maps = core(await namespace(), "configmaps");
      const first = await api.create(maps, configMap("a"));
      await api.delete(`${maps}/a`);
      const second = await api.create(maps, configMap("a"));
      const uid = meta(first, "uid");
      const refused = await api.delete(`${maps}/a`, { preconditions: { uid } });
      assert.deepEqual(
        [refused.code, refused.object["message"]],
        [
          409,
          `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (${uid}) does not match the UID in record (${meta(second, "uid")}). The object might have been deleted and then recreated`,
        ],
      );
      const resourceVersion = meta(second, "resourceVersion");
      await api.merge(`${maps}/a`, { data: { k: "v" } });
      const late = await api.delete(`${maps}/a`, { preconditions: { resourceVersion } });
      assert.equal(late.code, 409);
      // Of many who delete one state of it, one has it.
      const current = meta(await api.get(`${maps}/a`), "resourceVersion");
      const all = await Promise.all(
        Array.from({ length: 10 }, () =>
          api.delete(`${maps}/a`, { preconditions: { resourceVersion: current } }),
        ),
      );
      assert.deepEqual(
        all.map(({ code }) => code).toSorted((a, b) => a - b),
        [200, ...Array.from({ length: 9 }, () => 404)],
      );
    });

    it("KB §4 of a pod that is given more time than can be counted name a time that every client can read", async ({
      api,
      namespace,
    }) => {
      const pods = core(await namespace(), "pods");
      for (const [index, seconds] of ["253402300800", "9007199254740991"].entries()) {
        const name = `p-${index}`;
        await api.create(pods, {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name },
          spec: { nodeName: "n", containers: [{ name: "c", image: "i" }] },
        });
        const deleted = await api.send("DELETE", `${pods}/${name}?gracePeriodSeconds=${seconds}`);
        assert.equal(deleted.code, 200);
        assert.match(meta(deleted, "deletionTimestamp"), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      }
    });

    it("KB §4 of a pod take a time of 64 bits, wherever it is said", async ({ api, namespace }) => {
      const pods = core(await namespace(), "pods");
      const seconds = 2n ** 55n + 3001n;
      const cases: [string, JsonObject, JsonObject | undefined][] = [
        ["", {}, { gracePeriodSeconds: seconds }],
        [`?gracePeriodSeconds=${seconds}`, {}, undefined],
        ["", { terminationGracePeriodSeconds: seconds }, undefined],
      ];
      for (const [index, [query, spec, body]] of cases.entries()) {
        const path = `${pods}/p-${index}`;
        await api.create(pods, {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: `p-${index}` },
          spec: { nodeName: "n", containers: [{ name: "c", image: "i" }], ...spec },
        });
        const grace = async (more?: JsonObject): Promise<unknown> => {
          const { object } = await api.delete(`${path}${query}`, more);
          return (object["metadata"] as JsonObject)["deletionGracePeriodSeconds"];
        };
        assert.equal(await grace(body), seconds);
        // Nothing that is kept for its time goes with a write.
        const labels = { metadata: { labels: { a: "b" } } };
        const headers = { "content-type": "application/merge-patch+json" };
        assert.equal((await api.send("PATCH", path, { body: labels, headers })).code, 200);
        assert.equal((await api.get(path)).code, 200);
        assert.equal(await grace({ gracePeriodSeconds: seconds - 1n }), seconds - 1n);
        assert.equal(await grace({ gracePeriodSeconds: -5 }), 1);
        const { code } = await api.delete(path, { gracePeriodSeconds: 1e21 });
        assert.equal(code, 400);
      }
    });

    it("KB §4 of a pod that runs give it time, which only ever gets shorter", async ({
      api,
      namespace,
    }) => {
      const pods = core(await namespace(), "pods");
      const pod = (name: string, nodeName?: string): JsonObject => ({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name },
        spec: {
          ...(nodeName === undefined ? {} : { nodeName }),
          terminationGracePeriodSeconds: 30,
          containers: [{ name: "c", image: "i" }],
        },
      });
      assert.equal((await api.create(pods, pod("waiting"))).code, 201);
      await api.delete(`${pods}/waiting`);
      assert.equal((await api.get(`${pods}/waiting`)).code, 404);
      await api.create(pods, pod("running", "node"));
      const grace = async (body?: JsonObject): Promise<unknown> => {
        const { object } = await api.delete(`${pods}/running`, body);
        return (object["metadata"] as JsonObject)["deletionGracePeriodSeconds"];
      };
      assert.deepEqual(
        [
          await grace(),
          await grace({ gracePeriodSeconds: 60 }),
          await grace({ gracePeriodSeconds: 10 }),
        ],
        [30, 30, 10],
      );
      await grace({ gracePeriodSeconds: 0 });
      assert.equal((await api.get(`${pods}/running`)).code, 404);
    });
  },
);
