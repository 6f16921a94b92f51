import assert from "node:assert/strict";

import type { JsonObject } from "@keelson/base";
import { sharedThrowawayPostgres } from "@keelson/database/testing";

import { messageOf, meta, type Api, type WatchedEvent } from "../testing/api.ts";
import { eachBackend } from "../testing/each-backend.ts";
import { agent, ark, configMap, core, query } from "../testing/objects.ts";

const told = (events: readonly WatchedEvent[]): readonly string[] =>
  events.map((event) => `${event.type} ${meta(event, "name")}`);
const isFinal = ({ object }: WatchedEvent): boolean => {
  const { annotations = {} } = (object["metadata"] ?? {}) as { annotations?: JsonObject };
  return annotations["k8s.io/initial-events-end"] === "true";
};

async function revisionOf(api: Api, path: string): Promise<string> {
  return meta(await api.get(path), "resourceVersion");
}

/** Events up to one of an object with this name. */
async function upTo(
  watch: { next(): Promise<WatchedEvent | undefined> },
  name: string,
): Promise<WatchedEvent[]> {
  const events: WatchedEvent[] = [];
  for (;;) {
    const event = await watch.next();
    if (event === undefined) throw new Error(`the watch ended before ${name}`);
    if (meta(event, "name") === name) return events;
    events.push(event);
  }
}

eachBackend(
  "watches",
  () => sharedThrowawayPostgres("embedded"),
  (it) => {
    it("WATCH-1 from a list's revision tell nothing that the list has shown", async ({
      api,
      namespace,
    }) => {
      const own = await namespace();
      const agents = ark(own, "agents");
      const created = Array.from({ length: 60 }, (_, index) =>
        api.create(agents, agent(`a-${index}`)),
      );
      await Promise.all(created);
      // A quiet kind's list is as new as the store.
      await api.create(core(own, "configmaps"), configMap("later"));
      const revision = await revisionOf(api, agents);
      using watch = await api.watch(`${agents}?watch=1&resourceVersion=${revision}`);
      await api.create(agents, agent("mark"));
      assert.deepEqual(await upTo(watch, "mark"), []);
    });

    it("WATCH-3 see objects come into their selection and leave it", async ({ api, namespace }) => {
      const maps = core(await namespace(), "configmaps");
      const revision = await revisionOf(api, maps);
      using watch = await api.watch(
        `${maps}?watch=1&resourceVersion=${revision}&labelSelector=app%3Dx`,
      );
      await api.create(maps, configMap("a", { labels: { app: "x" }, data: { k: "1" } }));
      const gone = await api.merge(`${maps}/a`, {
        metadata: { labels: { app: null } },
        data: { k: "2" },
      });
      const back = await api.merge(`${maps}/a`, { metadata: { labels: { app: "x" } } });
      const events = await watch.take(3);
      assert.deepEqual(told(events), ["ADDED a", "DELETED a", "ADDED a"]);
      const [, left, came] = events;
      assert.ok(left !== undefined && came !== undefined);
      assert.deepEqual(
        [left.object["data"], meta(left, "resourceVersion"), came.object],
        [{ k: "1" }, meta(gone, "resourceVersion"), back.object],
      );
    });

    it("WATCH-4 show each of thirty rapid updates", async ({ api, namespace }) => {
      const maps = core(await namespace(), "configmaps");
      const revision = meta(await api.create(maps, configMap("a")), "resourceVersion");
      using watch = await api.watch(`${maps}?watch=1&resourceVersion=${revision}`);
      const patches = Array.from({ length: 30 }, (_, index) =>
        api.merge(`${maps}/a`, { data: { n: String(index) } }),
      );
      const answers = await Promise.all(patches);
      const events = await watch.take(30);
      const revisions = events.map((event) => Number(meta(event, "resourceVersion")));
      assert.deepEqual(new Set(told(events)), new Set(["MODIFIED a"]));
      assert.deepEqual(
        revisions,
        answers.map((reply) => Number(meta(reply, "resourceVersion"))).sort((a, b) => a - b),
      );
      // What a writer is told is what watchers see.
      for (const event of events) {
        const answer = answers.find(
          (reply) => meta(reply, "resourceVersion") === meta(event, "resourceVersion"),
        );
        assert.deepEqual(event.object, answer?.object);
      }
    });

    it("WATCH-5 show what was created and deleted at once", async ({
      api,
      store,
      namespace,
    }, t) => {
      const maps = core(await namespace(), "configmaps");
      const revision = await revisionOf(api, maps);
      using watch = await api.watch(`${maps}?watch=1&resourceVersion=${revision}`);
      const created = await api.create(maps, configMap("a", { data: { k: "v" } }));
      await api.delete(`${maps}/a`);
      const head = await store.head(t.signal);
      const [added, deleted] = await watch.take(2);
      assert.ok(added !== undefined && deleted !== undefined);
      assert.deepEqual(told([added, deleted]), ["ADDED a", "DELETED a"]);
      assert.deepEqual([added.object, deleted.object["data"]], [created.object, { k: "v" }]);
      assert.equal(meta(deleted, "resourceVersion"), String(head));
    });

    for (const count of [0, 1, 120]) {
      it(`WATCH-6 begin with a state of ${count}, ended by one mark`, async ({
        api,
        namespace,
      }) => {
        const agents = ark(await namespace(), "agents");
        const names = Array.from({ length: count }, (_, index) => `a-${index}`);
        await Promise.all(names.map((name) => api.create(agents, agent(name))));
        if (count > 0) {
          await api.create(agents, agent("gone"));
          await api.delete(`${agents}/gone`);
        }
        using watch = await api.watch(
          `${agents}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
        );
        const events = await watch.take(count + 1);
        await api.create(agents, agent("mark"));
        const [after] = await watch.take(1);
        const final = events.at(-1);
        assert.ok(final !== undefined && after !== undefined);
        assert.deepEqual(
          told(events.slice(0, -1)).toSorted(),
          names.map((name) => `ADDED ${name}`).toSorted(),
        );
        assert.deepEqual(
          [final.type, isFinal(final), final.object["kind"]],
          ["BOOKMARK", true, "Agent"],
        );
        assert.deepEqual(told([after]), ["ADDED mark"]);
        assert.ok(Number(meta(after, "resourceVersion")) > Number(meta(final, "resourceVersion")));
      });
    }

    it("WATCH-7 have bookmarks only for those who ask", async ({ api, namespace }) => {
      const maps = core(await namespace(), "configmaps");
      const marksOf = async (options: string): Promise<readonly string[]> => {
        using watch = await api.watch(`${maps}?watch=1&timeoutSeconds=1&${options}`);
        const events = await watch.rest();
        return events
          .filter(({ type }) => type === "BOOKMARK")
          .map((event) => (isFinal(event) ? "final" : "plain"));
      };
      const revision = await revisionOf(api, maps);
      const marks = await Promise.all(
        [
          `resourceVersion=${revision}`,
          `resourceVersion=${revision}&allowWatchBookmarks=true`,
          "resourceVersion=0",
          "resourceVersion=0&allowWatchBookmarks=true",
          "allowWatchBookmarks=true",
          "",
        ].map(marksOf),
      );
      // The last, plain one tells how far the client has come when the stream ends (KB 6).
      assert.deepEqual(marks, [[], ["plain"], [], ["final", "plain"], ["final", "plain"], []]);
    });

    it("WATCH-8 go on from an old revision exactly, or say in the stream that they cannot", async ({
      api,
      store,
      namespace,
    }, t) => {
      const own = await namespace();
      const maps = core(own, "configmaps");
      await api.create(ark(own, "agents"), agent("quiet"));
      const old = await revisionOf(api, maps);
      await api.create(maps, configMap("a"));
      await api.merge(`${maps}/a`, { data: { k: "v" } });
      await api.delete(`${maps}/a`);
      using resumed = await api.watch(`${maps}?watch=1&resourceVersion=${old}`);
      assert.deepEqual(told(await resumed.take(3)), ["ADDED a", "MODIFIED a", "DELETED a"]);

      const floor = await store.head(t.signal);
      await store.compact(floor, t.signal);
      using expired = await api.watch(`${maps}?watch=1&resourceVersion=${old}`);
      const events = await expired.rest();
      assert.deepEqual(
        [expired.code, events.map(({ type, object }) => [type, object["code"], object["reason"]])],
        [200, [["ERROR", 410, "Expired"]]],
      );
      assert.match(
        messageOf(events[0] ?? { object: {} }),
        /^too old resource version: \d+ \(\d+\)$/,
      );
      for (const path of [maps, ark(own, "agents")]) {
        const revision = await revisionOf(api, path);
        using watch = await api.watch(`${path}?watch=1&resourceVersion=${revision}`);
        const mark = path === maps ? configMap("mark") : agent("mark");
        await api.create(path, mark);
        assert.deepEqual(told(await watch.take(1)), ["ADDED mark"]);
      }
    });

    it("WATCH-12 always bring a controller its own change", async ({ api, namespace }) => {
      const queries = ark(await namespace(), "queries");
      await api.create(queries, query("q"));
      using watch = await api.watch(
        `${queries}?watch=1&resourceVersion=${await revisionOf(api, queries)}`,
      );
      for (const duration of ["1s", "2s", "3s", "4s", "5s"]) {
        const written = await api.merge(`${queries}/q/status`, {
          status: { phase: "running", duration },
        });
        const [event] = await watch.take(1);
        assert.deepEqual(event?.object, written.object);
      }
    });

    it("KB 11 of one object, by path or by field, see no other; a named GET is none", async ({
      api,
      namespace,
    }) => {
      const own = await namespace();
      const maps = core(own, "configmaps");
      const revision = await revisionOf(api, maps);
      using byField = await api.watch(
        `${maps}?watch=1&resourceVersion=${revision}&fieldSelector=metadata.name%3Db`,
      );
      using byPath = await api.watch(
        `/api/v1/watch/namespaces/${own}/configmaps/b?resourceVersion=${revision}`,
      );
      await api.create(maps, configMap("a"));
      const created = await api.create(maps, configMap("b"));
      for (const watch of [byField, byPath]) {
        assert.deepEqual(await watch.take(1), [{ type: "ADDED", object: created.object }]);
      }
      assert.deepEqual((await api.get(`${maps}/b?watch=1`)).object, created.object);
    });

    it("KB 56 as Tables have their columns once, and as metadata no more than that", async ({
      api,
      namespace,
    }) => {
      const maps = core(await namespace(), "configmaps");
      const revision = await revisionOf(api, maps);
      const path = `${maps}?watch=1&resourceVersion=${revision}`;
      using tables = await api.watch(path, {
        accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
      });
      using partial = await api.watch(path, {
        accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
      });
      for (const name of ["a", "b"]) await api.create(maps, configMap(name, { data: { k: "v" } }));
      const [first, second] = (await tables.take(2)).map(({ object }) => object);
      assert.deepEqual(
        [
          first?.["kind"],
          Array.isArray(first?.["columnDefinitions"]),
          second?.["columnDefinitions"],
        ],
        ["Table", true, null],
      );
      const [metadata] = await partial.take(1);
      assert.deepEqual(
        [metadata?.object["kind"], metadata?.object["data"]],
        ["PartialObjectMetadata", undefined],
      );
    });
  },
);
