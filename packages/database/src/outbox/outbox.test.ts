import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom, systemClock, systemRandom, TaskScope } from "@keelson/base";
import { ManualClock, RecordingMetrics } from "@keelson/base/testing";
import type { Database, DatabaseOptions } from "../database.ts";
import { DatabaseUnavailable } from "../errors.ts";
import { claimKeys, settleKeys } from "../sql/outbox.ts";
import { statement } from "../sql/statement.ts";
import { eachPostgres } from "../testing/each-postgres.ts";
import { createServicesDatabase } from "../testing/services-database.ts";
import { Wakeups } from "../wakeups.ts";
import type { NumberedEvent, OutboxEvent } from "./event.ts";
import { Outbox } from "./outbox.ts";
import { Relay, type RelayOptions, type Transport } from "./relay.ts";
import { CursorExpired, Tail } from "./tail.ts";

const never = new AbortController().signal;
const name = "lifecycle.outbox";
const keyRows = statement<
  undefined,
  { ordering_key: string; attempts: number; last_error: string | null }
>(
  "keyRows",
  (sql) => sql`SELECT ordering_key, attempts, last_error FROM outbox_keys ORDER BY ordering_key`,
);
const pending = statement<undefined, { rows: number }>(
  "pending",
  (sql) => sql`
    SELECT (SELECT count(*) FROM outbox WHERE published_at IS NULL)::integer
         + (SELECT count(*) FROM outbox_unnumbered)::integer AS rows`,
);
const claimOfKey = statement<
  undefined,
  { claim: string | null; is_due: boolean; published: number }
>(
  "claimOfKey",
  (sql) => sql`
    SELECT claim, due_at <= clock_timestamp() AS is_due,
           (SELECT count(*) FROM outbox WHERE published_at IS NOT NULL)::integer AS published
    FROM outbox_keys`,
);
const ageEvents = statement<undefined>(
  "ageEvents",
  (sql) => sql`
    UPDATE outbox SET created_at = created_at - interval '2 h', published_at = published_at - interval '2 h'`,
);

function event(orderingKey: string, seq: number): OutboxEvent {
  return { eventId: systemRandom.uuid(), topic: "things", orderingKey, data: { seq } };
}

/** One that is for readers of the log only. */
function logEvent(orderingKey: string, seq: number): OutboxEvent {
  return { ...event(orderingKey, seq), topic: undefined };
}

const seqOf = ({ data }: NumberedEvent): number => (data as { seq: number }).seq;

function outboxOn(database: Database): Outbox {
  return new Outbox({ database, wakeups: new Wakeups({ database }), name, pollMs: 20 });
}

async function append(outbox: Outbox, ...events: readonly OutboxEvent[]): Promise<void> {
  await outbox.database.transaction((sql) => outbox.append(sql, events), never);
}

/** Remembers what was published, in order; throws for the keys it is told to. */
class RecordingTransport implements Transport {
  readonly published: NumberedEvent[] = [];
  readonly failing = new Set<string>();

  async publish(events: readonly NumberedEvent[]): Promise<void> {
    if (this.failing.has(events[0]?.orderingKey ?? "")) throw new Error("no such topic");
    this.published.push(...events);
  }

  seqs(orderingKey: string): number[] {
    return this.published.filter((event) => event.orderingKey === orderingKey).map(seqOf);
  }
}

const fast = { retryMs: { initial: 5, max: 20 }, leaseMs: 2_000, publishTimeoutMs: 1_000 };

/** Runs numbering and one relay for as long as `work` takes. */
async function relaying(
  outbox: Outbox,
  transport: Transport,
  work: () => Promise<void>,
  options: Partial<RelayOptions> = {},
): Promise<void> {
  await using scope = new TaskScope(never);
  scope.spawn("numbering", (signal) => outbox.runNumbering(signal));
  const relay = new Relay({ outbox, transport, ...fast, ...options });
  scope.spawn("relay", (signal) => relay.run(signal));
  await work();
}

/** Waits for a fact, looking again and again, for at most a minute. */
async function until(fact: () => boolean | Promise<boolean>): Promise<void> {
  const deadlineMs = systemClock.monotonic() + 60_000;
  while (!(await fact())) {
    assert.ok(systemClock.monotonic() < deadlineMs, "it did not come true");
    await systemClock.sleep(2, never);
  }
}

async function drained(database: Database): Promise<boolean> {
  const [row] = await database.run(pending, undefined, never);
  return row?.rows === 0;
}

eachPostgres("outbox", (server) => {
  const fresh = async (options: Partial<DatabaseOptions> = {}) =>
    createServicesDatabase(await server(), options);

  test("what committed is published in order per key, what rolled back never", async () => {
    await using it = await fresh();
    const outbox = outboxOn(it.database);
    const transport = new RecordingTransport();
    await relaying(outbox, transport, async () => {
      await append(outbox, event("a", 1), event("b", 1));
      await assert.rejects(
        it.database.transaction(async (sql) => {
          await outbox.append(sql, [event("a", 99)]);
          throw new Error("rolled back");
        }, never),
      );
      await append(outbox, event("a", 2), logEvent("log", 1));
      await until(() => drained(it.database));
    });
    assert.deepEqual(
      [transport.seqs("a"), transport.seqs("b"), transport.seqs("log")],
      [[1, 2], [1], []],
    );
  });

  test("a key that fails is tried again, with its error to be seen, and keeps nobody waiting", async () => {
    await using it = await fresh();
    const outbox = outboxOn(it.database);
    const transport = new RecordingTransport();
    transport.failing.add("poison");
    await relaying(outbox, transport, async () => {
      await append(outbox, event("poison", 1), event("poison", 2), event("good", 1));
      await until(() => transport.seqs("good").length === 1);
      await until(async () => {
        const [row] = await it.database
          .run(keyRows, undefined, never)
          .then((rows) => rows.filter(({ ordering_key }) => ordering_key === "poison"));
        return (row?.attempts ?? 0) >= 3 && row?.last_error === "no such topic";
      });
      await append(outbox, event("good", 2), event("poison", 3));
      await until(() => transport.seqs("good").length === 2);
      transport.failing.clear();
      await until(() => drained(it.database));
    });
    assert.deepEqual(transport.seqs("poison"), [1, 2, 3]);
    const rows = await it.database.run(keyRows, undefined, never);
    assert.deepEqual(
      rows.map(({ attempts, last_error }) => [attempts, last_error]),
      [
        [0, null],
        [0, null],
      ],
    );
  });

  test("a transport that hangs costs its timeout, for its key alone, and stopping does not wait for it", async () => {
    await using it = await fresh();
    const outbox = outboxOn(it.database);
    const published = new RecordingTransport();
    const hung = Promise.withResolvers<void>();
    const transport: Transport = {
      async publish(events, signal) {
        if (events[0]?.orderingKey !== "hangs") return published.publish(events);
        hung.resolve();
        await new Promise<void>((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        });
      },
    };
    await relaying(
      outbox,
      transport,
      async () => {
        await append(outbox, event("hangs", 1));
        await hung.promise;
        await append(outbox, event("flows", 1));
        await until(() => published.seqs("flows").length === 1);
      },
      { leaseMs: 60_000, publishTimeoutMs: 30_000 },
    );
    // The claim was given back: the next relay need not wait for its lease.
    await relaying(outbox, published, () => until(() => drained(it.database)));
    assert.deepEqual(published.seqs("hangs"), [1]);
  });

  test("two relays share the work, and each key stays in order", async () => {
    await using it = await fresh();
    const transport = new RecordingTransport();
    const one = outboxOn(it.database);
    const other = outboxOn(it.openAnother());
    await relaying(one, transport, () =>
      relaying(other, transport, async () => {
        for (let seq = 1; seq <= 20; seq++) {
          await append(
            seq % 2 ? one : other,
            ...["a", "b", "c", "d"].map((key) => event(key, seq)),
          );
        }
        await until(() => drained(it.database));
      }),
    );
    const expected = Array.from({ length: 20 }, (_, i) => i + 1);
    for (const key of ["a", "b", "c", "d"])
      assert.deepEqual([...new Set(transport.seqs(key))], expected);
  });

  test("who has lost a claim marks what it has published, and leaves the key to its successor", async () => {
    await using it = await fresh();
    const outbox = outboxOn(it.database);
    await append(outbox, event("k", 1), event("k", 2));
    await outbox.numberAll(never);
    const claim = async (leaseMs: number): Promise<string> => {
      const token = systemRandom.uuid();
      const asked = { claim: token, leaseMs, keysMax: 10, eventsPerKeyMax: 10 };
      const rows = await it.database.run(claimKeys, asked, never);
      assert.equal(rows.length, 2);
      return token;
    };
    const settle = async (token: string, published: number): Promise<number | undefined> => {
      const settlement = {
        orderingKeys: ["k"],
        claims: [token],
        publishedPositions: [published],
        retryMs: [null],
        errors: [null],
      };
      return (await it.database.run(settleKeys, settlement, never))[0]?.settled;
    };
    const late = await claim(0);
    const successor = await claim(60_000);
    assert.equal(await settle(late, 1), 0);
    const [held] = await it.database.run(claimOfKey, undefined, never);
    assert.deepEqual(held, { claim: successor, is_due: false, published: 1 });
    assert.equal(await settle(successor, 2), 1);
    assert.equal(await drained(it.database), true);
  });

  test("a backlog of one key is taken in portions, in order", async () => {
    await using it = await fresh();
    const outbox = outboxOn(it.database);
    const transport = new RecordingTransport();
    const expected = Array.from({ length: 25 }, (_, i) => i + 1);
    await append(outbox, ...expected.map((seq) => event("a", seq)));
    await relaying(outbox, transport, () => until(() => drained(it.database)), {
      eventsPerKeyMax: 10,
    });
    assert.deepEqual(transport.seqs("a"), expected);
  });

  test("a position never appears below one that was read, however late a transaction commits", async () => {
    await using it = await fresh();
    const outbox = outboxOn(it.database);
    const written = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const late = it.database.transaction(async (sql) => {
      await outbox.append(sql, [event("late", 1)]);
      written.resolve();
      await release.promise;
    }, never);
    await written.promise;
    await append(outbox, event("early", 1));
    assert.deepEqual(await outbox.numberAll(never), { from: 1, to: 1 });
    release.resolve();
    await late;
    assert.deepEqual(await outbox.numberAll(never), { from: 2, to: 2 });
    assert.equal(await outbox.numberAll(never), undefined);
  });

  test("a reader by position misses nothing while writers, late ones too, and numberings compete", async () => {
    await using it = await fresh();
    const random = seededRandom("numbering");
    const outboxes = [
      outboxOn(it.database),
      outboxOn(it.openAnother()),
      outboxOn(it.openAnother()),
    ];
    const read: number[] = [];
    const written: number[] = [];
    await using scope = new TaskScope(never);
    for (const outbox of outboxes)
      scope.spawn("numbering", (signal) => outbox.runNumbering(signal));
    const [reading] = outboxes as [Outbox];
    const tail = new Tail({ source: reading, recentMax: 10, batchMax: 7 });
    scope.spawn("tail", (signal) => tail.run(signal));
    scope.spawn("read", async (signal) => {
      for await (const events of tail.follow(0, signal)) read.push(...events.map(seqOf));
    });
    await Promise.all(
      Array.from({ length: 6 }, async (_, writer) => {
        for (let i = 0; i < 15; i++) {
          const outbox = random.pick(outboxes);
          const seq = writer * 1_000 + i;
          const isDoomed = random.integer(5) === 0;
          const turns = random.integer(4);
          await outbox.database
            .transaction(async (sql) => {
              await outbox.append(sql, [event(`w${writer}`, seq)]);
              for (let turn = 0; turn < turns; turn++) await sql.run(pending, undefined);
              if (isDoomed) throw new Error("doomed");
            }, never)
            .then(
              () => written.push(seq),
              () => {},
            );
        }
      }),
    );
    await until(() => read.length >= written.length);
    assert.deepEqual(
      read.toSorted((a, b) => a - b),
      written.toSorted((a, b) => a - b),
    );
    for (let writer = 0; writer < 6; writer++) {
      const own = read.filter((seq) => Math.floor(seq / 1_000) === writer);
      assert.deepEqual(
        own,
        own.toSorted((a, b) => a - b),
      );
    }
  });

  test("a reader resumes from its cursor, follows from now, and is told when its place is gone", async (t) => {
    await using it = await fresh();
    const outbox = outboxOn(it.database);
    const tail = new Tail({ source: outbox });
    await append(outbox, event("a", 1), event("a", 2), logEvent("a", 3));
    await outbox.numberAll(never);
    assert.equal(await tail.now(never), 3);
    const read = async (position: number): Promise<number[]> => {
      for await (const events of tail.follow(position, t.signal)) return events.map(seqOf);
      return [];
    };
    assert.deepEqual(await read(0), [1, 2, 3]);
    assert.deepEqual(await read(2), [3]);
    await assert.rejects(read(4), CursorExpired);

    await it.database.run(ageEvents, undefined, never);
    assert.equal(await outbox.purge({ retentionMs: 3_600_000 }, never), 1); // The others wait for a relay.
    await assert.rejects(read(2), CursorExpired);
    await using scope = new TaskScope(never);
    scope.spawn("tail", (signal) => tail.run(signal));
    const next = read(3);
    await append(outbox, event("a", 4));
    await outbox.numberAll(never);
    assert.deepEqual(await next, [4]);
  });

  test("a relay that is stopped while its claim is on its way gives it back", async () => {
    await using it = await fresh();
    const claimed = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const database = it.openAnother({
      onStatement: async ({ statement, phase }) => {
        if (statement !== "claimKeys" || phase !== "after") return;
        claimed.resolve();
        await held.promise;
      },
    });
    const outbox = outboxOn(database);
    await append(outbox, event("a", 1));
    await outbox.numberAll(never);
    const stop = new AbortController();
    const relay = new Relay({ outbox, transport: new RecordingTransport(), ...fast });
    const running = relay.run(stop.signal).catch(() => undefined);
    await claimed.promise;
    stop.abort(new Error("stopping"));
    await it.database.run(pending, undefined, never); // Whoever ends at once has ended.
    held.resolve();
    await running;
    const [row] = await it.database.run(claimOfKey, undefined, never);
    assert.deepEqual(row, { claim: null, is_due: true, published: 0 });
  });

  test("where the log publishes, an event is published with its position, and a relay has only what was left", async () => {
    const metrics = new RecordingMetrics();
    await using it = await fresh({ metrics });
    await append(outboxOn(it.database), event("a", 1));
    await outboxOn(it.database).numberAll(never); // Of a transport that was there before.
    const wakeups = new Wakeups({ database: it.database });
    const outbox = new Outbox({
      database: it.database,
      wakeups,
      name,
      publishedBy: "log",
      pollMs: 20,
    });
    await append(outbox, event("a", 2), event("b", 1), logEvent("c", 1));
    const labels = { outbox: name, result: "done" };
    const published = () => metrics.value("keelson_outbox_publish_total", labels);
    assert.deepEqual(await outbox.numberAll(never), { from: 2, to: 4 });
    assert.equal(published(), 3);
    const [row] = await it.database.run(pending, undefined, never);
    assert.equal(row?.rows, 1);
    const transport = new RecordingTransport();
    const relay = async (): Promise<void> => until(() => drained(it.database));
    await relaying(outbox, transport, relay, { isWoken: false });
    assert.deepEqual(transport.published.map(seqOf), [1]);
    await it.database.run(ageEvents, undefined, never);
    assert.equal(await outbox.purge({ retentionMs: 3_600_000 }, never), 4);
  });

  test("the first event is numbered at once, and those that come right after it together", async () => {
    await using it = await fresh();
    const clock = new ManualClock();
    const database = it.openAnother({ clock });
    const numbered: number[] = [];
    const outbox = new Outbox({ database, wakeups: new Wakeups({ database }), name });
    await using scope = new TaskScope(never);
    scope.spawn("numbering", (signal) => outbox.runNumbering(signal));
    const positions = async (): Promise<number> =>
      (await outbox.read({ after: 0, limit: 100 }, never)).length;
    await until(() => clock.nextInMs === 10); // It has looked, found nothing, and rests.
    await clock.advance(10);
    await append(outbox, event("a", 1));
    await until(async () => (await positions()) === 1);
    for (let seq = 2; seq <= 6; seq++) {
      await append(outbox, event("a", seq));
      numbered.push(await positions());
    }
    assert.deepEqual(numbered, [1, 1, 1, 1, 1], "it rests");
    await clock.advance(10);
    await until(async () => (await positions()) === 6);
  });

  test("backlog and age are measured, and absent while the database is away", async () => {
    const metrics = new RecordingMetrics();
    await using it = await fresh({ metrics });
    const outbox = outboxOn(it.database);
    await append(outbox, event("a", 1), event("b", 1), logEvent("c", 1));
    await outbox.numberAll(never);
    await append(outbox, event("a", 2));
    const stop = new AbortController();
    const measuring = outbox.runMeasuring(stop.signal, 5);
    const backlog = () => metrics.value("keelson_outbox_backlog", { outbox: name });
    await until(() => backlog() === 3);
    assert.ok((metrics.value("keelson_outbox_oldest_age_seconds", { outbox: name }) ?? -1) >= 0);
    await it.database[Symbol.asyncDispose]();
    await until(() => backlog() === undefined);
    stop.abort();
    await measuring;
  });

  test("a fault at any statement of writing, numbering, claiming and settling loses and invents nothing", async () => {
    await using it = await fresh();
    let armed: string | undefined;
    const faulty = it.openAnother({
      onStatement: ({ statement, phase }) => {
        if (armed !== `${phase} ${statement}`) return;
        armed = undefined;
        throw new DatabaseUnavailable("a fault");
      },
    });
    const outbox = outboxOn(faulty);
    const transport = new RecordingTransport();
    const committed: number[] = [];
    const places = ["insertEvents", "commit", "startLog", "numberRows", "claimKeys", "settleKeys"]
      .flatMap((statement) => [`before ${statement}`, `after ${statement}`])
      .toSpliced(0, 0, "before begin");
    // Armed before the loops run: `startLog` is their first.
    armed = "before startLog";
    await relaying(outbox, transport, async () => {
      for (const [seq, place] of places.entries()) {
        if (!place.endsWith("startLog")) armed = place;
        const error = await append(outbox, event("a", seq)).catch((error: unknown) => error);
        // The answer to a commit was lost, not the commit: the error says that nobody knows.
        const isUnknown = error instanceof DatabaseUnavailable && error.isDone === "unknown";
        assert.equal(isUnknown, place.endsWith("commit"));
        if (error === undefined || place === "after commit") committed.push(seq);
        await until(async () => armed === undefined && (await drained(it.database)));
      }
    });
    assert.equal(committed.length, places.length - 4);
    assert.deepEqual([...new Set(transport.seqs("a"))], committed);
  });
});
