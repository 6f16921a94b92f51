import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Backend, LogLimits, LogPage } from "./backend.ts";
import { LogReader } from "./log-reader.ts";

const never = new AbortController().signal;

suite("log reader", () => {
  test("a watcher behind a head that went back is told that its revision expired", async () => {
    // The hub has published up to 100; then the database was restored to where it was at 20.
    const reader = new LogReader({ backend: emptyLog(20), limits, cursor: 100 });
    for (const revision of [8, 18, 20, 21, 99]) {
      const outcome = await reachesOrExpires(reader, revision);
      assert.deepEqual([revision, outcome], [revision, "Expired"]);
    }
  });
});

const limits = {
  recentChangesMax: 10,
  recentBytesMax: 1e6,
  pagesMax: 4,
  pageChanges: 16,
  pageText: 1e6,
};

/** A log that holds nothing up to its head, as `log` of a backend answers it. */
function emptyLog(head: number): Pick<Backend, "log"> {
  return {
    async log(after: number, { through = head }: LogLimits): Promise<LogPage> {
      const end = Math.max(after, Math.min(through, head));
      return { head, floor: 1, entries: [], through: end };
    },
  };
}

/** Reads on, as a watcher does. */
async function reachesOrExpires(reader: LogReader, revision: number): Promise<string> {
  try {
    for (let turn = 0, at = revision; turn < 100; turn++) {
      ({ through: at } = await reader.after(at, never));
      if (at >= 100) return "level";
    }
    return "no way forward";
  } catch (error) {
    return (error as Error).name;
  }
}
