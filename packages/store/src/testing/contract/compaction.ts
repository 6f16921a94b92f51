import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ManualClock } from "@keelson/base/testing";
import { Expired } from "../../errors.ts";
import { dump, everywhere, type Fixture, key, object, signal, summary, take } from "../bed.ts";

export function describeCompaction(fixture: Fixture): void {
  suite("compaction", () => {
    test("cutting raises the floor, consumes a revision and leaves the objects alone", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      for (const name of ["a", "b", "c"]) await store.create(key(name), object(name), signal);
      await store.compact(3, signal);
      assert.deepEqual(await store.bounds(signal), { head: 5, floor: 3 });
      assert.equal((await store.list(everywhere, {}, signal)).items.length, 3);
      using watch = await store.watch(everywhere, { from: 3 }, signal);
      assert.deepEqual((await take(watch, 1)).map(summary), ["ADDED c 4"]);
      assert.equal((await store.create(key("d"), object("d"), signal)).revision, 6);
      assert.deepEqual((await take(watch, 1)).map(summary), ["ADDED d 6"]);
    });

    test("the floor never falls and never passes the head", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      for (const name of ["a", "b", "c"]) await store.create(key(name), object(name), signal);
      await store.compact(3, signal);
      await store.compact(2, signal);
      assert.deepEqual(await store.bounds(signal), { head: 6, floor: 3 });
      await store.compact(99, signal);
      assert.deepEqual(await store.bounds(signal), { head: 7, floor: 6 });
    });

    test("a long log is cut a little at a time, with writes between", async () => {
      await using bed = await fixture.prepare();
      const statements: string[] = [];
      await using store = await bed.open({
        limits: { cutEntries: 10 },
        onStatement: (name) => statements.push(name),
      });
      await Promise.all(
        Array.from({ length: 95 }, (_, n) => store.create(key(`n${n}`), object(`n${n}`), signal)),
      );
      const before = statements.length;
      const [created] = await Promise.all([
        store.create(key("between"), object("between"), signal),
        store.compact(90, signal),
      ]);
      assert.ok(created.revision > 96);
      const { floor } = await store.bounds(signal);
      assert.equal(floor, 90);
      const cuts = statements
        .slice(before)
        .filter((name) => name === "cut" || name === "deleteChanges");
      assert.ok(cuts.length >= 9, `${cuts.length} cuts`);
      if (bed.sql === undefined) return;
      const [oldest] = await bed.sql("SELECT min(revision) AS revision FROM changes");
      assert.equal(Number(oldest?.["revision"]), 91);
    });

    test("large entries are cut a few at a time, one that is larger than all may be by itself", async () => {
      await using bed = await fixture.prepare();
      const statements: string[] = [];
      await using store = await bed.open({
        limits: { cutBytes: 5000 },
        onStatement: (name) => statements.push(name),
      });
      const sizes = [2000, 2000, 2000, 9000, 10, 10];
      for (const [n, size] of sizes.entries()) {
        const text = "x".repeat(size);
        await store.create(key(`n${n}`), object(`n${n}`, { spec: { text } }), signal);
      }
      const before = statements.length;
      await store.compact(7, signal);
      const cuts = statements
        .slice(before)
        .filter((name) => name === "cut" || name === "deleteChanges");
      assert.equal(cuts.length, 4, "two, one, the large one, the rest");
      assert.deepEqual(await store.bounds(signal), { head: 8, floor: 7 });
    });

    test("what no object is left in is not counted for ever", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      for (const namespace of ["a", "b", "c"]) {
        await store.create(key("x", namespace), object("x"), signal);
        if (namespace !== "b") await store.delete(key("x", namespace), {}, signal);
      }
      await store.compact(1, signal);
      if (bed.sql !== undefined) {
        const rows = await bed.sql("SELECT namespace, objects FROM counts");
        const counts = rows.map(({ namespace, objects }) => [namespace, Number(objects)]);
        assert.deepEqual(counts, [["b", 1]]);
      }
      await store.create(key("x", "a"), object("x"), signal);
      await store.create(key("y", "a"), object("y"), signal);
      const { remaining } = await store.list(everywhere, { limit: 1 }, signal);
      assert.equal(remaining, 2);
    });

    test("a reader of the log races compaction: it gets everything or Expired, never a gap", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open({
        limits: { recentChangesMax: 10, pagesMax: 0, pageChanges: 16, cutEntries: 7 },
      });
      for (let round = 0; round < 6; round += 1) {
        const { head } = await store.bounds(signal);
        await Promise.all(
          Array.from({ length: 60 }, (_, n) =>
            store.create(key(`r${round}-${n}`), object(`n${n}`), signal),
          ),
        );
        const read = async (): Promise<void> => {
          const revisions: number[] = [];
          try {
            using watch = await store.watch(everywhere, { from: head }, signal);
            while (revisions.length < 60)
              revisions.push(...(await take(watch, 1)).map(({ revision }) => revision));
          } catch (error) {
            assert.ok(error instanceof Expired);
          }
          const expected = revisions.map((_, index) => head + 1 + index);
          assert.deepEqual(revisions, expected);
        };
        await Promise.all([read(), read(), store.compact(head + 40, signal), read()]);
      }
    });

    test("every interval the log is cut below the head of the interval before", async () => {
      await using bed = await fixture.prepare();
      const clock = new ManualClock();
      await using store = await bed.open({ clock, limits: { compactionEveryMs: 300_000 } });
      const nextCut = async (above: number): Promise<{ head: number; floor: number }> => {
        for (;;) {
          const bounds = await store.bounds(signal);
          if (bounds.floor > above) return bounds;
          await clock.advance(300_000);
        }
      };
      await store.create(key("a"), object("a"), signal);
      await clock.advance(299_999);
      assert.deepEqual(await store.bounds(signal), { head: 2, floor: 1 });
      // The first run only notes the head; the second cuts there.
      const first = await nextCut(1);
      assert.equal(first.floor, 2);
      // An idle store moves on too: each cut consumes a revision.
      const second = await nextCut(first.floor);
      assert.ok(second.head > first.head);
      assert.ok(second.floor <= second.head);
    });

    test("a jump of the wall clock cuts nothing", async () => {
      await using bed = await fixture.prepare();
      const clock = new ManualClock();
      await using store = await bed.open({ clock, limits: { compactionEveryMs: 300_000 } });
      await store.create(key("a"), object("a"), signal);
      for (const hours of [1, -2, 1]) {
        clock.shiftWall(hours * 3_600_000);
        await clock.advance(1000);
      }
      assert.deepEqual(await store.bounds(signal), { head: 2, floor: 1 });
      assert.equal((await store.create(key("b"), object("b"), signal)).revision, 3);
    });

    test("what a leap left behind is cut a little at a time too", async () => {
      await using bed = await fixture.prepare();
      const statements: string[] = [];
      await using store = await bed.open({
        limits: { cutEntries: 10 },
        onStatement: (name) => statements.push(name),
      });
      await Promise.all(
        Array.from({ length: 50 }, (_, n) => store.create(key(`n${n}`), object(`n${n}`), signal)),
      );
      const { head } = await store.leap(signal);
      const before = statements.length;
      await store.compact(head, signal);
      const cuts = statements
        .slice(before)
        .filter((name) => name === "cut" || name === "deleteChanges");
      assert.ok(cuts.length >= 5, `${cuts.length} cuts`);
      assert.deepEqual(await store.bounds(signal), { head: head + 1, floor: head });
    });

    if (fixture.isPersistent) {
      test("the floor survives a restart, and reads below it stay Expired", async () => {
        await using bed = await fixture.prepare();
        await (async () => {
          await using store = await bed.open();
          for (const name of ["a", "b", "c"]) await store.create(key(name), object(name), signal);
          await store.compact(3, signal);
        })();
        const before = await dump(bed);
        await using store = await bed.open();
        assert.deepEqual(await dump(bed), before);
        await assert.rejects(store.watch(everywhere, { from: 2 }, signal), Expired);
        await assert.rejects(
          store.list(everywhere, { revision: 2, match: "exact" }, signal),
          Expired,
        );
      });

      test("after a leap every revision handed out before expires, and new ones are far above", async () => {
        await using bed = await fixture.prepare();
        await using store = await bed.open();
        const { revision } = await store.create(key("a"), object("a", { uid: "u" }), signal);
        using watch = await store.watch(everywhere, { from: revision }, signal);
        const next = watch.next();
        await store.leap(signal);
        await assert.rejects(store.watch(everywhere, { from: revision }, signal), Expired);
        await assert.rejects(next, Expired);
        const list = await store.list(everywhere, {}, signal);
        assert.ok(list.revision > revision + 1_000_000_000);
        const updated = await store.update(
          key("a"),
          { body: object("a", { uid: "u", spec: {} }), expect: { revision } },
          signal,
        );
        assert.equal(updated.revision, list.revision + 1);
        using again = await store.watch(everywhere, { from: list.revision }, signal);
        assert.deepEqual(
          (await take(again, 1)).map(({ type }) => type),
          ["MODIFIED"],
        );
      });
    }
  });
}
