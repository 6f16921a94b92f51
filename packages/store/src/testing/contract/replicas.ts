import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { NotFound } from "../../errors.ts";
import { everywhere, type Fixture, key, object, signal, summary, take } from "../bed.ts";

export function describeReplicas(fixture: Fixture): void {
  suite("replicas", () => {
    test("a write on one is read on the other at once, though it had the object in memory", async () => {
      await using bed = await fixture.prepare();
      await using one = await bed.open();
      await using two = await bed.open();
      let { revision } = await one.create(
        key("a"),
        object("a", { uid: "u", spec: { n: 0 } }),
        signal,
      );
      for (let n = 1; n <= 20; n += 1) {
        const [writer, reader] = n % 2 === 0 ? [one, two] : [two, one];
        await reader.get(key("a"), signal);
        ({ revision } = await writer.update(
          key("a"),
          { body: object("a", { uid: "u", spec: { n } }), expect: { revision } },
          signal,
        ));
        assert.equal((await reader.get(key("a"), signal)).revision, revision);
        assert.equal((await reader.list(everywhere, {}, signal)).revision, revision);
      }
      await one.delete(key("a"), {}, signal);
      await assert.rejects(two.get(key("a"), signal), NotFound);
    });

    test("watchers on both see the writes of both, in one order", async () => {
      await using bed = await fixture.prepare();
      await using one = await bed.open();
      await using two = await bed.open();
      using onOne = await one.watch(everywhere, { from: 1 }, signal);
      using onTwo = await two.watch(everywhere, { from: 1 }, signal);
      const seen = Promise.all([take(onOne, 200), take(onTwo, 200)]);
      await Promise.all(
        [one, two].flatMap((store, replica) =>
          Array.from({ length: 100 }, (_, n) =>
            store.create(key(`r${replica}-${n}`), object(`n${n}`), signal),
          ),
        ),
      );
      const [first, second] = await seen;
      assert.deepEqual(first.map(summary), second.map(summary));
      assert.deepEqual(
        first.map(({ revision }) => revision),
        Array.from({ length: 200 }, (_, n) => n + 2),
      );
    });

    test("of writers on several replicas that expect the same revision one succeeds", async () => {
      await using bed = await fixture.prepare();
      await using one = await bed.open();
      await using two = await bed.open();
      let { revision } = await one.create(key("a"), object("a", { uid: "u" }), signal);
      for (let round = 0; round < 10; round += 1) {
        const attempts = [one, two].map((store, n) =>
          store.update(
            key("a"),
            { body: object("a", { uid: "u", spec: { round, n } }), expect: { revision } },
            signal,
          ),
        );
        const results = await Promise.allSettled(attempts);
        const winners = results.filter((result) => result.status === "fulfilled");
        assert.equal(winners.length, 1);
        revision = winners[0]?.value.revision ?? 0;
      }
    });

    test("a claim is held by one, passes on when released, and its token rises", async () => {
      await using bed = await fixture.prepare();
      await using one = await bed.open();
      await using two = await bed.open();
      const ask = { ttlMs: 600_000 };
      assert.deepEqual(await one.claim("work", { holder: "one", ...ask }, signal), { token: 1 });
      assert.equal(await two.claim("work", { holder: "two", ...ask }, signal), undefined);
      assert.deepEqual(await one.claim("work", { holder: "one", ...ask }, signal), { token: 1 });
      await two.release("work", "two", signal);
      assert.equal(await two.claim("work", { holder: "two", ...ask }, signal), undefined);
      await one.release("work", "one", signal);
      assert.deepEqual(await two.claim("work", { holder: "two", ...ask }, signal), { token: 2 });
      // A claim that has run out is free.
      await two.claim("work", { holder: "two", ttlMs: -1 }, signal);
      assert.deepEqual(await one.claim("work", { holder: "one", ...ask }, signal), { token: 3 });
    });

    test("compaction by one is seen by the other", async () => {
      await using bed = await fixture.prepare();
      await using one = await bed.open();
      await using two = await bed.open();
      for (const name of ["a", "b", "c"]) await one.create(key(name), object(name), signal);
      await one.compact(3, signal);
      assert.deepEqual(await two.bounds(signal), { head: 5, floor: 3 });
      await assert.rejects(two.watch(everywhere, { from: 2 }, signal), { code: "Expired" });
    });
  });
}
