import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "@keelson/base/testing";
import { DatabaseTimeout } from "./errors.ts";
import { acquireLease, assertLease, holdLeaseWhile, LeaseLost, type Lease } from "./leases.ts";
import { statement } from "./sql/statement.ts";
import { eachPostgres } from "./testing/each-postgres.ts";
import { createServicesDatabase } from "./testing/services-database.ts";

const never = new AbortController().signal;
const expire = statement<string>(
  "expire",
  (sql, name) =>
    sql`UPDATE keelson.leases SET expires_at = now() - interval '1 s' WHERE name = ${name}`,
);
/** What taking it from its holder needs; refused at once where it would wait. */
const grasp = statement<string>(
  "grasp",
  (sql, name) => sql`SELECT FROM keelson.leases WHERE name = ${name} FOR UPDATE NOWAIT`,
);
/** An hour: the database has a clock of its own, and a busy machine may take long between two statements. */
const ttlMs = 3_600_000;
const terms = (owner: string) => ({ name: "job", owner, ttlMs });

eachPostgres("leases", (server) => {
  test("one holds it, the next one's token is higher", async () => {
    await using it = await createServicesDatabase(await server());
    const first = await acquireLease(it.database, terms("a"), never);
    assert.deepEqual(first, { name: "job", token: 1 });
    assert.equal(await acquireLease(it.database, terms("b"), never), undefined);
    await it.database.run(expire, "job", never);
    const second = await acquireLease(it.database, terms("b"), never);
    assert.deepEqual(second, { name: "job", token: 2 });
  });

  test("ten that ask at once get one lease", async () => {
    await using it = await createServicesDatabase(await server());
    const asked = await Promise.all(
      Array.from({ length: 10 }, (_, i) => acquireLease(it.database, terms(`p${i}`), never)),
    );
    assert.deepEqual(
      asked.filter((lease) => lease !== undefined),
      [{ name: "job", token: 1 }],
    );
  });

  test("who lost it cannot record, and whoever records keeps it until the commit", async () => {
    await using it = await createServicesDatabase(await server());
    const old = (await acquireLease(it.database, terms("a"), never)) as Lease;
    await it.database.transaction(async (sql) => {
      await assertLease(sql, old);
      await assert.rejects(it.database.run(grasp, "job", never), DatabaseTimeout);
    }, never);
    await it.database.run(expire, "job", never);
    await acquireLease(it.database, terms("b"), never);
    await assert.rejects(
      it.database.transaction((sql) => assertLease(sql, old), never),
      LeaseLost,
    );
  });

  test("a holder renews while it works, hands over when told to stop, and the next takes over at once", async () => {
    await using it = await createServicesDatabase(await server());
    const clock = new ManualClock();
    const held = it.openAnother({ clock });
    const stop = new AbortController();
    const working = Promise.withResolvers<void>();
    const holding = holdLeaseWhile(
      held,
      terms("a"),
      async (lease, signal) => {
        assert.equal(lease.token, 1);
        working.resolve();
        await new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve());
        });
      },
      stop.signal,
    );
    await working.promise;
    assert.equal(await acquireLease(it.database, terms("b"), never), undefined);
    stop.abort();
    await holding;
    assert.deepEqual(await acquireLease(it.database, terms("b"), never), { name: "job", token: 2 });
  });

  test("a holder whose lease was taken is told so at the next renewal", async () => {
    await using it = await createServicesDatabase(await server());
    const clock = new ManualClock();
    const held = it.openAnother({ clock });
    const stop = new AbortController();
    const working = Promise.withResolvers<void>();
    const told = Promise.withResolvers<unknown>();
    const holding = holdLeaseWhile(
      held,
      terms("a"),
      async (_lease, signal) => {
        working.resolve();
        await new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve());
        });
        told.resolve(signal.reason);
      },
      stop.signal,
    );
    await working.promise;
    await it.database.run(expire, "job", never);
    await acquireLease(it.database, terms("b"), never);
    await clock.advance(ttlMs / 3);
    assert.ok((await told.promise) instanceof LeaseLost);
    stop.abort();
    await holding;
  });
});
