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
/** What is done every so often, whoever writes. */
const byTheClock = new Set(["claim", "release", "selectSize"]);

for (const fixture of [sqliteMemory, onPostgres]) {
  suite(`load, on ${fixture.name}`, () => {
    test("LOAD-1 a write costs as many statements before 100 watchers as before one", async (t) => {
      let statements = 0;
      await using bed = await fixture.prepare();
      await using store = await bed.open({
        onStatement: (name) => void (statements += byTheClock.has(name) ? 0 : 1),
      });
      await using server = await startTestServer({ store }, t.signal);
      const api = new Api(server.url, t.signal);
      await api.create(maps, configMap("a"));
      /** Statements for a write, each seen by every watcher before the next. */
      const costWith = async (watchers: number): Promise<number> => {
        await using undo = new AsyncDisposableStack();
        const from = meta(await api.get(maps), "resourceVersion");
        const path = `${maps}?watch=1&resourceVersion=${from}`;
        const opened = Array.from({ length: watchers }, () => api.watch(path));
        const watches = (await Promise.all(opened)).map((watch) => undo.use(watch));
        const before = statements;
        for (let index = 0; index < writes; index += 1) {
          const data = { n: `${watchers}/${index}` };
          const { object } = await api.merge(`${maps}/a`, { data });
          const events = await Promise.all(watches.map((watch) => watch.take(1)));
          for (const [event] of events) assert.deepEqual(event?.object, object);
        }
        return (statements - before) / writes;
      };
      const [one, many] = [await costWith(1), await costWith(100)];
      t.diagnostic(
        `${one.toFixed(2)} statements a write with 1 watcher, ${many.toFixed(2)} with 100`,
      );
      assert.ok(one > 0);
      assert.ok(Math.abs(many - one) <= one / 10, `${one} → ${many}`);
    });
  });
}
