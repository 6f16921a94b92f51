import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { JsonNumber, readJson, writeJson, type JsonObject } from "@keelson/base";
import { Body } from "../../body.ts";
import { AlreadyExists, Conflict, Invalid, NotFound } from "../../errors.ts";
import type { Store } from "../../store.ts";
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

    test("times that a column cannot hold are left to the body", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const times = [
        "0000-01-01T00:00:00Z",
        "+275760-09-12T00:00:00Z",
        "soon",
        "2026-01-01T00:00:00Z",
      ];
      await Promise.all(
        times.map(async (deletionTimestamp, n) => {
          const body = Body.of({ metadata: { uid: `u${n}`, deletionTimestamp } });
          await store.create(key(`n${n}`), body, signal);
          assert.deepEqual((await store.get(key(`n${n}`), signal)).body.value, body.value);
        }),
      );
    });

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

    test("blanks and escapes of a client's text make no difference", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const spaced = Body.parse('{ "metadata": { "uid": "u" }, "s": "\\u0041" }');
      const { revision } = await store.create(key("a"), spaced, signal);
      const plain = Body.of({ s: "A", metadata: { uid: "u" } });
      assert.equal(
        (await store.update(key("a"), { body: plain, expect: { revision } }, signal)).revision,
        revision,
      );
      assert.equal(await store.head(signal), revision);
    });

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
