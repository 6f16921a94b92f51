import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Conflict, NotFound } from "../../errors.ts";
import { everywhere, key, object, signal, type Fixture } from "../bed.ts";

export function describeWriters(fixture: Fixture): void {
  suite("writers", () => {
    test("a write that waits for its batch ends with its signal", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const controller = new AbortController();
      const waiting = store.create(key("a"), object("a"), controller.signal);
      controller.abort(new Error("enough"));
      await assert.rejects(waiting, /enough/);
      await assert.rejects(store.get(key("a"), signal), NotFound);
    });

    test("too many writes at once are refused, not kept", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open({ limits: { queuedWritesMax: 10 } });
      const results = await Promise.allSettled(
        Array.from({ length: 30 }, (_, n) => store.create(key(`n${n}`), object(`n${n}`), signal)),
      );
      const codes = results.map((result) =>
        result.status === "fulfilled" ? "ok" : result.reason.code,
      );
      assert.deepEqual(new Set(codes), new Set(["ok", "Unavailable"]));
      assert.equal(
        (await store.list(everywhere, {}, signal)).items.length,
        codes.filter((code) => code === "ok").length,
      );
    });

    test("an aborted signal stops a write before it begins", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const reason = new Error("changed my mind");
      await assert.rejects(store.create(key("a"), object("a"), AbortSignal.abort(reason)), reason);
      await assert.rejects(store.get(key("a"), AbortSignal.abort(reason)), reason);
      await assert.rejects(store.list(everywhere, {}, AbortSignal.abort(reason)), reason);
      assert.equal(await store.head(signal), 1);
    });

    test("of many writers that expect the same revision one succeeds", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const { revision } = await store.create(key("a"), object("a", { uid: "u" }), signal);
      const attempts = Array.from({ length: 20 }, (_, n) =>
        store.update(
          key("a"),
          { body: object("a", { uid: "u", spec: { n } }), expect: { revision } },
          signal,
        ),
      );
      const results = await Promise.allSettled(attempts);
      assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
      assert.ok(
        results.every(
          (result) => result.status === "fulfilled" || result.reason instanceof Conflict,
        ),
      );
      assert.equal(await store.head(signal), revision + 1);
    });

    test("counters raised by compare-and-set lose nothing", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      await store.create(key("a"), object("a", { uid: "u", spec: { n: 0 } }), signal);
      const raise = async (): Promise<void> => {
        for (;;) {
          const { body, revision } = await store.get(key("a"), signal);
          const { n } = body.value["spec"] as { n: number };
          const raised = object("a", { uid: "u", spec: { n: n + 1 } });
          try {
            await store.update(key("a"), { body: raised, expect: { revision } }, signal);
            return;
          } catch (error) {
            if (!(error instanceof Conflict)) throw error;
          }
        }
      };
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          for (let i = 0; i < 5; i += 1) await raise();
        }),
      );
      assert.deepEqual((await store.get(key("a"), signal)).body.value["spec"], { n: 40 });
    });

    test("writes of one batch succeed and fail each for itself, with revisions in their order", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      await store.create(key("taken"), object("taken"), signal);
      const results = await Promise.allSettled([
        store.create(key("a"), object("a"), signal),
        store.create(key("taken"), object("taken"), signal),
        store.create(key("b"), object("b"), signal),
        store.delete(key("ghost"), {}, signal),
        store.create(key("c"), object("c"), signal),
      ]);
      const outcomes = results.map((result) =>
        result.status === "fulfilled" ? result.value.revision : result.reason.code,
      );
      assert.deepEqual(outcomes, [3, "AlreadyExists", 4, "NotFound", 5]);
    });

    test("two writes of one object in a row keep their order", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const [created, deleted, again] = await Promise.all([
        store.create(key("a"), object("a", { uid: "u1" }), signal),
        store.delete(key("a"), { expect: { uid: "u1" } }, signal),
        store.create(key("a"), object("a", { uid: "u2" }), signal),
      ]);
      assert.deepEqual([created.revision, deleted.revision, again.revision], [2, 3, 4]);
    });

    if (fixture.isPersistent) {
      test("closing finishes the batch under way and refuses what waits", async () => {
        await using bed = await fixture.prepare();
        const begun = Promise.withResolvers<void>();
        const store = await bed.open({
          limits: { batchWritesMax: 5 },
          onStatement: (name) => {
            if (name === "writeBatch" || name === "begin") begun.resolve();
          },
        });
        const writes = Array.from({ length: 10 }, (_, n) =>
          store.create(key(`n${n}`), object(`n${n}`), signal),
        );
        const settled = Promise.allSettled(writes);
        await begun.promise;
        await Promise.all([store[Symbol.asyncDispose](), store[Symbol.asyncDispose]()]);
        const outcomes = (await settled).map((result) =>
          result.status === "fulfilled" ? "written" : result.reason.code,
        );
        const refused = { code: "Unavailable" };
        await assert.rejects(store.create(key("late"), object("late"), signal), refused);
        await assert.rejects(store.get(key("n0"), signal), refused);
        await assert.rejects(store.list(everywhere, {}, signal), refused);
        await using again = await bed.open();
        const { items } = await again.list(everywhere, {}, signal);
        // Every acknowledged write is there, and every other was refused.
        assert.deepEqual(
          items.map(({ key }) => key.name),
          outcomes.flatMap((outcome, n) => (outcome === "written" ? [`n${n}`] : [])),
        );
        assert.ok(items.length >= 5);
        assert.ok(outcomes.every((outcome) => outcome === "written" || outcome === "Unavailable"));
      });
    }
  });
}
