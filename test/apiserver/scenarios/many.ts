// Many objects and an idle store: LIST-2, LIST-4, WATCH-1, WATCH-6.

import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";

import { agent, ark } from "./ark.ts";
import { residentMegabytes, tell, type ScenarioBed, type Scenarios } from "./bed.ts";
import { measure } from "./length.ts";
import { openStream, type StreamEvent } from "./stream.ts";

const objects = measure({ gate: 3_000, full: 100_000 });
const pageSize = 500;
/** Between two events, for as many of them. */
const restMs = 2;
const rests = measure({ gate: 400, full: 100_000 });
const agentsOf = (namespace: string): string => ark(namespace, "agents");

/** Makes so many Agents, and answers their names in order. */
async function fill(bed: ScenarioBed, namespace: string, count: number): Promise<string[]> {
  const path = agentsOf(await bed.namespace(namespace));
  if (count > 0) {
    using load = bed.newLoad();
    const template = agent("{name}", { labels: { app: "x" } });
    const options = { verb: "fill", prefix: "o", path, objects: count, clients: 16 } as const;
    const filled = await load.run({ ...options, template }, bed.signal);
    assert.deepEqual([filled.requests, filled.errors], [count, {}]);
  }
  return Array.from({ length: count }, (_, index) => `o-${String(index).padStart(7, "0")}`);
}

/** The names in a collection, in order. */
async function namesIn(bed: ScenarioBed, path: string): Promise<string[]> {
  const { items = [] } = await bed.must("GET", path);
  return items.map(({ metadata }) => metadata.name);
}

export const manyScenarios: Scenarios = (it) => {
  it(`LIST-2 ${objects} objects in pages of ${pageSize}: each once, in order, at one revision, counted exactly`, async (bed) => {
    const wanted = await fill(bed, "many", objects);
    const path = agentsOf("many");
    const before = residentMegabytes(bed.server.pid);
    const [names, versions, times]: [string[], Set<string>, number[]] = [[], new Set(), []];
    let [token, peak] = ["", before];
    for (let page = 0; page === 0 || token !== ""; page += 1) {
      const began = performance.now();
      const { items = [], metadata } = await bed.must(
        "GET",
        `${path}?limit=${pageSize}&continue=${encodeURIComponent(token)}`,
      );
      times.push(performance.now() - began);
      names.push(...items.map((item) => item.metadata.name));
      versions.add(metadata.resourceVersion);
      const remaining = wanted.length - names.length;
      assert.equal(metadata.remainingItemCount, remaining === 0 ? undefined : remaining);
      token = metadata.continue ?? "";
      peak = Math.max(peak, residentMegabytes(bed.server.pid));
      // What is written meanwhile is not in it: before the place where the list is, and after it.
      const own = `p-${page}`;
      await bed.must("POST", path, agent(`a-${own}`));
      await bed.must("POST", path, agent(`z-${own}`));
      const late = wanted.at(-1 - page);
      if (late !== undefined) await bed.must("DELETE", `${path}/${late}`);
    }
    assert.deepEqual(names, wanted);
    assert.equal(versions.size, 1);
    const p99 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;
    tell(bed, "page, p99", p99, "ms");
    tell(bed, "growth of resident memory", peak - before, "MB");
    assert.ok(peak - before < 150, `memory grew by ${Math.round(peak - before)} MB`);
  });

  for (const count of [0, 1, 300, objects]) {
    it(`WATCH-6 the state of ${count} objects, read slowly: each ADDED, one mark, nothing deleted that was never there`, async (bed) => {
      // Many are there already, those of the pages.
      const namespace = count === objects ? "many" : `state-${count}`;
      const path = agentsOf(namespace);
      const wanted =
        count === objects ? await namesIn(bed, path) : await fill(bed, namespace, count);
      assert.ok(wanted.length >= count, `only ${wanted.length} are there`);
      for (let index = 0; index < 20; index += 1) {
        await bed.must("POST", path, agent(`gone-${index}`));
        await bed.must("DELETE", `${path}/gone-${index}`);
      }
      using stream = await openStream(
        bed.server,
        `${path}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
        bed.signal,
      );
      const state: StreamEvent[] = [];
      const following: StreamEvent[] = [];
      // Meanwhile one comes and goes, one goes, and at last comes a mark of ours.
      const [victim] = wanted;
      const writing = (async () => {
        await bed.must("POST", path, agent("short"));
        await bed.must("DELETE", `${path}/short`);
        if (victim !== undefined) await bed.must("DELETE", `${path}/${victim}`);
        await bed.must("POST", path, agent("zz-mark"));
      })();
      for (let read = 0, isOver = false; following.at(-1)?.name !== "zz-mark"; read += 1) {
        const event = await stream.next(bed.signal);
        assert.ok(event !== undefined, "the stream has ended");
        if (isOver) following.push(event);
        else state.push(event);
        // The state may already be that after our writes.
        if (event.isEndOfState && state.some(({ name }) => name === "zz-mark")) break;
        isOver ||= event.isEndOfState;
        if (read < rests) await wait(restMs, undefined, { signal: bed.signal });
      }
      await writing;
      const mark = state.pop();
      assert.deepEqual([mark?.type, mark?.isEndOfState], ["BOOKMARK", true]);
      assert.deepEqual(
        state.filter(({ type }) => type !== "ADDED"),
        [],
      );
      const shown = state.map(({ name }) => name).sort();
      assert.equal(new Set(shown).size, shown.length, "an object was shown twice");
      const told = following.filter(({ type }) => type !== "BOOKMARK");
      assert.ok(!following.some(({ isEndOfState }) => isEndOfState), "a second mark");
      // The state and what followed are the history from some moment of it on.
      const whole = [
        "ADDED short",
        "DELETED short",
        ...(victim === undefined ? [] : [`DELETED ${victim}`]),
        "ADDED zz-mark",
      ];
      const rest = told.map(({ type, name }) => `${type} ${name}`);
      assert.deepEqual(rest, whole.slice(whole.length - rest.length));
      const then = new Set(wanted);
      for (const change of whole.slice(0, whole.length - rest.length)) {
        const [type, name = ""] = change.split(" ");
        if (type === "ADDED") then.add(name);
        else then.delete(name);
      }
      assert.deepEqual(shown, [...then].sort());
      const revisions = told.map(({ revision }) => revision);
      assert.ok(
        revisions.every(
          (revision, index) => revision > (revisions[index - 1] ?? Number(mark?.revision)),
        ),
      );
    });
  }

  it("WATCH-1 602 Agents, nothing written: a watch from the list's revision is silent; LIST-4 the future is a timeout", async (bed) => {
    const seconds = measure({ gate: 3, full: 8 });
    using load = bed.newLoad();
    const path = ark(await bed.namespace("quiet"), "agents");
    const fill = {
      verb: "fill",
      path,
      objects: 602,
      clients: 16,
      template: agent("{name}"),
    } as const;
    const filled = await load.run(fill, bed.signal);
    assert.deepEqual([filled.requests, filled.errors], [602, {}]);
    const from = await bed.revisionOf(path);
    const future = `${path}?resourceVersion=${Number(from) + 1_000_000}&resourceVersionMatch=NotOlderThan`;
    const began = performance.now();
    const late = bed.send("GET", future).then((answer) => {
      tell(bed, "a list of the future was answered after", performance.now() - began, "ms");
      return answer;
    });
    using stream = await openStream(
      bed.server,
      `${path}?watch=1&resourceVersion=${from}&timeoutSeconds=${seconds}`,
      bed.signal,
    );
    assert.equal(await stream.next(bed.signal), undefined);
    assert.ok(performance.now() - began > seconds * 900, "the watch ended early");
    const { status, text } = await late;
    assert.equal(status, 504, text);
    assert.match(text, /Too large resource version/);
  });
};
