import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { postgresFixture, sqliteMemory } from "@keelson/store/testing";

import { Api, meta } from "../testing/api.ts";
import { configMap, core } from "../testing/objects.ts";
import { startTestServer } from "../testing/test-server.ts";

const onPostgres = postgresFixture({
  name: "PostgreSQL",
  missing: undefined,
  url: async () => (await sharedThrowawayPostgres("embedded")).url,
});
const maps = core("default", "configmaps");
const writes = 40;

for (const fixture of [sqliteMemory, onPostgres]) {
  suite(`load, on ${fixture.name}`, () => {
    test("LOAD-1 a write costs as many statements before 100 watchers as before one", async (t) => {
      let statements = 0;
      await using bed = await fixture.prepare();
      await using store = await bed.open({
        onStatement: () => (statements += 1),
      });
      await using server = await startTestServer({ store }, t.signal);
      const api = new Api(server.url, t.signal);
      await api.create(maps, configMap("a"));
      /** Statements for a write, seen by every watcher before the next: the median, for some are made by the clock. */
      const costWith = async (watchers: number): Promise<number> => {
        await using undo = new AsyncDisposableStack();
        const from = meta(await api.get(maps), "resourceVersion");
        const path = `${maps}?watch=1&resourceVersion=${from}`;
        const opened = Array.from({ length: watchers }, () => api.watch(path));
        const watches = (await Promise.all(opened)).map((watch) => undo.use(watch));
        const costs: number[] = [];
        for (let index = 0; index < writes; index += 1) {
          const before = statements;
          const data = { n: `${watchers}/${index}` };
          const { object } = await api.merge(`${maps}/a`, { data });
          const events = await Promise.all(watches.map((watch) => watch.take(1)));
          for (const [event] of events) assert.deepEqual(event?.object, object);
          costs.push(statements - before);
        }
        return costs.toSorted((a, b) => a - b)[writes / 2] ?? 0;
      };
      const [one, many] = [await costWith(1), await costWith(100)];
      t.diagnostic(`${one} statements a write with 1 watcher, ${many} with 100`);
      assert.ok(one > 0);
      assert.ok(Math.abs(many - one) <= one / 10, `${one} → ${many}`);
    });
  });
}
