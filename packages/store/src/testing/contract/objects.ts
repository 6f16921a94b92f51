import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { AlreadyExists, Conflict, Invalid, NotFound } from "../../errors.ts";
import type { Store } from "../../store.ts";
import { dump, key, kind, object, signal, type Fixture } from "../bed.ts";

export function describeObjects(fixture: Fixture): void {
  suite("objects", () => {
    test("an empty store has a revision of at least 1", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      assert.ok((await store.head(signal)) >= 1);
      assert.deepEqual(await store.bounds(signal), { head: 1, floor: 1 });
    });

    test("what is created can be read, with its revision and uid", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const body = object("a", { uid: "u1", spec: { input: "hello" } });
      const created = await store.create(key("a"), body, signal);
      const read = await store.get(key("a"), signal);
      assert.deepEqual([read.key, read.uid, read.revision], [key("a"), "u1", created.revision]);
      assert.deepEqual(read.body.value, body.value);
      assert.equal(await store.revisionOf(key("a"), signal), created.revision);
      assert.equal(await store.head(signal), created.revision);
    });

    test("every write raises the one counter of all kinds by one", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const other = { kind: "ConfigMap", namespace: "", name: "c" };
      const revisions = [
        (await store.create(key("a"), object("a", { uid: "u" }), signal)).revision,
        (await store.create(other, object("c"), signal)).revision,
        (
          await store.update(
            key("a"),
            { body: object("a", { uid: "u", spec: { n: 1 } }), expect: { revision: 2 } },
            signal,
          )
        ).revision,
        (await store.delete(other, {}, signal)).revision,
      ];
      assert.deepEqual(revisions, [2, 3, 4, 5]);
    });

    test("create refuses a name that is taken", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      await store.create(key("a"), object("a"), signal);
      await assert.rejects(store.create(key("a"), object("a"), signal), AlreadyExists);
      assert.equal(await store.head(signal), 2);
    });

    test("the same name may stand in another namespace, kind or group", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const keys = [
        key("a", "one"),
        key("a", "two"),
        key("a", ""),
        { kind: "Query", namespace: "one", name: "a" },
        { kind: "Query.example.com", namespace: "one", name: "a" },
      ];
      for (const [index, each] of keys.entries())
        await store.create(each, object("a", { spec: { index } }), signal);
      for (const [index, each] of keys.entries()) {
        assert.deepEqual((await store.get(each, signal)).body.value["spec"], { index });
      }
    });

    test("what is not there is NotFound, for get, update and delete", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      await assert.rejects(store.get(key("a"), signal), NotFound);
      await assert.rejects(store.revisionOf(key("a"), signal), NotFound);
      await assert.rejects(
        store.update(key("a"), { body: object("a"), expect: { revision: 1 } }, signal),
        NotFound,
      );
      await assert.rejects(store.delete(key("a"), {}, signal), NotFound);
      assert.equal(await store.head(signal), 1);
    });

    test("update refuses a revision that has moved on, and tells both", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const { revision } = await store.create(key("a"), object("a", { uid: "u" }), signal);
      await store.update(
        key("a"),
        { body: object("a", { uid: "u", spec: { n: 1 } }), expect: { revision } },
        signal,
      );
      const late = store.update(
        key("a"),
        { body: object("a", { uid: "u", spec: { n: 2 } }), expect: { revision } },
        signal,
      );
      await assert.rejects(late, (error) => {
        assert.ok(error instanceof Conflict);
        assert.deepEqual(
          [error.expected, error.actual],
          [{ revision }, { revision: revision + 1, uid: "u" }],
        );
        return true;
      });
    });

    test("update and delete refuse another uid", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const { revision } = await store.create(key("a"), object("a", { uid: "u" }), signal);
      const expect = { revision, uid: "other" };
      await assert.rejects(
        store.update(key("a"), { body: object("a", { uid: "u", spec: {} }), expect }, signal),
        Conflict,
      );
      await assert.rejects(store.delete(key("a"), { expect: { uid: "other" } }, signal), Conflict);
      await assert.rejects(
        store.delete(key("a"), { expect: { revision: revision + 1 } }, signal),
        Conflict,
      );
      assert.equal((await store.get(key("a"), signal)).revision, revision);
    });

    test("delete answers the last body with the deletion's revision, and frees the name", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const body = object("a", { uid: "u1" });
      await store.create(key("a"), body, signal);
      const deleted = await store.delete(key("a"), { expect: { uid: "u1" } }, signal);
      assert.deepEqual([deleted.revision, deleted.uid, deleted.body.value], [3, "u1", body.value]);
      await assert.rejects(store.get(key("a"), signal), NotFound);
      const again = await store.create(key("a"), object("a", { uid: "u2" }), signal);
      assert.deepEqual([again.revision, again.uid], [4, "u2"]);
    });

    test("delete may change the last body in the same transaction", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      await store.create(key("a"), object("a", { uid: "u", spec: { finalizers: 1 } }), signal);
      const final = object("a", { uid: "u", spec: {} });
      const deleted = await store.delete(key("a"), { final }, signal);
      assert.deepEqual(deleted.body.value, final.value);
      const [last] = await store.history(key("a"), { limit: 1 }, signal);
      assert.deepEqual(
        [last?.type, last?.body.value, last?.previous?.revision],
        ["DELETED", final.value, 2],
      );
      assert.deepEqual(last?.previous?.body.value["spec"], { finalizers: 1 });
    });

    const oddities: readonly (readonly [string, (store: Store) => Promise<unknown>, string])[] = [
      ["an empty name", (store) => store.create(key(""), object("a"), signal), "name"],
      ["NUL in a name", (store) => store.create(key("a\0b"), object("a"), signal), "name"],
      ["NUL in a name to delete", (store) => store.delete(key("a\0b"), {}, signal), "name"],
      ["NUL in a name to read", (store) => store.get(key("a\0b"), signal), "name"],
      ["half a surrogate pair", (store) => store.get(key("a\ud800"), signal), "name"],
      [
        "a name of 4 kB",
        (store) => store.create(key("a".repeat(4096)), object("a"), signal),
        "name",
      ],
      [
        "a kind that ends in a dot",
        (store) => store.get({ ...key("a"), kind: "Query." }, signal),
        "kind",
      ],
      ["no kind to list", (store) => store.list({ kind: "", namespace: "" }, {}, signal), "kind"],
      [
        "NUL in a namespace to watch",
        (store) => store.watch({ kind, namespace: "\0" }, { from: 1 }, signal),
        "namespace",
      ],
      [
        "NUL in an expected uid",
        (store) => store.delete(key("a"), { expect: { uid: "\0" } }, signal),
        "expect.uid",
      ],
      [
        "half a revision",
        (store) => store.delete(key("a"), { expect: { revision: 1.5 } }, signal),
        "expect.revision",
      ],
      [
        "a uid with NUL",
        (store) => store.create(key("b"), object("b", { uid: "\0" }), signal),
        "metadata.uid",
      ],
    ];
    for (const [what, attempt, field] of oddities) {
      test(`${what} is Invalid, names the field, and fails nobody else`, async () => {
        await using bed = await fixture.prepare();
        await using store = await bed.open();
        const isInvalid = (error: unknown): boolean =>
          error instanceof Invalid && error.field === field;
        const odd = assert.rejects(attempt(store), isInvalid);
        await Promise.all([odd, store.create(key("innocent"), object("innocent"), signal)]);
        assert.equal(await store.head(signal), 2);
      });
    }

    test("an update that does not say which revision it replaces is a mistake of the program", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      await store.create(key("a"), object("a", { uid: "u" }), signal);
      const change = { body: object("a", { uid: "u", spec: {} }), expect: {} };
      await assert.rejects(store.update(key("a"), change as never, signal), {
        name: "AssertionError",
      });
      assert.equal(await store.head(signal), 2);
    });

    test("names that need quoting are names like any other", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      for (const name of ['a"b', "a'b", "a\\b", "a,b", "{a}", "NULL", "a b", "é", "%"]) {
        await store.create(key(name), object(name, { spec: { name } }), signal);
        assert.deepEqual((await store.get(key(name), signal)).body.value["spec"], { name });
      }
    });

    test("the history of an object is told newest first, page by page", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      await store.create(key("a"), object("a", { uid: "u", spec: { n: 0 } }), signal);
      await store.create(key("b"), object("b"), signal);
      let revision = 2;
      for (let n = 1; n <= 3; n += 1) {
        ({ revision } = await store.update(
          key("a"),
          { body: object("a", { uid: "u", spec: { n } }), expect: { revision } },
          signal,
        ));
      }
      await store.delete(key("a"), {}, signal);
      const first = await store.history(key("a"), { limit: 3 }, signal);
      const rest = await store.history(
        key("a"),
        { limit: 3, before: first.at(-1)?.revision ?? 0 },
        signal,
      );
      const told = [...first, ...rest].map(({ type, revision, previous }) => [
        type,
        revision,
        previous?.revision,
      ]);
      assert.deepEqual(told, [
        ["DELETED", 7, 6],
        ["MODIFIED", 6, 5],
        ["MODIFIED", 5, 4],
        ["MODIFIED", 4, 2],
        ["ADDED", 2, undefined],
      ]);
    });

    test("the number of objects of each kind is known", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      await store.create(key("a", "one"), object("a"), signal);
      await store.create(key("b", "two"), object("b"), signal);
      await store.create({ kind: "ConfigMap", namespace: "", name: "c" }, object("c"), signal);
      await store.delete(key("a", "one"), {}, signal);
      assert.deepEqual(Object.fromEntries(await store.countByKind(signal)), {
        ConfigMap: 1,
        [kind]: 1,
      });
    });

    test("the database answers a ping", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      await store.ping(signal);
    });

    if (fixture.isPersistent) {
      test("a store opened again goes on where it was: objects, counter, log and floor", async () => {
        await using bed = await fixture.prepare();
        await (async () => {
          await using store = await bed.open();
          await store.create(key("a"), object("a", { uid: "u" }), signal);
          await store.create(key("b"), object("b"), signal);
          await store.delete(key("b"), {}, signal);
          await store.compact(2, signal);
        })();
        const before = await dump(bed);
        await using store = await bed.open();
        assert.deepEqual(await dump(bed), before);
        assert.deepEqual(await store.bounds(signal), { head: 5, floor: 2 });
        assert.equal((await store.get(key("a"), signal)).uid, "u");
        assert.equal((await store.create(key("c"), object("c"), signal)).revision, 6);
      });
    }
  });
}
