import assert from "node:assert/strict";
import { test } from "node:test";
import { TaskScope } from "@keelson/base";
import { ManualClock, RecordingLog } from "@keelson/base/testing";
import { statement } from "./sql/statement.ts";
import { eachPostgres } from "./testing/each-postgres.ts";
import { createServicesDatabase } from "./testing/services-database.ts";
import { Wakeups } from "./wakeups.ts";

const never = new AbortController().signal;
const intervals = { pollMs: 3_600_000, deafPollMs: 1_000 };
/** A busy machine is no listener that is deaf. */
const probeWithinMs = 50_000;
const dropListeners = statement<undefined>(
  "dropListeners",
  (sql) => sql`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND query LIKE 'LISTEN%'`,
);

eachPostgres("wake-ups", (server) => {
  test("a process hears itself at once, and another by way of the database", async (t) => {
    await using it = await createServicesDatabase(await server());
    const one = new Wakeups({ database: it.database, probeWithinMs });
    const other = new Wakeups({ database: it.openAnother(), probeWithinMs });
    await using scope = new TaskScope(t.signal);
    using here = one.subscribe("shop.orders", intervals);
    using there = other.subscribe("shop.orders", intervals);
    scope.spawn("one", (signal) => one.run(signal));
    scope.spawn("other", (signal) => other.run(signal));
    await untilLive(one, here);
    await untilLive(other, there);

    await one.wakeAll("shop.orders", never);
    assert.equal(await here.wait(t.signal), "woken");
    assert.equal(await there.wait(t.signal), "woken");
  });

  test("the log says when it begins to listen, and when it no longer does", async (t) => {
    await using it = await createServicesDatabase(await server());
    const log = new RecordingLog();
    const wakeups = new Wakeups({ database: it.database, probeWithinMs, log });
    await using scope = new TaskScope(t.signal);
    using subscription = wakeups.subscribe("shop.orders", intervals);
    scope.spawn("listen", (signal) => wakeups.run(signal));
    await untilLive(wakeups, subscription);
    assert.deepEqual(log.messages(), ["listening for wake-ups"]);
    await scope[Symbol.asyncDispose]();
    assert.deepEqual(log.messages().slice(1), ["no longer listening for wake-ups"]);
  });

  test("a channel joined later is listened to as well", async (t) => {
    await using it = await createServicesDatabase(await server());
    const wakeups = new Wakeups({ database: it.database, probeWithinMs });
    await using scope = new TaskScope(t.signal);
    using early = wakeups.subscribe("early", intervals);
    scope.spawn("listen", (signal) => wakeups.run(signal));
    await untilLive(wakeups, early);
    using late = wakeups.subscribe("late", intervals);
    await late.wait(t.signal); // The first look, free of charge.
    await late.wait(t.signal); // The catching up after LISTEN.
    const sender = new Wakeups({ database: it.openAnother() });
    await sender.wakeAll("late", never);
    assert.equal(await late.wait(t.signal), "woken");
  });

  test("after a lost connection everybody looks once before anything is heard again", async (t) => {
    await using it = await createServicesDatabase(await server());
    const wakeups = new Wakeups({ database: it.database, probeWithinMs });
    await using scope = new TaskScope(t.signal);
    using subscription = wakeups.subscribe("shop", intervals);
    scope.spawn("listen", (signal) => wakeups.run(signal));
    await untilLive(wakeups, subscription);
    await it.database.run(dropListeners, undefined, never);
    while (wakeups.isLive) assert.equal(await subscription.wait(t.signal), "woken");
    await untilLive(wakeups, subscription);
    await wakeups.wakeAll("shop", never);
    assert.equal(await subscription.wait(t.signal), "woken");
  });

  test("a subscriber polls, often while deaf and seldom while not", async (t) => {
    await using it = await createServicesDatabase(await server());
    const clock = new ManualClock();
    const wakeups = new Wakeups({ database: it.openAnother({ clock }) });
    using subscription = wakeups.subscribe("shop", intervals);
    await subscription.wait(t.signal);
    const waited = subscription.wait(t.signal);
    await clock.advance(999);
    assert.equal(await Promise.race([waited, Promise.resolve("waiting")]), "waiting");
    await clock.advance(1);
    assert.equal(await waited, "poll");
  });

  test("a wake-up while nobody waits is kept, once", async (t) => {
    await using it = await createServicesDatabase(await server());
    const wakeups = new Wakeups({ database: it.database });
    using subscription = wakeups.subscribe("shop", intervals);
    await subscription.wait(t.signal);
    wakeups.wakeHere("shop");
    wakeups.wakeHere("shop");
    assert.equal(await subscription.wait(t.signal), "woken");
    const controller = new AbortController();
    const waited = subscription.wait(controller.signal);
    const reason = new Error("enough");
    controller.abort(reason);
    await assert.rejects(waited, reason);
  });

  test("a listener that does not hear its own probe counts as deaf", async (t) => {
    await using it = await createServicesDatabase(await server());
    // Both ends of a transaction pooler at its worst: what is sent goes to another database.
    await using elsewhere = await createServicesDatabase(await server());
    const sendsElsewhere = Object.create(it.database) as typeof it.database;
    sendsElsewhere.run = (statement, parameters, signal) =>
      elsewhere.database.run(statement, parameters, signal);
    sendsElsewhere.openSession = (hooks) => it.database.openSession(hooks);
    const clock = new ManualClock();
    Object.defineProperties(sendsElsewhere, {
      name: { value: "test" },
      clock: { value: clock },
      metrics: { value: it.database.metrics },
    });
    const heard = Promise.withResolvers<void>();
    const wakeups = new Wakeups({
      database: sendsElsewhere,
      log: {
        debug() {},
        info() {},
        error() {},
        warn: () => heard.resolve(),
        child: () => ({}) as never,
      },
    });
    await using scope = new TaskScope(t.signal);
    using _subscription = wakeups.subscribe("shop", intervals);
    scope.spawn("listen", (signal) => wakeups.run(signal));
    let isDeaf = false;
    void heard.promise.then(() => (isDeaf = true));
    const isOver = (): boolean => isDeaf;
    while (!isOver()) await clock.advance(clock.pending > 0 ? 1_000 : 0);
    assert.equal(wakeups.isLive, false);
  });
});

/** Consumes wake-ups until the listener has proved itself, and those that this brought. */
async function untilLive(
  wakeups: Wakeups,
  subscription: { wait(signal: AbortSignal): Promise<string> },
): Promise<void> {
  while (!wakeups.isLive) await subscription.wait(new AbortController().signal);
  // Becoming live woke us, or will have by the time this settles.
  const drained = new AbortController();
  const rest = subscription.wait(drained.signal).catch(() => {});
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  drained.abort();
  await rest;
}
