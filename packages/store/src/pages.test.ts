// What a page costs: one read where one is enough.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Cursor } from "./pages.ts";
import { everywhere, key, object, signal } from "./testing/bed.ts";
import { sqliteFile, sqliteMemory } from "./testing/fixtures.ts";

suite("pages", () => {
  test("a page of 500 is one read, now and at an earlier revision", async () => {
    const statements: string[] = [];
    const bed = await sqliteMemory.prepare();
    await using store = await bed.open({ onStatement: (name) => void statements.push(name) });
    const names = Array.from({ length: 1200 }, (_, n) => `q${String(n).padStart(4, "0")}`);
    await Promise.all(names.map((name) => store.create(key(name), object(name), signal)));

    for (const isWrittenBetween of [false, true]) {
      const listed: string[] = [];
      const reads: number[] = [];
      let next: Cursor | undefined;
      do {
        statements.length = 0;
        const options = next === undefined ? { limit: 500 } : { limit: 500, continue: next };
        const page = await store.list(everywhere, options, signal);
        listed.push(...page.items.map((item) => item.key.name));
        reads.push(statements.filter((name) => /^select(Rows|Keys|Object)$/.test(name)).length);
        next = page.continue;
        const other = { kind: "Other", namespace: "", name: `o${reads.length}` };
        if (isWrittenBetween) await store.create(other, object(other.name), signal);
      } while (next !== undefined);
      assert.deepEqual(listed, names);
      assert.deepEqual(reads, [1, 1, 1]);
    }
  });

  test("what is in memory is not read again, and what is read stays if there is room", async () => {
    const statements: string[] = [];
    await using bed = await sqliteFile.prepare();
    const names = Array.from({ length: 600 }, (_, n) => `q${String(n).padStart(4, "0")}`);
    await (async () => {
      await using store = await bed.open();
      await Promise.all(names.map((name) => store.create(key(name), object(name), signal)));
    })();
    await using store = await bed.open({ onStatement: (name) => void statements.push(name) });
    const list = async (): Promise<readonly string[]> => {
      statements.length = 0;
      const { items } = await store.list(everywhere, {}, signal);
      assert.deepEqual(
        items.map((item) => item.key.name),
        names,
      );
      assert.ok(items.every(({ key, body }) => body.text.includes(`"${key.name}"`)));
      return statements.filter((name) => /^select(Rows|Object)$/.test(name));
    };
    assert.deepEqual(await list(), ["selectRows", "selectRows"]);
    assert.deepEqual(await list(), []);
    const row = await store.get(key("q0300"), signal);
    const body = object("q0300", { spec: { isNew: true } });
    const { revision } = await store.update(
      key("q0300"),
      { body, expect: { revision: row.revision } },
      signal,
    );
    const { items } = await store.list(everywhere, {}, signal);
    assert.deepEqual([items[300]?.revision, items[300]?.body.text], [revision, body.text]);
    const past = await store.list(everywhere, { revision: revision - 1, match: "exact" }, signal);
    assert.deepEqual(past.items[300]?.body.text, row.body.text);
  });

  test("a page whose objects lie behind many that are newer does not walk one by one", async () => {
    const statements: string[] = [];
    const bed = await sqliteMemory.prepare();
    await using store = await bed.open({ onStatement: (name) => void statements.push(name) });
    const create = (names: readonly string[]) =>
      Promise.all(names.map((name) => store.create(key(name), object(name), signal)));
    const old = Array.from({ length: 100 }, (_, n) => `a${String(n).padStart(3, "0")}`);
    await create([...old, "z"]);
    const revision = await store.head(signal);
    await create(Array.from({ length: 2000 }, (_, n) => `m${String(n).padStart(4, "0")}`));

    statements.length = 0;
    const page = await store.list(everywhere, { limit: 100, revision, match: "exact" }, signal);
    assert.deepEqual(
      page.items.map((item) => item.key.name),
      old,
    );
    assert.deepEqual(page.continue?.after.name, "a099");
    const reads = statements.filter((name) => name === "selectRows").length;
    assert.ok(reads <= 6, `${reads} reads`);
  });
});
