import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { JsonNumber, readJson, writeJson, type JsonObject } from "@keelson/base";
import { Body } from "../../body.ts";
import { Conflict, Invalid } from "../../errors.ts";
import { everywhere, key, object, signal, type Fixture } from "../bed.ts";

const nestedText = (levels: number): string => `{"d":${"[".repeat(levels)}${"]".repeat(levels)}}`;

export function describeBodies(fixture: Fixture): void {
  suite("bodies", () => {
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
      ["a deep value", nestedText(200)],
      ["a value deeper than any text that is sent", nestedText(1_020)],
      ["quotes, backslashes and braces", '{"q":"\\"\\\\{},NULL"}'],
    ];
    for (const [what, text] of texts) {
      test(`${what} comes back as it was sent, after a change and from the log too`, async () => {
        await using bed = await fixture.prepare();
        await using store = await bed.open({ limits: { cacheBytesMax: 0, recentChangesMax: 0 } });
        const spec = readJson(text, { depthMax: 2_000 }) as JsonObject;
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

    test("a body without a uid is Invalid", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      await assert.rejects(
        store.create(key("a"), Body.of({ metadata: { name: "a" } }), signal),
        Invalid,
      );
      assert.equal(await store.head(signal), 1);
    });

    if (fixture.isPersistent) {
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
        for (const column of ["created_at", "updated_at"]) {
          assert.ok(Number.isFinite(Date.parse(String(row?.[column]))), column);
        }
      });
    }
  });
}
