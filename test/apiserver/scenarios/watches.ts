// What watches and lists owe their clients: LIST-4, LIST-5, WATCH-3 to WATCH-5, WATCH-7 to WATCH-9, WATCH-12.

import assert from "node:assert/strict";

import type { JsonObject } from "@keelson/base";

import { until } from "../../tools/until.ts";
import { agent, ark, query } from "./ark.ts";
import type { Answered, ScenarioBed, Scenarios } from "./bed.ts";
import { openStream, type StreamEvent } from "./stream.ts";

const mergePatch = { "content-type": "application/merge-patch+json" };

async function merge(bed: ScenarioBed, path: string, body: JsonObject): Promise<Answered> {
  const request = { method: "PATCH", path, body, headers: mergePatch } as const;
  const answer = await bed.ask(request);
  assert.equal(answer.status, 200, answer.text);
  return answer.body as Answered;
}

const told = (events: readonly StreamEvent[]): readonly string[] =>
  events.map(({ type, name }) => `${type} ${name}`);

const namesOf = ({ items = [] }: Answered): readonly string[] =>
  items.map(({ metadata }) => metadata.name);

/** Everything that a watch tells until it ends by itself. */
async function wholeOf(bed: ScenarioBed, path: string) {
  using stream = await openStream(bed.server, path, bed.signal);
  const events: StreamEvent[] = [];
  for (;;) {
    const event = await stream.next(bed.signal);
    if (event === undefined) return { status: stream.status, events };
    events.push(event);
  }
}

export const watchScenarios: Scenarios = (it) => {
  it("LIST-5 of nothing has a revision and items", async (bed) => {
    const queries = ark(await bed.namespace("list-5"), "queries");
    const { metadata, items } = await bed.must("GET", queries);
    assert.ok(Number(metadata.resourceVersion) >= 1);
    assert.deepEqual(items, []);
  });

  it("LIST-4 shows the state at a revision", async (bed) => {
    const agents = ark(await bed.namespace("list-4"), "agents");
    const { metadata } = await bed.must("POST", agents, agent("a"));
    const at = metadata.resourceVersion;
    await bed.must("POST", agents, agent("b"));
    await bed.must("DELETE", `${agents}/a`);
    const match = `${agents}?resourceVersion=${at}&resourceVersionMatch`;
    const exact = await bed.must("GET", `${match}=Exact`);
    assert.deepEqual([namesOf(exact), exact.metadata.resourceVersion], [["a"], at]);
    assert.deepEqual(namesOf(await bed.must("GET", `${match}=NotOlderThan`)), ["b"]);
  });

  it("WATCH-3 shows objects that come into a selection and leave it", async (bed) => {
    const agents = ark(await bed.namespace("watch-3"), "agents");
    const from = await bed.revisionOf(agents);
    const path = `${agents}?watch=1&resourceVersion=${from}&labelSelector=app%3Dx`;
    using stream = await openStream(bed.server, path, bed.signal);
    const made = await bed.must("POST", agents, agent("a", { labels: { app: "x" } }));
    const gone = await merge(bed, `${agents}/a`, {
      metadata: { labels: { app: null } },
      spec: { prompt: "other" },
    });
    const back = await merge(bed, `${agents}/a`, { metadata: { labels: { app: "x" } } });
    const events = await stream.take(3, bed.signal);
    assert.deepEqual(told(events), ["ADDED a", "DELETED a", "ADDED a"]);
    const [, left, came] = events;
    assert.deepEqual(
      [left?.object["spec"], String(left?.revision), came?.object],
      [made.spec, gone.metadata.resourceVersion, back],
    );
  });

  it("WATCH-4 shows each of thirty rapid updates", async (bed) => {
    const agents = ark(await bed.namespace("watch-4"), "agents");
    const { metadata } = await bed.must("POST", agents, agent("a"));
    const path = `${agents}?watch=1&resourceVersion=${metadata.resourceVersion}`;
    using stream = await openStream(bed.server, path, bed.signal);
    const changes = Array.from({ length: 30 }, (_, index) =>
      merge(bed, `${agents}/a`, { spec: { prompt: String(index) } }),
    );
    const answers = await Promise.all(changes);
    const events = await stream.take(30, bed.signal);
    assert.deepEqual([...new Set(told(events))], ["MODIFIED a"]);
    // What a writer is told is what watchers see.
    const byRevision = answers.toSorted(
      (a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion),
    );
    assert.deepEqual(
      events.map(({ object }) => object),
      byRevision,
    );
  });

  it("WATCH-5 shows what was created and deleted at once", async (bed) => {
    const agents = ark(await bed.namespace("watch-5"), "agents");
    const from = await bed.revisionOf(agents);
    using stream = await openStream(
      bed.server,
      `${agents}?watch=1&resourceVersion=${from}`,
      bed.signal,
    );
    const made = await bed.must("POST", agents, agent("a"));
    await bed.must("DELETE", `${agents}/a`);
    const deletion = await bed.revisionOf(agents);
    const [added, deleted] = await stream.take(2, bed.signal);
    assert.deepEqual([added?.type, added?.object], ["ADDED", made]);
    assert.deepEqual(
      [deleted?.type, deleted?.object["spec"], String(deleted?.revision)],
      ["DELETED", made.spec, deletion],
    );
  });

  it("WATCH-7 has bookmarks only for those who ask", async (bed) => {
    const agents = ark(await bed.namespace("watch-7"), "agents");
    const from = await bed.revisionOf(agents);
    const marks = await Promise.all(
      [
        `resourceVersion=${from}`,
        `resourceVersion=${from}&allowWatchBookmarks=true`,
        "resourceVersion=0",
        "resourceVersion=0&allowWatchBookmarks=true",
        "allowWatchBookmarks=true",
        "",
      ].map(async (options) => {
        const { events } = await wholeOf(bed, `${agents}?watch=1&timeoutSeconds=1&${options}`);
        const found = events.filter(({ type }) => type === "BOOKMARK");
        return found.map(({ isEndOfState }) => (isEndOfState ? "final" : "plain"));
      }),
    );
    assert.deepEqual(marks, [[], ["plain"], [], ["final", "plain"], ["final", "plain"], []]);
  });

  it("WATCH-8 goes on exactly from an old revision that is still known", async (bed) => {
    const agents = ark(await bed.namespace("watch-8"), "agents");
    const from = await bed.revisionOf(agents);
    await bed.must("POST", agents, agent("a"));
    await merge(bed, `${agents}/a`, { spec: { prompt: "other" } });
    await bed.must("DELETE", `${agents}/a`);
    using stream = await openStream(
      bed.server,
      `${agents}?watch=1&resourceVersion=${from}`,
      bed.signal,
    );
    const events = await stream.take(3, bed.signal);
    assert.deepEqual(told(events), ["ADDED a", "MODIFIED a", "DELETED a"]);
  });

  it("WATCH-9 refuses a revision that is none before any stream", async (bed) => {
    const agents = ark(await bed.namespace("watch-9"), "agents");
    for (const text of ["abc", "-5", "+1"]) {
      const revision = encodeURIComponent(text);
      const list = await bed.send("GET", `${agents}?resourceVersion=${revision}`);
      const watch = await bed.send("GET", `${agents}?watch=1&resourceVersion=${revision}`);
      assert.deepEqual([list.status, watch.status], [400, 400], text);
    }
  });

  it("WATCH-12 always brings a controller its own change", async (bed) => {
    const queries = ark(await bed.namespace("watch-12"), "queries");
    const { metadata } = await bed.must("POST", queries, query("q"));
    const path = `${queries}?watch=1&resourceVersion=${metadata.resourceVersion}`;
    using stream = await openStream(bed.server, path, bed.signal);
    for (let turn = 1; turn <= 20; turn += 1) {
      const status = { phase: "running", duration: `${turn}s` };
      const written = await merge(bed, `${queries}/q/status`, { status });
      const [event] = await stream.take(1, bed.signal);
      assert.deepEqual(event?.object, written);
    }
  });
};

/** How soon a server forgets of which these scenarios ask. */
export const forgetfulFlags = ["--compaction-interval", "1s"];

export const forgetfulScenarios: Scenarios = (it) => {
  it("WATCH-8 says in the stream that a revision is forgotten, and then lists and watches go on", async (bed) => {
    const namespace = await bed.namespace("forgotten");
    const [agents, queries] = [ark(namespace, "agents"), ark(namespace, "queries")];
    await bed.must("POST", queries, query("quiet"));
    const from = await bed.revisionOf(agents);
    await bed.must("POST", agents, agent("a"));
    const path = `${agents}?watch=1&resourceVersion=${from}&timeoutSeconds=1`;
    const expired = await until(async () => {
      const { status, events } = await wholeOf(bed, path);
      return events.some(({ type }) => type === "ERROR") && { status, events };
    }, bed.signal);
    const said = expired.events.map(({ type, object }) => [type, object["code"], object["reason"]]);
    assert.deepEqual([expired.status, said], [200, [["ERROR", 410, "Expired"]]]);
    // Also for a kind that was last written long before.
    for (const [collection, mark] of [
      [agents, agent("mark")],
      [queries, query("mark")],
    ] as const) {
      const next = await bed.revisionOf(collection);
      assert.deepEqual(await bed.toldSince(collection, { from: next, mark }), []);
    }
  });
};
