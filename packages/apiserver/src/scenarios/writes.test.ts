import assert from "node:assert/strict";

import type { JsonObject } from "@keelson/base";
import { until } from "@keelson/base/testing";
import { sharedThrowawayPostgres } from "@keelson/database/testing";

import { messageOf, meta, type Reply } from "../testing/api.ts";
import { eachBackend } from "../testing/each-backend.ts";
import { agent, ark, configMap, core, query } from "../testing/objects.ts";

/** What identifies a state of an object. */
const state = (reply: Reply): readonly string[] => [
  meta(reply, "resourceVersion"),
  meta(reply, "generation"),
];

eachBackend(
  "writes",
  () => sharedThrowawayPostgres("embedded"),
  (it) => {
    it("API-3 what is applied twice stays as it is", async ({ api, store, namespace }, t) => {
      const agents = ark(await namespace(), "agents");
      const first = await api.apply(`${agents}/a`, agent("a"), "kubectl");
      assert.equal(first.code, 201);
      const head = await store.head(t.signal);
      const second = await api.apply(`${agents}/a`, agent("a"), "kubectl");
      assert.deepEqual([second.code, second.object], [200, first.object]);
      const lastApplied = {
        annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}" },
      };
      const patched = await api.merge(`${agents}/a`, { metadata: lastApplied });
      const again = await api.merge(`${agents}/a`, {
        metadata: lastApplied,
        spec: { prompt: "p" },
      });
      assert.deepEqual(again.object, patched.object);
      assert.equal(await store.head(t.signal), head + 1);
    });

    it("KB 33 an object grows by its patches up to a bound, and may always be made smaller", async ({
      api,
      namespace,
    }) => {
      const path = `${ark(await namespace(), "queries")}/q`;
      const text = "x".repeat(2_900_000);
      const answer = { status: { response: { raw: text } } };
      await api.create(path.slice(0, -2), query("q"));
      await api.merge(path, { spec: { input: text } });
      const grown = await api.merge(path, { spec: { sessionId: text } });
      assert.equal(grown.code, 200, messageOf(grown));
      const refused = await api.merge(`${path}/status`, answer);
      assert.equal(refused.code, 413);
      assert.match(
        messageOf(refused),
        /^Request entity too large: the object would have 87\d{5} characters, limit is 8388608$/,
      );
      assert.deepEqual((await api.get(path)).object, grown.object);
      assert.equal((await api.merge(path, { spec: { sessionId: null } })).code, 200);
      assert.equal((await api.merge(`${path}/status`, answer)).code, 200);
    });

    it("API-4 a replace without the status leaves it alone", async ({ api, namespace }) => {
      const queries = ark(await namespace(), "queries");
      await api.create(queries, query("q"));
      const status = { phase: "done", duration: "3s" };
      await api.merge(`${queries}/q/status`, { status });
      const { status: _, ...rest } = (await api.get(`${queries}/q`)).object;
      const replaced = await api.update(`${queries}/q`, rest);
      assert.deepEqual([replaced.code, replaced.object["status"]], [200, status]);
    });

    it("API-5 a patch of the status changes the status alone", async ({ api, namespace }) => {
      const queries = ark(await namespace(), "queries");
      const created = await api.create(queries, query("q"));
      const patched = await api.merge(`${queries}/q/status`, {
        metadata: { labels: { sneaked: "in" } },
        spec: { input: "changed" },
        status: { phase: "running" },
      });
      assert.equal(patched.code, 200);
      assert.deepEqual(patched.object["spec"], created.object["spec"]);
      assert.deepEqual(patched.object["status"], { phase: "running" });
      assert.deepEqual(
        [meta(patched, "generation"), (patched.object["metadata"] as JsonObject)["labels"]],
        ["1", undefined],
      );
      const sneaked = await api.merge(`${queries}/q`, { status: { phase: "error" } });
      assert.deepEqual(sneaked.object, patched.object);
    });

    it("API-6 a label moves the revision, a prompt the generation too", async ({
      api,
      namespace,
    }) => {
      const agents = ark(await namespace(), "agents");
      const created = await api.create(agents, agent("a"));
      const labelled = await api.merge(`${agents}/a`, { metadata: { labels: { a: "b" } } });
      const prompted = await api.merge(`${agents}/a`, { spec: { prompt: "new" } });
      assert.deepEqual(
        [created, labelled, prompted].map((reply) => meta(reply, "generation")),
        ["1", "1", "2"],
      );
      const [first, second, third] = [created, labelled, prompted].map((reply) =>
        Number(state(reply)[0]),
      );
      assert.ok(Number(first) < Number(second) && Number(second) < Number(third));
    });

    it("API-8 a dry run defaults, names and numbers, and stores nothing", async ({
      api,
      store,
      namespace,
    }, t) => {
      const own = await namespace();
      const agents = ark(own, "agents");
      const head = await store.head(t.signal);
      const { modelRef: _, ...spec } = agent("a").spec;
      const tried = await api.send("POST", `${agents}?dryRun=All`, {
        body: { ...agent("a"), spec },
      });
      assert.equal(tried.code, 201);
      assert.deepEqual([meta(tried, "resourceVersion"), meta(tried, "uid").length], ["", 36]);
      const applied = await api.apply(`${agents}/b`, agent("b"), "kubectl", "&dryRun=All");
      assert.deepEqual([applied.code, meta(applied, "resourceVersion")], [201, ""]);
      const service = {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "s" },
        spec: { type: "NodePort", ports: [{ port: 80 }] },
      };
      const served = await api.send("POST", `${core(own, "services")}?dryRun=All`, {
        body: service,
      });
      assert.equal(served.code, 201);
      assert.deepEqual(
        [(await api.get(`${agents}/a`)).code, await store.head(t.signal)],
        [404, head],
      );
      const created = await api.create(agents, agent("a"));
      const changed = await api.send("PATCH", `${agents}/a?dryRun=All`, {
        body: { spec: { prompt: "other" } },
        headers: { "content-type": "application/merge-patch+json" },
      });
      assert.deepEqual(
        [state(changed), (changed.object["spec"] as JsonObject)["prompt"]],
        [[meta(created, "resourceVersion"), "2"], "other"],
      );
      const gone = await api.send("DELETE", `${agents}/a?dryRun=All`);
      const all = await api.send("DELETE", `${agents}?dryRun=All`);
      assert.deepEqual([gone.code, all.code], [200, 200]);
      assert.deepEqual((await api.get(`${agents}/a`)).object, created.object);
    });

    it("API-9 fields have owners, who keep them over a restart", async (bed) => {
      const agents = ark(await bed.namespace(), "agents");
      const of = (prompt: string, description?: string): JsonObject => ({
        ...agent("a"),
        spec: { prompt, ...(description === undefined ? {} : { description }) },
      });
      assert.equal((await bed.api.apply(`${agents}/a`, of("one", "mine"), "A")).code, 201);
      await bed.restart();
      const refused = await bed.api.apply(`${agents}/a`, of("two"), "B");
      assert.deepEqual(
        [refused.code, refused.object["message"]],
        [409, 'Apply failed with 1 conflict: conflict with "A": .spec.prompt'],
      );
      const forced = await bed.api.apply(`${agents}/a`, of("two"), "B", "&force=true");
      assert.equal(forced.code, 200);
      const dropped = await bed.api.apply(`${agents}/a`, of("two"), "A");
      assert.deepEqual(
        [dropped.code, (dropped.object["spec"] as JsonObject)["description"]],
        [200, undefined],
      );
    });

    it("API-10 a strategic merge is for kinds that we know by heart", async ({
      api,
      namespace,
    }) => {
      const own = await namespace();
      const strategic = { "content-type": "application/strategic-merge-patch+json" };
      await api.create(ark(own, "agents"), agent("a"));
      const refused = await api.send("PATCH", `${ark(own, "agents")}/a`, {
        body: { spec: { prompt: "x" } },
        headers: strategic,
      });
      assert.equal(refused.code, 415);
      const container = (name: string, image: string): JsonObject => ({ name, image });
      const deployments = `/apis/apps/v1/namespaces/${own}/deployments`;
      await api.create(deployments, {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "d" },
        spec: {
          selector: { matchLabels: { app: "d" } },
          template: {
            metadata: { labels: { app: "d" } },
            spec: { containers: [container("a", "a:1"), container("b", "b:1")] },
          },
        },
      });
      const patched = await api.send("PATCH", `${deployments}/d`, {
        body: { spec: { template: { spec: { containers: [container("b", "b:2")] } } } },
        headers: strategic,
      });
      const { spec } = patched.object as {
        spec: { template: { spec: { containers: { name: string; image: string }[] } } };
      };
      assert.deepEqual(
        spec.template.spec.containers.map(({ name, image }) => `${name} ${image}`).sort(),
        ["a a:1", "b b:2"],
      );
    });

    it("API-11 nothing is created where there is no namespace, or none for long", async ({
      api,
      namespace,
    }) => {
      const missing = await api.create(core("ghost", "configmaps"), configMap("a"));
      assert.deepEqual(
        [missing.code, missing.object["message"]],
        [404, 'namespaces "ghost" not found'],
      );
      const own = await namespace();
      const maps = core(own, "configmaps");
      const held = { metadata: { finalizers: ["example.com/hold"] } };
      await api.create(maps, configMap("held", held));
      await api.delete(`/api/v1/namespaces/${own}`);
      let tries = 0;
      const late = (): Promise<Reply> => api.create(maps, configMap(`late-${(tries += 1)}`));
      await until(async () => (await late()).code === 403, "creating is refused");
      const refused = await late();
      const { causes } = refused.object["details"] as { causes: JsonObject[] };
      assert.deepEqual(
        [causes[0]?.["reason"], causes[0]?.["field"]],
        ["NamespaceTerminating", "metadata.namespace"],
      );
      await api.merge(`${maps}/held`, { metadata: { finalizers: null } });
      await until(
        async () => (await api.get(`/api/v1/namespaces/${own}`)).code === 404,
        "the namespace is gone",
      );
    });

    it("KB 30 a hundred patches at once all succeed, and one that names a revision does not wait", async ({
      api,
      namespace,
    }) => {
      const maps = core(await namespace(), "configmaps");
      const created = await api.create(maps, configMap("a"));
      const patches = Array.from({ length: 100 }, (_, index) =>
        api.merge(`${maps}/a`, { data: { [`k${index}`]: "v" } }),
      );
      const replies = await Promise.all(patches);
      assert.deepEqual(new Set(replies.map(({ code }) => code)), new Set([200]));
      const { data } = (await api.get(`${maps}/a`)).object;
      assert.equal(Object.keys(data as JsonObject).length, 100);
      const resourceVersion = meta(created, "resourceVersion");
      const late = await api.merge(`${maps}/a`, {
        metadata: { resourceVersion },
        data: { x: "y" },
      });
      assert.deepEqual([late.code, late.object["reason"]], [409, "Conflict"]);
    });

    it("KB 26 of updates at once one wins each round, and none is lost", async ({
      api,
      namespace,
    }) => {
      const maps = core(await namespace(), "configmaps");
      await api.create(maps, configMap("counter", { data: { n: "0" } }));
      const increment = async (): Promise<void> => {
        for (;;) {
          const { object } = await api.get(`${maps}/counter`);
          const { n } = object["data"] as { n: string };
          const { code } = await api.update(`${maps}/counter`, {
            ...object,
            data: { n: String(Number(n) + 1) },
          });
          if (code === 200) return;
          assert.equal(code, 409);
        }
      };
      await Promise.all(Array.from({ length: 12 }, increment));
      const { data } = (await api.get(`${maps}/counter`)).object;
      assert.deepEqual(data, { n: "12" });
    });
  },
);
