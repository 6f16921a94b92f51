// Readers of the log share its pages, however many they are and wherever they begin.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { LogPages, type PageName, type Stretch } from "./log-pages.ts";
import { everywhere, key, object, signal } from "./testing/bed.ts";
import { sqliteMemory } from "./testing/fixtures.ts";

/** Pages of ten revisions, and a record of what was read. */
function recorded({ keptMax = 0, fails = noneFails } = {}) {
  const reads: number[] = [];
  const read = async (page: PageName): Promise<Stretch> => {
    reads.push(page.after);
    if (fails(page)) throw new Error(`no page after ${page.after}`);
    return { changes: [], through: page.through };
  };
  return { reads, pages: new LogPages({ read, keptMax }) };
}

function noneFails(_page: PageName): boolean {
  return false;
}

async function readOn(pages: LogPages, from: number, to: number): Promise<void> {
  for (let after = from; after < to; after += 10) {
    await pages.get({ after, through: after + 10 }, signal);
  }
}

suite("log pages", () => {
  test("readers that begin anywhere go on together: each page is read once, in order", async () => {
    const { reads, pages } = recorded();
    const starts = Array.from({ length: 1000 }, (_, n) => ((n * 7) % 50) * 10);
    await Promise.all(starts.map((from) => readOn(pages, from, 500)));
    assert.deepEqual(
      reads,
      Array.from({ length: 50 }, (_, n) => n * 10),
    );
  });

  test("whoever begins below the sweep is picked up by the next one", async () => {
    const { reads, pages } = recorded();
    const first = readOn(pages, 100, 150);
    await pages.get({ after: 110, through: 120 }, signal);
    await Promise.all([first, readOn(pages, 0, 30)]);
    assert.deepEqual(reads, [100, 110, 120, 130, 140, 0, 10, 20]);
  });

  test("the newest pages are kept, the others are read again", async () => {
    const { reads, pages } = recorded({ keptMax: 2 });
    await readOn(pages, 0, 30);
    await readOn(pages, 10, 30);
    assert.deepEqual(reads, [0, 10, 20]);
    await readOn(pages, 0, 10);
    assert.deepEqual(reads, [0, 10, 20, 0]);
  });

  test("a page that cannot be read fails those who want it, and only them", async () => {
    let isDown = true;
    const { pages } = recorded({ keptMax: 4, fails: ({ after }) => isDown && after === 10 });
    const wanted = [0, 10, 10, 20].map((after) =>
      pages.get({ after, through: after + 10 }, signal),
    );
    const states = (await Promise.allSettled(wanted)).map(({ status }) => status);
    assert.deepEqual(states, ["fulfilled", "rejected", "rejected", "fulfilled"]);
    isDown = false;
    assert.equal((await pages.get({ after: 10, through: 20 }, signal)).through, 20);
  });

  test("whoever leaves leaves at once; the others get their page", async () => {
    const { pages } = recorded();
    const leaving = new AbortController();
    const left = pages.get({ after: 0, through: 10 }, leaving.signal);
    const stays = pages.get({ after: 0, through: 10 }, signal);
    leaving.abort(new Error("gone"));
    await assert.rejects(left, { message: "gone" });
    assert.equal((await stays).through, 10);
  });

  test("watchers that resume from everywhere read the log once", async () => {
    const statements: string[] = [];
    const bed = await sqliteMemory.prepare();
    await using store = await bed.open({
      limits: { recentChangesMax: 0, pageChanges: 10, pagesMax: 0 },
      onStatement: (name) => void statements.push(name),
    });
    const first = await store.head(signal);
    const names = Array.from({ length: 200 }, (_, n) => `q${n}`);
    await Promise.all(names.map((name) => store.create(key(name), object(name), signal)));
    const head = await store.head(signal);

    statements.length = 0;
    const resume = async (from: number): Promise<void> => {
      using watch = await store.watch(everywhere, { from }, signal);
      let last = from;
      while (last < head) {
        for (const { revision } of (await watch.next()) ?? []) {
          assert.equal(revision, last + 1);
          last = revision;
        }
      }
    };
    await Promise.all(names.map((_, n) => resume(first + n)));
    const reads = statements.filter((name) => name === "selectLog").length;
    assert.ok(reads <= 22, `200 changes in pages of 10 were read ${reads} times`);
  });
});
