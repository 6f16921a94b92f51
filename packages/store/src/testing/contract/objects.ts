import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { JsonNumber, readJson, writeJson, type JsonObject } from "@keelson/base";
import { Body } from "../../body.ts";
import { AlreadyExists, Conflict, Invalid, NotFound } from "../../errors.ts";
import { dump, everywhere, type Fixture, key, kind, object, signal } from "../bed.ts";

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

    test("an update to an equal body writes nothing, in whatever order its members stand", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const { revision } = await store.create(
        key("a"),
        object("a", { uid: "u", spec: { a: 1, b: 2 } }),
        signal,
      );
      const same = Body.of({
        spec: { b: 2, a: 1 },
        metadata: { uid: "u", name: "a" },
        kind: "Query",
        apiVersion: "ark.mckinsey.com/v1alpha1",
      });
      const updated = await store.update(key("a"), { body: same, expect: { revision } }, signal);
      assert.equal(updated.revision, revision);
      assert.equal(await store.head(signal), revision);
      assert.deepEqual(
        await store.history(key("a"), { limit: 10 }, signal).then((entries) => entries.length),
        1,
      );
    });

    test("an update to an equal body still refuses a revision that has moved on", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const body = object("a", { uid: "u" });
      const { revision } = await store.create(key("a"), body, signal);
      await store.update(
        key("a"),
        { body: object("a", { uid: "u", spec: { n: 1 } }), expect: { revision } },
        signal,
      );
      await assert.rejects(
        store.update(key("a"), { body, expect: { revision } }, signal),
        Conflict,
      );
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

    const texts: readonly (readonly [string, string])[] = [
      ["an integer beyond 2^53", '{"n":9007199254740993}'],
      ["the largest int64", '{"n":9223372036854775807}'],
      ["an integer beyond int64", '{"n":123456789012345678901234567890}'],
      ["a float that is whole", '{"n":1.0}'],
      ["an exponent", '{"n":1e3,"m":1E-7}'],
      ["a huge exponent", '{"n":1e400}'],
      ["negative zero", '{"n":-0}'],
      ["__proto__ as a member", '{"__proto__":{"polluted":true},"constructor":1}'],
      ["unicode outside the BMP", '{"s":"𝒦 — ünï ﷺ 🛶"}'],
      ["NUL and control characters", '{"s":"a\\u0000b\\u0001"}'],
      ["half a surrogate pair", '{"s":"\\ud800"}'],
      ["text that looks like an escape", '{"s":"\\\\u0000 \\\\ud800 1e999"}'],
      ["empty containers and null", '{"a":[],"o":{},"n":null}'],
      ["a deep value", `{"d":${"[".repeat(200)}${"]".repeat(200)}}`],
      ["quotes, backslashes and braces", '{"q":"\\"\\\\{},NULL"}'],
    ];
    for (const [what, text] of texts) {
      test(`${what} comes back as it was sent, after a change and from the log too`, async () => {
        await using bed = await fixture.prepare();
        await using store = await bed.open({ limits: { cacheBytesMax: 0, recentChangesMax: 0 } });
        const spec = readJson(text) as JsonObject;
        const { revision } = await store.create(key("a"), object("a", { uid: "u", spec }), signal);
        assert.equal(
          writeJson((await store.get(key("a"), signal)).body.value["spec"] ?? null),
          text,
        );
        await store.update(
          key("a"),
          { body: object("a", { uid: "u", spec, status: {} }), expect: { revision } },
          signal,
        );
        const { items } = await store.list(everywhere, {}, signal);
        assert.deepEqual(
          items.map(({ body }) => writeJson(body.value["spec"] ?? null)),
          [text],
        );
        const [last] = await store.history(key("a"), { limit: 1 }, signal);
        assert.deepEqual(
          [last?.body, last?.previous?.body].map((body) => writeJson(body?.value["spec"] ?? null)),
          [text, text],
        );
      });
    }

    test("1 and 1.0 are not equal: the update is written", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const { revision } = await store.create(
        key("a"),
        object("a", { uid: "u", spec: { n: 1 } }),
        signal,
      );
      const float = object("a", { uid: "u", spec: { n: new JsonNumber("1.0") } });
      assert.equal(
        (await store.update(key("a"), { body: float, expect: { revision } }, signal)).revision,
        revision + 1,
      );
    });

    test("an object of a megabyte is stored, listed and logged", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const big = "ä".repeat(512 * 1024);
      await store.create(key("big"), object("big", { spec: { big } }), signal);
      const [item] = (await store.list(everywhere, {}, signal)).items;
      assert.deepEqual(item?.body.value["spec"], { big });
      assert.equal(
        (await store.history(key("big"), { limit: 1 }, signal))[0]?.body.text,
        item?.body.text,
      );
    });

    const badKeys: readonly (readonly [string, Parameters<typeof key>[0], string])[] = [
      ["an empty name", "", "name"],
      ["NUL in a name", "a\0b", "name"],
      ["half a surrogate pair in a name", "a\ud800", "name"],
    ];
    for (const [what, name, field] of badKeys) {
      test(`${what} is Invalid and names the field`, async () => {
        await using bed = await fixture.prepare();
        await using store = await bed.open();
        await assert.rejects(
          store.create(key(name), object("a"), signal),
          (error) => error instanceof Invalid && error.field === field,
        );
      });
    }

    test("a body without a uid is Invalid", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      await assert.rejects(
        store.create(key("a"), Body.of({ metadata: { name: "a" } }), signal),
        Invalid,
      );
      assert.equal(await store.head(signal), 1);
    });

    test("names that need quoting are names like any other", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      for (const name of ['a"b', "a'b", "a\\b", "a,b", "{a}", "NULL", "a b", "é", "%"]) {
        await store.create(key(name), object(name, { spec: { name } }), signal);
        assert.deepEqual((await store.get(key(name), signal)).body.value["spec"], { name });
      }
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

      test("closing finishes the writes that were under way", async () => {
        await using bed = await fixture.prepare();
        const store = await bed.open();
        const writes = Array.from({ length: 10 }, (_, n) =>
          store.create(key(`n${n}`), object(`n${n}`), signal),
        );
        await store[Symbol.asyncDispose]();
        await Promise.all(writes);
        await assert.rejects(store.create(key("late"), object("late"), signal), {
          code: "Unavailable",
        });
        await using again = await bed.open();
        assert.equal((await again.list(everywhere, {}, signal)).items.length, 10);
      });

      test("the columns of an object can be queried by SQL", async () => {
        await using bed = await fixture.prepare();
        await using store = await bed.open();
        const body = Body.of({
          apiVersion: "ark.mckinsey.com/v1alpha1",
          kind: "Query",
          metadata: {
            name: "a",
            uid: "u",
            generation: 3,
            labels: { app: "x" },
            annotations: { note: "y" },
            finalizers: ["f"],
            ownerReferences: [{ uid: "o" }],
            managedFields: [{ manager: "m" }],
            deletionTimestamp: "2026-01-02T03:04:05Z",
          },
          status: { phase: "done" },
        });
        await store.create(key("a"), body, signal);
        const [row] = (await bed.sql?.("SELECT * FROM resources")) ?? [];
        const json = (column: string): unknown => {
          const value = row?.[column];
          return typeof value === "string" ? JSON.parse(value) : value;
        };
        const columns = [
          "spec",
          "status",
          "labels",
          "annotations",
          "finalizers",
          "owner_references",
          "managed_fields",
        ];
        assert.deepEqual(columns.map(json), [
          {},
          { phase: "done" },
          { app: "x" },
          { note: "y" },
          ["f"],
          [{ uid: "o" }],
          [{ manager: "m" }],
        ]);
        const plain = ["api_group", "kind", "namespace", "name", "uid", "api_version", "object"];
        assert.deepEqual(
          plain.map((column) => row?.[column]),
          [
            "ark.mckinsey.com",
            "Query",
            "default",
            "a",
            "u",
            "ark.mckinsey.com/v1alpha1",
            body.text,
          ],
        );
        assert.deepEqual([Number(row?.["resource_version"]), Number(row?.["generation"])], [2, 3]);
        assert.equal(
          new Date(row?.["deleted_at"] as string).toISOString(),
          "2026-01-02T03:04:05.000Z",
        );
        assert.ok(row?.["created_at"] !== null && row?.["updated_at"] !== null);
      });
    }
  });
}
