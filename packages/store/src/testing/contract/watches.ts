import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setImmediate } from "node:timers";
import { seededRandom } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";
import type { Change } from "../../change.ts";
import { Corrupt, Expired } from "../../errors.ts";
import type { Store } from "../../store.ts";
import { everywhere, type Fixture, key, kind, object, signal, summary, take } from "../bed.ts";

const app = (value: string) => ({
  labels: [{ key: "app", operator: "In" as const, values: [value] }],
});

/** Random writes of few objects, so that they collide; answers the expected log. */
async function writeRandomly(store: Store, steps: number, seed: string): Promise<string[]> {
  const random = seededRandom(seed);
  const live = new Map<string, number>();
  const expected: string[] = [];
  for (let step = 0; step < steps; step += 1) {
    const name = `n${random.integer(5)}`;
    const revision = live.get(name);
    if (revision === undefined) {
      const row = await store.create(
        key(name),
        object(name, { uid: name, spec: { step } }),
        signal,
      );
      live.set(name, row.revision);
      expected.push(`ADDED ${name} ${row.revision}`);
    } else if (random.integer(4) === 0) {
      const row = await store.delete(key(name), {}, signal);
      live.delete(name);
      expected.push(`DELETED ${name} ${row.revision}`);
    } else {
      const row = await store.update(
        key(name),
        { body: object(name, { uid: name, spec: { step } }), expect: { revision } },
        signal,
      );
      live.set(name, row.revision);
      expected.push(`MODIFIED ${name} ${row.revision}`);
    }
  }
  return expected;
}

export function describeWatches(fixture: Fixture): void {
  suite("watches", () => {
    test("a watch from the list's revision is silent until something changes", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      await store.create(key("a"), object("a"), signal);
      const { revision } = await store.list(everywhere, {}, signal);
      using watch = await store.watch(everywhere, { from: revision }, signal);
      const first = take(watch, 1);
      // Other kinds and writes that change nothing are no reason to speak.
      await store.create({ kind: "ConfigMap", namespace: "", name: "c" }, object("c"), signal);
      const { body } = await store.get(key("a"), signal);
      await store.update(key("a"), { body, expect: { revision: 2 } }, signal);
      await store.create(key("b"), object("b"), signal);
      assert.deepEqual((await first).map(summary), ["ADDED b 4"]);
    });

    test("a watch resumed from every revision equals the log from there", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open({ limits: { recentChangesMax: 20, pageChanges: 7 } });
      const expected = await writeRandomly(store, 80, "resume");
      for (let from = 1; from <= 80; from += 1) {
        using watch = await store.watch(everywhere, { from }, signal);
        assert.deepEqual(
          (await take(watch, 81 - from)).map(summary),
          expected.slice(from - 1),
          `from ${from}`,
        );
      }
    });

    test("each intermediate version is carried, also a create that is deleted at once", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      using watch = await store.watch(everywhere, { from: 1 }, signal);
      const expected = await writeRandomly(store, 50, "versions");
      await Promise.all([
        store.create(key("x"), object("x"), signal),
        store.delete(key("x"), {}, signal),
      ]);
      const items = await take(watch, 52);
      assert.deepEqual(items.map(summary), [...expected, "ADDED x 52", "DELETED x 53"]);
      const [added, deleted] = items.slice(-2) as [Change, Change];
      assert.deepEqual(deleted.body.value, added.body.value);
    });

    for (const [where, recentChangesMax] of [
      ["memory", 100],
      ["the database", 0],
    ] as const) {
      test(`a change read from ${where} carries the new body, the one before, and the uid`, async () => {
        await using bed = await fixture.prepare();
        await using store = await bed.open({ limits: { recentChangesMax } });
        using live = await store.watch(everywhere, { from: 1 }, signal);
        const { revision } = await store.create(
          key("a"),
          object("a", { uid: "u", spec: { n: 1 } }),
          signal,
        );
        const changed = object("a", { uid: "u", spec: { n: 2 } });
        await store.update(key("a"), { body: changed, expect: { revision } }, signal);
        await store.delete(key("a"), {}, signal);
        using late = await store.watch(everywhere, { from: 1 }, signal);
        for (const watch of [live, late]) {
          const told = (await take(watch, 3)).map((item) => {
            const { uid, body, previous } = item as Change;
            return [uid, body.value["spec"], previous?.value["spec"]];
          });
          assert.deepEqual(told, [
            ["u", { n: 1 }, undefined],
            ["u", { n: 2 }, { n: 1 }],
            ["u", { n: 2 }, { n: 2 }],
          ]);
        }
      });
    }

    test("state and stream come from one snapshot, the end of the state is marked", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      for (const name of ["a", "b", "c"]) await store.create(key(name), object(name), signal);
      await store.delete(key("b"), {}, signal);
      using watch = await store.watch(
        everywhere,
        { from: "state", initialEventsEnd: true },
        signal,
      );
      await store.delete(key("a"), {}, signal);
      await store.create(key("d"), object("d"), signal);
      assert.deepEqual((await take(watch, 5)).map(summary), [
        "ADDED a 2",
        "ADDED c 4",
        "BOOKMARK 5 end",
        "DELETED a 6",
        "ADDED d 7",
      ]);
    });

    test("the mark comes for an empty collection too, and only if asked for", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      using marked = await store.watch(
        everywhere,
        { from: "state", initialEventsEnd: true },
        signal,
      );
      using plain = await store.watch(everywhere, { from: "state" }, signal);
      await store.create(key("a"), object("a"), signal);
      assert.deepEqual((await take(marked, 2)).map(summary), ["BOOKMARK 1 end", "ADDED a 2"]);
      assert.deepEqual((await take(plain, 1)).map(summary), ["ADDED a 2"]);
    });

    test("a long initial state is that of its revision, however slowly it is read", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const total = 1200;
      await Promise.all(
        Array.from({ length: total }, (_, n) =>
          store.create(key(`n${n}`), object(`n${n}`, { uid: `u${n}` }), signal),
        ),
      );
      using watch = await store.watch(
        everywhere,
        { from: "state", initialEventsEnd: true },
        signal,
      );
      const first = (await watch.next()) ?? [];
      for (let n = 0; n < 600; n += 1) await store.delete(key(`n${n}`), {}, signal);
      const rest = await take(watch, total + 1 + 600 - first.length);
      const items = [...first, ...rest];
      const state = items.slice(0, total);
      assert.ok(state.every(({ type, revision }) => type === "ADDED" && revision <= total + 1));
      assert.equal(new Set(state.map((item) => (item as Change).key.name)).size, total);
      assert.equal(
        summary(
          items[total] ?? state[0] ?? { type: "BOOKMARK", revision: 0, initialEventsEnd: false },
        ),
        `BOOKMARK ${total + 1} end`,
      );
      assert.ok(items.slice(total + 1).every(({ type }) => type === "DELETED"));
    });

    test("selectors see the old and the new state: entering is ADDED, leaving DELETED", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const steps: readonly (string | undefined)[] = ["x", "x", "y", undefined, "x"];
      using live = await store.watch(everywhere, { from: 1, selector: app("x") }, signal);
      let revision = 0;
      for (const [index, value] of steps.entries()) {
        const body = object("a", {
          uid: "u",
          spec: { index },
          ...(value !== undefined && { labels: { app: value } }),
        });
        const row =
          index === 0
            ? await store.create(key("a"), body, signal)
            : await store.update(key("a"), { body, expect: { revision } }, signal);
        ({ revision } = row);
      }
      await store.delete(key("a"), {}, signal);
      await store.create(key("b"), object("b", { labels: { app: "y" } }), signal);
      await store.delete(key("b"), {}, signal);
      await store.create(key("c"), object("c", { labels: { app: "x" } }), signal);
      using late = await store.watch(everywhere, { from: 1, selector: app("x") }, signal);
      for (const watch of [live, late]) {
        const items = (await take(watch, 6)) as Change[];
        assert.deepEqual(items.map(summary), [
          "ADDED a 2",
          "MODIFIED a 3",
          "DELETED a 4",
          "ADDED a 6",
          "DELETED a 7",
          "ADDED c 10",
        ]);
        // The last state that matched, with the revision of the change that took it away.
        assert.deepEqual(items[2]?.body.value["spec"], { index: 1 });
      }
    });

    test("removing the last finalizer is one DELETED, with the final body", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      await store.create(
        key("a"),
        object("a", { uid: "u", labels: { app: "x" }, spec: { held: true } }),
        signal,
      );
      using watch = await store.watch(everywhere, { from: 2, selector: app("x") }, signal);
      await store.delete(
        key("a"),
        { final: object("a", { uid: "u", labels: { app: "x" }, spec: {} }) },
        signal,
      );
      const [deleted] = (await take(watch, 1)) as Change[];
      assert.deepEqual(
        [deleted?.type, deleted?.revision, deleted?.body.value["spec"]],
        ["DELETED", 3, {}],
      );
    });

    test("a watch of one namespace or kind carries nothing else", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      using one = await store.watch({ kind, namespace: "one" }, { from: 1 }, signal);
      using other = await store.watch({ kind: "Query", namespace: "" }, { from: 1 }, signal);
      await store.create(key("a", "two"), object("a"), signal);
      await store.create(key("a", "one"), object("a"), signal);
      await store.create({ kind: "Query", namespace: "one", name: "q" }, object("q"), signal);
      assert.deepEqual((await take(one, 1)).map(summary), ["ADDED a 3"]);
      assert.deepEqual((await take(other, 1)).map(summary), ["ADDED q 4"]);
    });

    test("a field selector follows its object", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const selector = {
        fields: [{ path: ["status", "phase"], operator: "Equals" as const, value: "done" }],
      };
      using watch = await store.watch(everywhere, { from: 1, selector }, signal);
      const { revision } = await store.create(
        key("a"),
        object("a", { uid: "u", status: { phase: "running" } }),
        signal,
      );
      await store.update(
        key("a"),
        { body: object("a", { uid: "u", status: { phase: "done" } }), expect: { revision } },
        signal,
      );
      assert.deepEqual((await take(watch, 1)).map(summary), ["ADDED a 3"]);
    });

    test("a watcher that is too slow reads the log at its own pace and rejoins, losing nothing", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open({
        limits: { watchBufferMax: 10, recentChangesMax: 30, pageChanges: 16 },
      });
      using slow = await store.watch(everywhere, { from: 1 }, signal);
      using fast = await store.watch(everywhere, { from: 1 }, signal);
      const fastItems = take(fast, 201);
      const slowItems: string[] = [];
      await Promise.all(
        Array.from({ length: 100 }, (_, n) => store.create(key(`a${n}`), object(`a${n}`), signal)),
      );
      while (slowItems.length < 50) slowItems.push(...(await take(slow, 1)).map(summary));
      await Promise.all(
        Array.from({ length: 100 }, (_, n) => store.create(key(`b${n}`), object(`b${n}`), signal)),
      );
      slowItems.push(...(await take(slow, 200 - slowItems.length)).map(summary));
      const live = slow.next();
      await store.create(key("last"), object("last"), signal);
      slowItems.push(...((await live) ?? []).map(summary));
      assert.equal(slow.isBehind, false);
      assert.deepEqual(slowItems, (await fastItems).map(summary));
      assert.deepEqual(
        slowItems.map((text) => Number(text.split(" ")[2])),
        Array.from({ length: 201 }, (_, n) => n + 2),
      );
    });

    test("watchers share each change and what is encoded of it", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const watches = await Promise.all(
        Array.from({ length: 3 }, () => store.watch(everywhere, { from: 1 }, signal)),
      );
      const pending = watches.map((watch) => take(watch, 1));
      await store.create(key("a"), object("a"), signal);
      const changes = (await Promise.all(pending)).map(([item]) => item as Change);
      let encodings = 0;
      const encode = (change: Change): string => `${(encodings += 1)} ${change.body.text}`;
      assert.equal(new Set(changes.map((change) => change.encoded(encode))).size, 1);
      assert.equal(encodings, 1);
      for (const watch of watches) watch[Symbol.dispose]();
    });

    test("bookmarks tell how far the stream has come, also past what it does not carry", async () => {
      await using bed = await fixture.prepare();
      const clock = new ManualClock();
      await using store = await bed.open({ clock });
      using watch = await store.watch(everywhere, { from: 1, bookmarkEveryMs: 60_000 }, signal);
      await store.create(key("a"), object("a"), signal);
      assert.deepEqual((await take(watch, 1)).map(summary), ["ADDED a 2"]);
      const other = { kind: "ConfigMap", namespace: "", name: "c" };
      await store.create(other, object("c"), signal);
      const next = watch.next();
      await clock.advance(60_000);
      assert.deepEqual((await next)?.map(summary), ["BOOKMARK 3"]);
      assert.equal(watch.position, 3);
      const third = watch.next();
      await clock.advance(60_000);
      assert.deepEqual((await third)?.map(summary), ["BOOKMARK 3"]);
    });

    test("a bookmark never passes a change that is still waiting", async () => {
      await using bed = await fixture.prepare();
      const clock = new ManualClock();
      await using store = await bed.open({ clock });
      using watch = await store.watch(everywhere, { from: 1, bookmarkEveryMs: 60_000 }, signal);
      const first = watch.next();
      await store.create(key("a"), object("a"), signal);
      await first;
      await store.create(key("b"), object("b"), signal);
      await clock.advance(120_000);
      assert.equal(watch.position, 2);
      assert.deepEqual((await take(watch, 2)).map(summary), ["ADDED b 3", "BOOKMARK 3"]);
    });

    test("without bookmarks asked for there are none", async () => {
      await using bed = await fixture.prepare();
      const clock = new ManualClock();
      await using store = await bed.open({ clock });
      using watch = await store.watch(everywhere, { from: 1 }, signal);
      const next = watch.next();
      await clock.advance(3_600_000);
      await store.create(key("a"), object("a"), signal);
      assert.deepEqual((await next)?.map(summary), ["ADDED a 2"]);
    });

    test("a watch from a revision still to come is silent until the store has passed it", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      using watch = await store.watch(everywhere, { from: 4 }, signal);
      const pending = take(watch, 1);
      for (const name of ["a", "b", "c", "d"]) await store.create(key(name), object(name), signal);
      assert.deepEqual((await pending).map(summary), ["ADDED d 5"]);
    });

    test("a revision still to come is not marked before the store has passed it", async () => {
      await using bed = await fixture.prepare();
      const clock = new ManualClock();
      await using store = await bed.open({ clock });
      using watch = await store.watch(everywhere, { from: 3, bookmarkEveryMs: 60_000 }, signal);
      const pending = take(watch, 2);
      await clock.advance(60_000);
      assert.ok(watch.isAhead);
      for (const name of ["a", "b", "c"]) await store.create(key(name), object(name), signal);
      await store.reached(4, signal);
      assert.ok(!watch.isAhead);
      await clock.advance(60_000);
      assert.deepEqual((await pending).map(summary), ["ADDED c 4", "BOOKMARK 4"]);
    });

    test("a watch from below the floor is Expired before any event; list and watch again succeed", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      await store.create(key("a"), object("a"), signal);
      const other = { kind: "ConfigMap", namespace: "", name: "c" };
      await store.create(other, object("c"), signal);
      await store.compact(3, signal);
      await assert.rejects(
        store.watch(everywhere, { from: 2 }, signal),
        (error) => error instanceof Expired && error.floor === 3,
      );
      const { revision } = await store.list(everywhere, {}, signal);
      using watch = await store.watch(everywhere, { from: revision }, signal);
      const pending = take(watch, 1);
      await store.delete(key("a"), {}, signal);
      assert.deepEqual(
        (await pending).map(({ type }) => type),
        ["DELETED"],
      );
    });

    test("a watcher that compaction overtakes fails with Expired, not with a gap", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open({
        limits: { watchBufferMax: 5, recentChangesMax: 0, pageChanges: 8, pagesMax: 0 },
      });
      using watch = await store.watch(everywhere, { from: 1 }, signal);
      const first = take(watch, 1);
      await store.create(key("a"), object("a"), signal);
      await first;
      for (let n = 0; n < 40; n += 1) await store.create(key(`n${n}`), object(`n${n}`), signal);
      await store.compact(30, signal);
      await assert.rejects(take(watch, 40), Expired);
      assert.equal(
        await watch.next().catch((error: unknown) => (error as { code: string }).code),
        "Expired",
      );
    });

    test("a stream ends with its signal, with disposal and with the store, without an error", async () => {
      await using bed = await fixture.prepare();
      const store = await bed.open();
      const controller = new AbortController();
      const byAbort = await store.watch(everywhere, { from: 1 }, controller.signal);
      const byDispose = await store.watch(everywhere, { from: 1 }, signal);
      const byClose = await store.watch(everywhere, { from: 1 }, signal);
      const ends = [byAbort, byDispose, byClose].map((watch) => watch.next());
      controller.abort();
      byDispose[Symbol.dispose]();
      await store[Symbol.asyncDispose]();
      assert.deepEqual(await Promise.all(ends), [undefined, undefined, undefined]);
      assert.equal(await byAbort.next(), undefined);
    });

    test("a loop over a watch can be left at any time", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      await store.create(key("a"), object("a"), signal);
      const watch = await store.watch(everywhere, { from: "state" }, signal);
      for await (const item of watch) {
        assert.equal(summary(item), "ADDED a 2");
        break;
      }
      assert.equal(await watch.next(), undefined);
    });

    test("a list plus the watch from its revision equals a later list", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      await writeRandomly(store, 20, "before");
      const list = await store.list(everywhere, {}, signal);
      using watch = await store.watch(everywhere, { from: list.revision }, signal);
      const survivors = (await store.list(everywhere, {}, signal)).items;
      for (const { key } of survivors) await store.delete(key, {}, signal);
      await writeRandomly(store, 40, "after");
      const cache = new Map(list.items.map((row) => [row.key.name, row.revision]));
      for (const item of await take(watch, survivors.length + 40)) {
        const change = item as Change;
        if (change.type === "DELETED") cache.delete(change.key.name);
        else cache.set(change.key.name, change.revision);
      }
      const later = (await store.list(everywhere, {}, signal)).items;
      assert.deepEqual(cache, new Map(later.map(({ key, revision }) => [key.name, revision])));
    });

    test("reading much of the log holds up nobody", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open({
        limits: { recentChangesMax: 0, pageChanges: 8, pagesMax: 1 },
      });
      const other = (n: number) => ({ kind: "ConfigMap", namespace: "", name: `c${n}` });
      await Promise.all(
        Array.from({ length: 400 }, (_, n) => store.create(other(n), object(`c${n}`), signal)),
      );
      await store.create(key("a"), object("a"), signal);
      using watch = await store.watch(everywhere, { from: 1 }, signal);
      let turns = 0;
      const done = new AbortController();
      const countTurns = (): void => {
        turns += 1;
        if (!done.signal.aborted) setImmediate(countTurns);
      };
      setImmediate(countTurns);
      assert.deepEqual((await take(watch, 1)).map(summary), ["ADDED a 402"]);
      done.abort();
      assert.ok(turns >= 10, `${turns} turns of the event loop while dozens of pages were read`);
    });

    if (fixture.isPersistent) {
      test("a damaged entry of the log fails the watches of its kind, and no others", async () => {
        await using bed = await fixture.prepare();
        const other = { kind: "ConfigMap", namespace: "", name: "c" };
        await (async () => {
          await using store = await bed.open();
          await store.create(other, object("c"), signal);
          await store.create(key("a"), object("a"), signal);
        })();
        await bed.sql?.("UPDATE changes SET object = '[]' WHERE kind = 'ConfigMap'");
        await using store = await bed.open();
        using whole = await store.watch(everywhere, { from: 1 }, signal);
        using damaged = await store.watch(
          { kind: "ConfigMap", namespace: "" },
          { from: 1 },
          signal,
        );
        assert.deepEqual((await take(whole, 1)).map(summary), ["ADDED a 3"]);
        await assert.rejects(
          take(damaged, 1),
          (error) => error instanceof Corrupt && error.key?.name === "c",
        );
      });
    }

    test("reaching a revision can be waited for", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      await store.reached(1, signal);
      const reached = store.reached(3, signal);
      await store.create(key("a"), object("a"), signal);
      await store.create(key("b"), object("b"), signal);
      await reached;
      const never = new AbortController();
      const waiting = store.reached(99, never.signal);
      never.abort(new Error("enough"));
      await assert.rejects(waiting, /enough/);
    });
  });
}
