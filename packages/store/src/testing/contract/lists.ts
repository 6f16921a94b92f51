import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { seededRandom } from "@keelson/base";
import { Corrupt, Expired, TooNew } from "../../errors.ts";
import { comparePositions } from "../../key.ts";
import type { Cursor, Page } from "../../pages.ts";
import { type LabelRequirement, matches, type Selector } from "../../selector.ts";
import type { Store } from "../../store.ts";
import { everywhere, type Fixture, key, kind, object, signal } from "../bed.ts";

/** All pages of a list; `between` runs after each. */
async function pages(
  store: Store,
  {
    limit,
    namespace = "",
    selector,
  }: { readonly limit: number; readonly namespace?: string; readonly selector?: Selector },
  between: (page: number) => Promise<void> = async () => undefined,
): Promise<Page[]> {
  const all: Page[] = [];
  let cursor: Cursor | undefined;
  do {
    const options = { limit, ...(cursor && { continue: cursor }), ...(selector && { selector }) };
    const page = await store.list({ kind, namespace }, options, signal);
    all.push(page);
    cursor = page.continue;
    await between(all.length);
  } while (cursor !== undefined);
  return all;
}

const names = (page: Page): string[] => page.items.map(({ key }) => key.name);

export function describeLists(fixture: Fixture): void {
  suite("lists", () => {
    test("an empty list has no items and the head as its revision", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      assert.deepEqual(await store.list(everywhere, {}, signal), { items: [], revision: 1 });
      assert.deepEqual(await store.list(everywhere, { limit: 10 }, signal), {
        items: [],
        revision: 1,
      });
    });

    test("the revision of a list is the head, also for a kind nobody has written for long", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      await store.create(key("a"), object("a"), signal);
      const other = { kind: "ConfigMap", namespace: "default", name: "c" };
      await store.create(other, object("c"), signal);
      await store.delete(other, {}, signal);
      assert.equal((await store.list(everywhere, {}, signal)).revision, 4);
    });

    test("objects come by namespace, then name, bytewise, in pages and at once", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      // U+FF5E is below U+1F6F6 in UTF-8, but above its surrogates in UTF-16.
      const parts = ["a", "a-b", "a.b", "aa", "B", "Z", "~", "é", "～", "🛶", "b1", "b10", "b2"];
      const keys = ["", "A", "a", "a-a", "～", "🛶"].flatMap((namespace) =>
        parts.map((name) => key(name, namespace)),
      );
      for (const each of seededRandom(1).shuffle(keys))
        await store.create(each, object(each.name), signal);
      const expected = keys.toSorted(
        (a, b) =>
          Buffer.compare(Buffer.from(a.namespace), Buffer.from(b.namespace)) ||
          Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)),
      );
      assert.deepEqual(keys.toSorted(comparePositions), expected);
      assert.deepEqual(
        (await store.list(everywhere, {}, signal)).items.map(({ key }) => key),
        expected,
      );
      for (const limit of [1, 7, 100]) {
        const paged = await pages(store, { limit });
        assert.deepEqual(
          paged.flatMap(({ items }) => items.map(({ key }) => key)),
          expected,
          `pages of ${limit}`,
        );
      }
    });

    test("one namespace is listed without its neighbours, whatever their names begin with", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      for (const namespace of ["a", "aa", "a-", ""]) {
        for (const name of ["x", "y", "z"])
          await store.create(key(name, namespace), object(name), signal);
      }
      const paged = await pages(store, { limit: 2, namespace: "a" });
      assert.deepEqual(
        paged.flatMap(({ items }) => items.map(({ key }) => key)),
        ["x", "y", "z"].map((name) => key(name, "a")),
      );
      assert.deepEqual(
        paged.map(({ remaining }) => remaining),
        [1, undefined],
      );
    });

    test("what remains is counted exactly, and absent on the last page", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      for (let n = 0; n < 7; n += 1) await store.create(key(`n${n}`), object(`n${n}`), signal);
      const paged = await pages(store, { limit: 3 }, async (page) => {
        if (page === 1) await store.delete(key("n6"), {}, signal);
        if (page === 1) await store.create(key("n9"), object("n9"), signal);
      });
      assert.deepEqual(
        paged.map(({ remaining }) => remaining),
        [4, 1, undefined],
      );
      assert.deepEqual(paged.map(names), [["n0", "n1", "n2"], ["n3", "n4", "n5"], ["n6"]]);
      const exact = await store.list(everywhere, { limit: 3 }, signal);
      assert.equal(exact.continue?.remaining, 4);
      const withoutCount = {
        revision: exact.revision,
        after: { namespace: "default", name: "n2" },
      };
      assert.equal(
        (await store.list(everywhere, { limit: 1, continue: withoutCount }, signal)).remaining,
        3,
      );
    });

    test("a page that the collection fills exactly is the last", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      for (let n = 0; n < 4; n += 1) await store.create(key(`n${n}`), object(`n${n}`), signal);
      assert.equal((await store.list(everywhere, { limit: 4 }, signal)).continue, undefined);
      assert.equal((await pages(store, { limit: 2 })).length, 2);
    });

    test("all pages show the state at the first one's revision, whatever is written between", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const random = seededRandom("pages");
      for (let n = 0; n < 40; n += 1)
        await store.create(key(`n${n}`), object(`n${n}`, { uid: `u${n}`, spec: { n } }), signal);
      const before = await store.list(everywhere, {}, signal);
      const writeSome = async (): Promise<void> => {
        for (let i = 0; i < 15; i += 1) {
          const name = `n${random.integer(50)}`;
          const found = (
            await store.list(
              everywhere,
              {
                selector: {
                  fields: [{ path: ["metadata", "name"], operator: "Equals", value: name }],
                },
              },
              signal,
            )
          ).items[0];
          if (found === undefined)
            await store.create(key(name), object(name, { spec: { again: i } }), signal);
          else if (random.integer(2) === 0) await store.delete(key(name), {}, signal);
          else
            await store.update(
              key(name),
              {
                body: object(name, { uid: found.uid, spec: { i, at: found.revision } }),
                expect: { revision: found.revision },
              },
              signal,
            );
        }
      };
      const paged = await pages(store, { limit: 3 }, writeSome);
      const flat = paged.flatMap(({ items }) => items);
      assert.deepEqual(new Set(paged.map(({ revision }) => revision)), new Set([before.revision]));
      assert.deepEqual(
        flat.map(({ key, revision, uid, body }) => [key, revision, uid, body.value]),
        before.items.map(({ key, revision, uid, body }) => [key, revision, uid, body.value]),
      );
      assert.deepEqual(
        paged.map(({ remaining }) => remaining),
        paged.map((_, page) => (page === paged.length - 1 ? undefined : 40 - 3 * (page + 1))),
      );
    });

    test("the state at every retained revision can be listed exactly", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const random = seededRandom("exact");
      const states: Record<string, unknown>[] = [{}, {}];
      const live = new Map<string, { revision: number; spec: object }>();
      for (let step = 0; step < 60; step += 1) {
        const name = `n${random.integer(8)}`;
        const current = live.get(name);
        const spec = { step };
        if (current === undefined) {
          const { revision } = await store.create(
            key(name),
            object(name, { uid: name, spec }),
            signal,
          );
          live.set(name, { revision, spec });
        } else if (random.integer(3) === 0) {
          await store.delete(key(name), {}, signal);
          live.delete(name);
        } else {
          const { revision } = await store.update(
            key(name),
            { body: object(name, { uid: name, spec }), expect: { revision: current.revision } },
            signal,
          );
          live.set(name, { revision, spec });
        }
        states.push(Object.fromEntries(live));
      }
      for (const limit of [undefined, 2]) {
        for (let revision = 1; revision < states.length; revision += 1) {
          const options = {
            revision,
            match: "exact" as const,
            ...(limit !== undefined && { limit }),
          };
          const page = await store.list(everywhere, options, signal);
          let { items, continue: cursor } = page;
          while (cursor !== undefined) {
            const next: Page = await store.list(everywhere, { limit: 2, continue: cursor }, signal);
            items = [...items, ...next.items];
            cursor = next.continue;
          }
          const found = items.map(({ key, revision, body }) => [
            key.name,
            { revision, spec: body.value["spec"] },
          ]);
          assert.deepEqual(Object.fromEntries(found), states[revision], `at revision ${revision}`);
          assert.equal(page.revision, revision);
          if (limit !== undefined && items.length > limit)
            assert.equal(page.remaining, items.length - limit);
        }
      }
    });

    test("lists stay complete while every object is updated over and over", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const revisions = new Map<string, number>();
      for (let n = 0; n < 25; n += 1) {
        const name = `n${String(n).padStart(2, "0")}`;
        revisions.set(
          name,
          (await store.create(key(name), object(name, { uid: name }), signal)).revision,
        );
      }
      const done = new AbortController();
      const churn = (async () => {
        for (let round = 0; !done.signal.aborted; round += 1) {
          await Promise.all(
            [...revisions].map(async ([name, revision]) => {
              const body = object(name, { uid: name, spec: { round } });
              revisions.set(
                name,
                (await store.update(key(name), { body, expect: { revision } }, signal)).revision,
              );
            }),
          );
        }
      })();
      for (let i = 0; i < 10; i += 1) {
        const paged = await pages(store, { limit: 4 });
        assert.deepEqual(paged.flatMap(names), [...revisions.keys()]);
        assert.equal(new Set(paged.map(({ revision }) => revision)).size, 1);
      }
      done.abort();
      await churn;
    });

    test("a revision still to come is TooNew, one at hand or older is served", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      await store.create(key("a"), object("a"), signal);
      for (const match of ["exact", "notOlderThan"] as const) {
        await assert.rejects(
          store.list(everywhere, { revision: 3, match }, signal),
          (error) => error instanceof TooNew && error.head === 2,
        );
      }
      assert.equal(
        (await store.list(everywhere, { revision: 1, match: "notOlderThan" }, signal)).revision,
        2,
      );
      assert.deepEqual(await store.list(everywhere, { revision: 1, match: "exact" }, signal), {
        items: [],
        revision: 1,
      });
    });

    test("a revision below the floor is Expired, also in the middle of a list", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      for (let n = 0; n < 5; n += 1) await store.create(key(`n${n}`), object(`n${n}`), signal);
      const first = await store.list(everywhere, { limit: 2 }, signal);
      await store.create(key("n5"), object("n5"), signal);
      await store.compact(7, signal);
      await assert.rejects(
        store.list(everywhere, { revision: 6, match: "exact" }, signal),
        (error) => error instanceof Expired && error.floor === 7,
      );
      await assert.rejects(
        store.list(
          everywhere,
          { limit: 2, ...(first.continue && { continue: first.continue }) },
          signal,
        ),
        Expired,
      );
      assert.equal(
        (await store.list(everywhere, { revision: 7, match: "exact" }, signal)).items.length,
        6,
      );
      const goesOn = await store.list(
        everywhere,
        { limit: 10, continue: { after: { namespace: "default", name: "n1" } } },
        signal,
      );
      assert.deepEqual([names(goesOn), goesOn.revision], [["n2", "n3", "n4", "n5"], 8]);
    });

    test("labels are matched in the database as they are in memory", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const random = seededRandom("labels");
      const labelKeys = ["app", "tier", "a/b.c", 'we"ird', "constructor", "__proto__"];
      const values = [
        "",
        "x",
        "y",
        "7",
        "-3",
        "007",
        "abc",
        "1e3",
        "9007199254740993",
        "9007199254740992",
        "9223372036854775807",
        "9223372036854775808",
      ];
      const bounds = ["-5", "-3", "0", "6", "7", "9007199254740992", "9223372036854775806"];
      for (let n = 0; n < 120; n += 1) {
        const labels: Record<string, string> = {};
        for (const label of labelKeys) {
          if (random.integer(2) === 0) {
            Object.defineProperty(labels, label, {
              value: random.pick(values),
              enumerable: true,
              configurable: true,
              writable: true,
            });
          }
        }
        await store.create(
          key(`n${n}`),
          object(`n${n}`, random.integer(9) === 0 ? {} : { labels }),
          signal,
        );
      }
      const requirement = (): LabelRequirement => {
        const label = random.pick(labelKeys);
        const operator = random.pick([
          "In",
          "NotIn",
          "Exists",
          "DoesNotExist",
          "Gt",
          "Lt",
        ] as const);
        if (operator === "Exists" || operator === "DoesNotExist") return { key: label, operator };
        if (operator === "Gt" || operator === "Lt")
          return { key: label, operator, value: random.pick(bounds) };
        return {
          key: label,
          operator,
          values: random.shuffle(values).slice(0, 1 + random.integer(3)),
        };
      };
      const all = (await store.list(everywhere, {}, signal)).items;
      for (let round = 0; round < 60; round += 1) {
        const selector = { labels: Array.from({ length: 1 + random.integer(3) }, requirement) };
        const expected = all
          .filter(({ body }) => matches(selector, body.value))
          .map(({ key }) => key.name);
        const paged = await pages(store, { limit: 1 + random.integer(40), selector });
        assert.deepEqual(paged.flatMap(names), expected, JSON.stringify(selector));
        assert.ok(paged.every(({ remaining }) => remaining === undefined));
      }
    });

    test("labels are compared as integers of 64 bits", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const at = ["7", "1700000000000000000", "9223372036854775807", "9223372036854775808", "7a"];
      for (const [n, value] of at.entries())
        await store.create(key(`n${n}`), object(`n${n}`, { labels: { at: value } }), signal);
      const found = async (operator: "Gt" | "Lt", value: string): Promise<readonly string[]> => {
        const selector = { labels: [{ key: "at", operator, value }] };
        return names(await store.list(everywhere, { selector }, signal));
      };
      assert.deepEqual(await found("Gt", "6"), ["n0", "n1", "n2"]);
      assert.deepEqual(await found("Gt", "1699999999999999999"), ["n1", "n2"]);
      assert.deepEqual(await found("Gt", "9223372036854775806"), ["n2"]);
      assert.deepEqual(await found("Lt", "1700000000000000001"), ["n0", "n1"]);
    });

    test("a selector may have thousands of conditions", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      for (const name of ["a", "b"])
        await store.create(key(name), object(name, { labels: { [name]: "" } }), signal);
      const labels = Array.from({ length: 4000 }, (_, n) => {
        return { key: n === 3999 ? "a" : `k${n}`, operator: "DoesNotExist" as const };
      });
      assert.deepEqual(names(await store.list(everywhere, { selector: { labels } }, signal)), [
        "b",
      ]);
    });

    test("a page with a selector is filled up to its limit", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const writes = Array.from({ length: 1300 }, (_, n) => {
        const name = `n${String(n).padStart(4, "0")}`;
        return store.create(
          key(name),
          object(name, { labels: { rare: n % 400 === 0 ? "yes" : "no" } }),
          signal,
        );
      });
      await Promise.all(writes);
      const selector = { labels: [{ key: "rare", operator: "In" as const, values: ["yes"] }] };
      const paged = await pages(store, { limit: 3, selector });
      assert.deepEqual(paged.map(names), [["n0000", "n0400", "n0800"], ["n1200"]]);
    });

    test("selectors see the state at the list's revision, not the labels of today", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      const revisions: number[] = [];
      for (let n = 0; n < 6; n += 1) {
        const labels = { app: n % 2 === 0 ? "x" : "y" };
        revisions.push(
          (await store.create(key(`n${n}`), object(`n${n}`, { uid: `u${n}`, labels }), signal))
            .revision,
        );
      }
      const selector = { labels: [{ key: "app", operator: "In" as const, values: ["x"] }] };
      const paged = await pages(store, { limit: 1, selector }, async (page) => {
        if (page !== 1) return;
        for (let n = 0; n < 6; n += 1) {
          const labels = { app: n % 2 === 0 ? "y" : "x" };
          await store.update(
            key(`n${n}`),
            {
              body: object(`n${n}`, { uid: `u${n}`, labels }),
              expect: { revision: revisions[n] ?? 0 },
            },
            signal,
          );
        }
        await store.delete(key("n4"), {}, signal);
      });
      assert.deepEqual(paged.flatMap(names), ["n0", "n2", "n4"]);
    });

    test("fields select by their text; an absent one counts as empty", async () => {
      await using bed = await fixture.prepare();
      await using store = await bed.open();
      await store.create(key("a"), object("a", { spec: { type: "user", n: 3 } }), signal);
      await store.create(key("b"), object("b", { spec: { type: "messages" } }), signal);
      await store.create(key("c"), object("c"), signal);
      const list = async (
        path: string,
        operator: "Equals" | "NotEquals",
        value: string,
      ): Promise<string[]> =>
        names(
          await store.list(
            everywhere,
            { selector: { fields: [{ path: path.split("."), operator, value }] } },
            signal,
          ),
        );
      assert.deepEqual(await list("spec.type", "Equals", "user"), ["a"]);
      assert.deepEqual(await list("spec.type", "NotEquals", "user"), ["b", "c"]);
      assert.deepEqual(await list("spec.type", "Equals", ""), ["c"]);
      assert.deepEqual(await list("spec.n", "Equals", "3"), ["a"]);
      assert.deepEqual(await list("metadata.name", "Equals", "b"), ["b"]);
      assert.deepEqual(await list("metadata.name", "Equals", "ghost"), []);
      assert.deepEqual(await list("metadata.name", "NotEquals", "b"), ["a", "c"]);
    });

    if (fixture.isPersistent) {
      test("an undecodable row fails its reads with its key; the rest is served", async () => {
        await using bed = await fixture.prepare();
        await (async () => {
          await using store = await bed.open();
          for (const name of ["a", "b", "c"])
            await store.create(key(name, name), object(name), signal);
        })();
        await bed.sql?.(`UPDATE ${bed.objects} SET object = '["not an object"]' WHERE name = 'b'`);
        await using store = await bed.open();
        const isB = (error: unknown): boolean =>
          error instanceof Corrupt && error.key?.name === "b";
        await assert.rejects(store.get(key("b", "b"), signal), isB);
        await assert.rejects(store.list(everywhere, {}, signal), isB);
        assert.deepEqual(names(await store.list({ kind, namespace: "c" }, {}, signal)), ["c"]);
        assert.equal((await store.get(key("a", "a"), signal)).key.name, "a");
      });
    }
  });
}
