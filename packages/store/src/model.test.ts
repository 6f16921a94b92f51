// Any writes agree with a Map, and replaying the log rebuilds it.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { systemClock } from "@keelson/base";
import * as fc from "fast-check";
import type { Change } from "./change.ts";
import { StoreError } from "./errors.ts";
import { SqliteBackend } from "./sqlite/backend.ts";
import { Store } from "./store.ts";
import { everywhere, key, object, signal, take } from "./testing/bed.ts";

/** Few names, so that writes collide. */
const name = fc.constantFrom("a", "b", "c", "🛶");
const step = fc.oneof(
  fc.record({ type: fc.constant("create" as const), name, value: fc.jsonValue() }),
  fc.record({
    type: fc.constant("update" as const),
    name,
    value: fc.jsonValue(),
    isStale: fc.boolean(),
  }),
  fc.record({ type: fc.constant("delete" as const), name }),
  fc.record({ type: fc.constant("compact" as const), back: fc.nat(3) }),
);

suite("store as a map", () => {
  test("any writes agree with a Map; the log replayed from any retained revision rebuilds it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const backend = new SqliteBackend({ path: ":memory:", clock: systemClock });
        await using store = await Store.open(
          { backend, limits: { compactionEveryMs: undefined } },
          signal,
        );
        const model = new Map<string, { revision: number; text: string }>();
        const written: number[] = [];
        const states = new Map<number, ReadonlyMap<string, number>>();

        for (const each of steps) {
          if (each.type === "compact")
            await store.compact((await store.head(signal)) - each.back, signal);
          else if (await agree(store, model, each)) written.push(await store.head(signal));
          const revisions = [...model].map(([name, { revision }]) => [name, revision] as const);
          states.set(await store.head(signal), new Map(revisions));
        }

        const { items } = await store.list(everywhere, {}, signal);
        const found = items.map(
          ({ key, revision, body }) => [key.name, { revision, text: body.text }] as const,
        );
        assert.deepEqual(new Map(found), model);

        const { floor } = await store.bounds(signal);
        for (const [from, state] of states) {
          if (from < floor) continue;
          using watch = await store.watch(everywhere, { from }, signal);
          const replayed = new Map(state);
          const changes = await take(watch, written.filter((revision) => revision > from).length);
          for (const { type, key, revision } of changes as Change[]) {
            if (type === "DELETED") replayed.delete(key.name);
            else replayed.set(key.name, revision);
          }
          assert.deepEqual(
            replayed,
            new Map([...model].map(([name, { revision }]) => [name, revision])),
          );
        }
      }),
      { numRuns: 150 },
    );
  });
});

/** One write on both; they must take it alike. Answers whether it wrote. */
async function agree(
  store: Store,
  model: Map<string, { revision: number; text: string }>,
  write: {
    type: "create" | "update" | "delete";
    name: string;
    value?: fc.JsonValue;
    isStale?: boolean;
  },
): Promise<boolean> {
  const current = model.get(write.name);
  const body = object(write.name, {
    uid: write.name,
    spec: { value: write.value ?? null } as never,
  });
  try {
    switch (write.type) {
      case "create": {
        const { revision } = await store.create(key(write.name), body, signal);
        assert.equal(current, undefined);
        model.set(write.name, { revision, text: body.text });
        return true;
      }
      case "update": {
        const expected = (current?.revision ?? 2) - (write.isStale === true ? 1 : 0);
        const { revision } = await store.update(
          key(write.name),
          { body, expect: { revision: expected } },
          signal,
        );
        assert.ok(current !== undefined && write.isStale !== true);
        if (body.text === current.text) assert.equal(revision, current.revision);
        else model.set(write.name, { revision, text: body.text });
        return body.text !== current.text;
      }
      case "delete":
        await store.delete(key(write.name), {}, signal);
        assert.ok(current !== undefined);
        model.delete(write.name);
        return true;
    }
  } catch (error) {
    assert.ok(error instanceof StoreError, String(error));
    if (error.code === "AlreadyExists") assert.ok(current !== undefined);
    else if (error.code === "NotFound") assert.equal(current, undefined);
    else assert.ok(error.code === "Conflict" && write.isStale === true);
    return false;
  }
}
