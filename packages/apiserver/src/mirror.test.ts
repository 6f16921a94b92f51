import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { silentLog, systemClock, systemRandom, TaskScope } from "@keelson/base";
import { until } from "@keelson/base/testing";
import { Body, SqliteBackend, Store } from "@keelson/store";

import { Mirror, type MirrorChange } from "./mirror.ts";

const kind = "ConfigMap";
const key = (name: string) => ({ kind, namespace: "default", name });
const body = (name: string, data: Record<string, string> = {}): Body =>
  Body.of({
    apiVersion: "v1",
    kind,
    metadata: { name, namespace: "default", uid: `uid-${name}` },
    data,
  });

async function prepare(signal: AbortSignal) {
  await using undo = new AsyncDisposableStack();
  const backend = new SqliteBackend({ path: ":memory:", clock: systemClock });
  const store = undo.use(
    await Store.open({ backend, limits: { compactionEveryMs: undefined } }, signal),
  );
  const scope = undo.use(new TaskScope(signal));
  const mirror = new Mirror({
    store,
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    kind,
  });
  const changes: string[] = [];
  mirror.onChange((change: MirrorChange) => {
    const { key: where } = change.type === "set" ? change.entry : change.previous;
    changes.push(`${change.type} ${where.name}`);
  });
  const disposal = undo.move();
  return { store, scope, mirror, changes, [Symbol.asyncDispose]: () => disposal.disposeAsync() };
}

const namesOf = (mirror: Mirror): readonly string[] =>
  [...mirror.values()].map((entry) => entry.key.name).toSorted();

suite("a mirror", () => {
  test("shows what was there, and follows", async (t) => {
    await using bed = await prepare(t.signal);
    const { store, scope, mirror, changes } = bed;
    await store.create(key("a"), body("a"), t.signal);
    scope.spawn("mirror", (signal) => mirror.run(signal));
    await mirror.ready;
    assert.deepEqual(namesOf(mirror), ["a"]);
    const { revision } = await store.create(key("b"), body("b"), t.signal);
    await store.delete(key("a"), {}, t.signal);
    await until(() => Promise.resolve(mirror.revision > revision), "the mirror is level");
    assert.deepEqual([namesOf(mirror), changes], [["b"], ["set a", "set b", "deleted a"]]);
  });

  test("after a gap shows the state again, and tells what is gone since", async (t) => {
    await using bed = await prepare(t.signal);
    const { store, scope, mirror, changes } = bed;
    await store.create(key("goes"), body("goes"), t.signal);
    await store.create(key("stays"), body("stays"), t.signal);
    const { revision } = await store.create(key("changes"), body("changes"), t.signal);
    const first = new AbortController();
    const run = mirror.run(first.signal).catch(() => undefined);
    await mirror.ready;
    first.abort();
    await run;
    changes.length = 0;
    await store.delete(key("goes"), {}, t.signal);
    const changed = { body: body("changes", { k: "v" }), expect: { revision } };
    await store.update(key("changes"), changed, t.signal);
    await store.create(key("comes"), body("comes"), t.signal);
    const head = await store.head(t.signal);
    await store.compact(head, t.signal);
    scope.spawn("mirror", (signal) => mirror.run(signal));
    await until(() => Promise.resolve(mirror.revision >= head), "the mirror is level");
    assert.deepEqual(namesOf(mirror), ["changes", "comes", "stays"]);
    assert.deepEqual(changes.toSorted(), ["deleted goes", "set changes", "set comes"]);
  });
});
