import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Unavailable } from "../../errors.ts";
import type { Store } from "../../store.ts";
import { type Bed, dump, everywhere, type Fixture, key, object, signal, take } from "../bed.ts";

/** Makes the n-th statement fail, for whoever arms it. */
class Fault {
  #left = Number.POSITIVE_INFINITY;

  arm(n: number): void {
    this.#left = n;
  }

  disarm(): void {
    this.#left = Number.POSITIVE_INFINITY;
  }

  readonly onStatement = (name: string): void => {
    this.#left -= 1;
    if (this.#left === 0) throw new StatementFailed(name);
  };
}

/** As if the database had gone away. */
class StatementFailed extends Unavailable {}

/** Every write, on a store that holds `a` (uid u) at revision 2 and has a log. */
const operations: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  create: (store) => store.create(key("new"), object("new"), signal),
  update: (store) =>
    store.update(
      key("a"),
      { body: object("a", { uid: "u", spec: { n: 1 } }), expect: { revision: 2 } },
      signal,
    ),
  delete: (store) => store.delete(key("a"), {}, signal),
  "delete with a last change": (store) =>
    store.delete(key("a"), { final: object("a", { uid: "u", spec: {} }) }, signal),
  "a batch": (store) =>
    Promise.all([
      store.create(key("new"), object("new"), signal),
      store.update(
        key("a"),
        { body: object("a", { uid: "u", spec: { n: 1 } }), expect: { revision: 2 } },
        signal,
      ),
      store.delete(key("b"), {}, signal),
    ]),
  compact: (store) => store.compact(3, signal),
  leap: (store) => store.leap(signal),
};

export function describeFaults(fixture: Fixture): void {
  if (!fixture.isPersistent) return; // The tables must be readable from outside.
  suite("faults", () => {
    for (const [name, operate] of Object.entries(operations)) {
      test(`${name}: whichever statement fails, the tables are as before or as after`, async () => {
        await using bed = await fixture.prepare();
        const fault = new Fault();
        await using store = await bed.open({
          onStatement: fault.onStatement,
          limits: { pollMs: 3_600_000 },
        });
        await store.create(key("a"), object("a", { uid: "u" }), signal);
        await store.create(key("b"), object("b"), signal);
        const before = await dump(bed);

        let failures = 0;
        for (let n = 1; ; n += 1) {
          assert.ok(n < 50, "the operation never gets through");
          fault.arm(n);
          try {
            await operate(store);
            break;
          } catch (error) {
            assert.ok(error instanceof StatementFailed, String(error));
            failures += 1;
            fault.disarm();
            if (name === "compact") await assertPrefix(bed, store);
            else assert.deepEqual(await dump(bed), before, `after failure of statement ${n}`);
          }
        }
        fault.disarm();
        assert.ok(failures > 0, "no statement was made to fail");
        await assertAgreement(bed, store);
      });
    }

    test("reads whose statement fails fail, and the store goes on", async () => {
      await using bed = await fixture.prepare();
      const fault = new Fault();
      await using store = await bed.open({
        onStatement: fault.onStatement,
        limits: { cacheBytesMax: 0, recentChangesMax: 0 },
      });
      await store.create(key("a"), object("a"), signal);
      const reads: readonly (() => Promise<unknown>)[] = [
        () => store.get(key("a"), signal),
        () => store.list(everywhere, { limit: 1 }, signal),
        () => store.history(key("a"), { limit: 1 }, signal),
        () => store.watch(everywhere, { from: 1 }, signal),
      ];
      for (const read of reads) {
        fault.arm(1);
        await assert.rejects(read(), StatementFailed);
        fault.disarm();
        await read();
      }
    });

    test("a watcher whose read of the log fails has lost nothing: its position says where to resume", async () => {
      await using bed = await fixture.prepare();
      const fault = new Fault();
      await using store = await bed.open({
        onStatement: fault.onStatement,
        limits: { recentChangesMax: 0, pageChanges: 4 },
      });
      for (let n = 0; n < 20; n += 1) await store.create(key(`n${n}`), object(`n${n}`), signal);
      using watch = await store.watch(everywhere, { from: 1 }, signal);
      const first = (await watch.next()) ?? [];
      // Behind the first page the reader has to ask the database again.
      fault.arm(1);
      const seen = first.map(({ revision }) => revision);
      await assert.rejects(async () => {
        for (;;) seen.push(...(await take(watch, 1)).map(({ revision }) => revision));
      }, StatementFailed);
      fault.disarm();
      assert.equal(watch.position, seen.at(-1));
      using again = await store.watch(everywhere, { from: watch.position }, signal);
      while (seen.length < 20) seen.push(...(await take(again, 1)).map(({ revision }) => revision));
      assert.deepEqual(
        seen,
        Array.from({ length: 20 }, (_, n) => n + 2),
      );
    });
  });
}

/** A cut may have got part of the way: then the floor says how far, and everything above it is there. */
async function assertPrefix(bed: Bed, store: Store): Promise<void> {
  const { floor } = await store.bounds(signal);
  const [oldest] = (await bed.sql?.("SELECT min(revision) AS revision FROM changes")) ?? [];
  const revision = oldest?.["revision"] ?? undefined;
  if (revision === undefined) assert.equal(floor, 3);
  else assert.equal(Number(revision), floor + 1);
}

/** Rows, log, counter and counts tell the same story. */
async function assertAgreement(bed: Bed, store: Store): Promise<void> {
  const { resources, changes, counts, meta } = (await dump(bed)) as Record<
    string,
    Record<string, unknown>[]
  >;
  const newest = new Map<unknown, Record<string, unknown>>();
  for (const change of changes ?? []) newest.set(change["name"], change);
  for (const change of newest.values()) {
    const row = resources?.find(({ name }) => name === change["name"]);
    if (change["type"] === "DELETED") assert.equal(row, undefined);
    else
      assert.deepEqual(
        [row?.["object"], row?.["resource_version"]],
        [change["object"], change["revision"]],
      );
  }
  const counted = (counts ?? []).reduce((sum, { objects }) => sum + Number(objects), 0);
  assert.equal(counted, resources?.length);
  const head = Number(meta?.[0]?.["head"]);
  assert.ok((changes ?? []).every(({ revision }) => Number(revision) <= head));
  assert.equal(await store.head(signal), head);
}
