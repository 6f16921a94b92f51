import assert from "node:assert/strict";

import type { JsonObject } from "@keelson/base";
import { seededRandom } from "@keelson/base";
import { sharedThrowawayPostgres } from "@keelson/database/testing";

import { messageOf, meta, type Reply } from "../testing/api.ts";
import { eachBackend } from "../testing/each-backend.ts";
import { agent, ark, configMap, core, query } from "../testing/objects.ts";

interface List {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

const listed = ({ object }: Reply): List => object as unknown as List;
const names = (reply: Reply): readonly string[] =>
  listed(reply).items.map(({ metadata }) => metadata.name);
const next = (reply: Reply): string => encodeURIComponent(listed(reply).metadata.continue ?? "");

eachBackend(
  "lists",
  () => sharedThrowawayPostgres("embedded"),
  (it) => {
    it("LIST-5 of nothing has a revision and items", async ({ api }) => {
      const { object } = await api.get("/apis/ark.mckinsey.com/v1alpha1/queries");
      const { metadata, items } = object as unknown as List;
      assert.ok(Number(metadata.resourceVersion) >= 1);
      assert.deepEqual(items, []);
    });

    it("LIST-3 by labels is what a client would choose itself", async ({ api, namespace }) => {
      const agents = ark(await namespace(), "agents");
      const random = seededRandom(42);
      const sets = Array.from({ length: 40 }, (_, index) => {
        const labels: Record<string, string> = {};
        if (random.integer(2) === 1) labels["tier"] = ["a", "b", "c"][random.integer(3)] ?? "";
        if (random.integer(3) === 0) labels["tmp"] = "1";
        if (random.integer(3) > 0) labels["app"] = `x${random.integer(2)}`;
        return { name: `a-${String(index).padStart(2, "0")}`, labels };
      });
      await Promise.all(
        sets.map(({ name, labels }) => api.create(agents, agent(name, { labels }))),
      );
      const chosen = await api.get(
        `${agents}?labelSelector=${encodeURIComponent("tier notin (a,b),!tmp,app")}`,
      );
      const expected = sets.filter(({ labels: { tier = "", tmp, app } }) => {
        return !["a", "b"].includes(tier) && tmp === undefined && app !== undefined;
      });
      assert.deepEqual(
        names(chosen),
        expected.map(({ name }) => name),
      );
      assert.ok(expected.length > 0 && expected.length < 40);
    });

    it("LIST-3 by fields knows those that the kind declares, and refuses others", async ({
      api,
      namespace,
    }) => {
      const queries = ark(await namespace(), "queries");
      for (const name of ["a", "b"]) await api.create(queries, query(name));
      await api.merge(`${queries}/b/status`, { status: { phase: "done" } });
      const done = await api.get(`${queries}?fieldSelector=status.phase%3Ddone`);
      assert.deepEqual(names(done), ["b"]);
      const other = await api.get(`${queries}?fieldSelector=spec.input%3Dhello`);
      assert.deepEqual(
        [other.code, other.object["message"]],
        [400, "field label not supported: spec.input"],
      );
    });

    it("LIST-4 shows the state at a revision, and waits for one that is still to come", async ({
      api,
      store,
      namespace,
    }, t) => {
      const maps = core(await namespace(), "configmaps");
      await api.create(maps, configMap("a"));
      const at = await store.head(t.signal);
      await api.create(maps, configMap("b"));
      await api.delete(`${maps}/a`);
      const exact = await api.get(`${maps}?resourceVersion=${at}&resourceVersionMatch=Exact`);
      assert.deepEqual(
        [names(exact), listed(exact).metadata.resourceVersion],
        [["a", "kube-root-ca.crt"], String(at)],
      );
      const newer = await api.get(
        `${maps}?resourceVersion=${at}&resourceVersionMatch=NotOlderThan`,
      );
      assert.deepEqual(names(newer), ["b", "kube-root-ca.crt"]);

      // A revision that comes while somebody waits for it is served.
      const soon = (await store.head(t.signal)) + 1;
      const waiting = [
        api.get(`${maps}?resourceVersion=${soon}&resourceVersionMatch=NotOlderThan`),
        api.get(`${maps}/b?resourceVersion=${soon}`),
      ];
      await api.create(maps, configMap("c"));
      assert.deepEqual(
        (await Promise.all(waiting)).map(({ code }) => code),
        [200, 200],
      );
    });

    it("KB 15 pages show one state, whatever is written meanwhile", async ({ api, namespace }) => {
      const own = await namespace();
      const agents = ark(own, "agents");
      for (const name of ["a", "b", "c", "d", "e"]) await api.create(agents, agent(name));
      const first = await api.get(`${agents}?limit=2`);
      await api.delete(`${agents}/d`);
      await api.create(agents, agent("ca"));
      await api.merge(`${agents}/c`, { metadata: { labels: { new: "one" } } });
      const second = await api.get(`${agents}?limit=2&continue=${next(first)}`);
      const third = await api.get(`${agents}?limit=2&continue=${next(second)}`);
      assert.deepEqual(
        [first, second, third].map((reply) => [
          names(reply),
          listed(reply).metadata.remainingItemCount,
          listed(reply).metadata.resourceVersion,
        ]),
        [
          [["a", "b"], 3, listed(first).metadata.resourceVersion],
          [["c", "d"], 1, listed(first).metadata.resourceVersion],
          [["e"], undefined, listed(first).metadata.resourceVersion],
        ],
      );
      assert.equal(listed(third).metadata.continue, "");
      // KB 17: a page is filled up with what matches, and then nobody counts the rest.
      for (const name of ["x", "y", "z"]) {
        await api.create(agents, agent(name, { labels: { rare: "yes" } }));
      }
      const rare = await api.get(`${agents}?limit=2&labelSelector=rare`);
      assert.deepEqual(
        [names(rare), listed(rare).metadata.remainingItemCount, next(rare) !== ""],
        [["x", "y"], undefined, true],
      );
      const all = await api.get(`${agents}?limit=-1`);
      assert.equal(names(all).length, 8);
    });

    it("KB 18 a token that has expired leads on from where it was", async ({
      api,
      store,
      namespace,
    }, t) => {
      const agents = ark(await namespace(), "agents");
      for (const name of ["a", "b", "c", "d"]) await api.create(agents, agent(name));
      const first = await api.get(`${agents}?limit=1`);
      const revision = listed(first).metadata.resourceVersion;
      await api.create(agents, agent("bb"));
      await store.compact(await store.head(t.signal), t.signal);
      const expired = await api.get(`${agents}?limit=1&continue=${next(first)}`);
      assert.deepEqual([expired.code, expired.object["reason"]], [410, "Expired"]);
      const said =
        /^The provided continue parameter is too old to display a consistent list result\./;
      assert.match(messageOf(expired), said);
      const second = await api.get(`${agents}?limit=2&continue=${next(expired)}`);
      assert.deepEqual([second.code, names(second)], [200, ["b", "bb"]]);
      assert.notEqual(listed(second).metadata.resourceVersion, revision);
      const third = await api.get(`${agents}?limit=5&continue=${next(second)}`);
      assert.deepEqual(
        [names(third), listed(third).metadata.resourceVersion],
        [["c", "d"], listed(second).metadata.resourceVersion],
      );
      const exact = await api.get(
        `${agents}?resourceVersion=${revision}&resourceVersionMatch=Exact`,
      );
      assert.deepEqual(
        [exact.code, exact.object["message"]],
        [410, "The resourceVersion for the provided list is too old."],
      );
    });

    it("KB 23 of a namespace hold nothing of one whose name begins alike", async ({
      api,
      namespace,
    }) => {
      const own = await namespace();
      const longer = `${own}-more`;
      await api.create("/api/v1/namespaces", {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name: longer },
      });
      await api.create(ark(own, "agents"), agent("z"));
      await api.create(ark(longer, "agents"), agent("a"));
      assert.deepEqual(names(await api.get(ark(own, "agents"))), ["z"]);
      assert.deepEqual(names(await api.get(ark(longer, "agents"))), ["a"]);
      const everywhere = await api.get("/apis/ark.mckinsey.com/v1alpha1/agents");
      const places = (everywhere.object["items"] as JsonObject[])
        .map((object) => `${meta({ object }, "namespace")}/${meta({ object }, "name")}`)
        .filter((place) => place.startsWith(own));
      assert.deepEqual(places, [`${own}/z`, `${longer}/a`]);
    });

    it("WATCH-9 a revision that is none is refused by lists and watches alike", async ({
      api,
      namespace,
    }) => {
      const maps = core(await namespace(), "configmaps");
      for (const text of ["abc", "-5", "+1", "18446744073709551616"]) {
        const revision = encodeURIComponent(text);
        const codes = [
          (await api.get(`${maps}?resourceVersion=${revision}`)).code,
          (await api.get(`${maps}?watch=1&resourceVersion=${revision}`)).code,
          (await api.get(`${maps}/a?resourceVersion=${revision}`)).code,
        ];
        assert.deepEqual(codes, [400, 400, 400], text);
      }
    });
  },
);
