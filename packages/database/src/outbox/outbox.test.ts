// Events in their log: positions, readers, retention, and faults at every statement.

import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom, TaskScope } from "@keelson/base";
import { ManualClock, RecordingLog, RecordingMetrics, until } from "@keelson/base/testing";
import type { DatabaseOptions } from "../database.ts";
import { DatabaseUnavailable } from "../errors.ts";
import { eachPostgres } from "../testing/each-postgres.ts";
import {
  ageEvents,
  append,
  drained,
  event,
  forget,
  logEvent,
  name,
  never,
  outboxOn,
  pending,
  RecordingTransport,
  relaying,
  seqOf,
} from "../testing/outbox-bed.ts";
import { createServicesDatabase } from "../testing/services-database.ts";
import { Wakeups } from "../wakeups.ts";
import { Outbox } from "./outbox.ts";
import { CursorExpired, Tail } from "./tail.ts";

eachPostgres("outbox", (server) => {
  const fresh = async (options: Partial<DatabaseOptions> = {}) =>
    createServicesDatabase(await server(), options);

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

  test("a reader is told when the log went back, and what comes in place of the lost is read", async (t) => {
    const log = new RecordingLog();
    let looks = 0;
    await using it = await fresh({
      onStatement: ({ statement, phase }) => {
        if (statement === "readEvents" && phase === "after") looks += 1;
      },
    });
    const outbox = outboxOn(it.database, { log });
    const tail = new Tail({ source: outbox });
    await append(outbox, ...[1, 2, 3].map((seq) => logEvent("a", seq)));
    await outbox.numberAll(never);
    await using scope = new TaskScope(never);
    scope.spawn("tail", (signal) => tail.run(signal));
    const next = tail.follow(3, t.signal).next();
    const told = assert.rejects(next, CursorExpired);
    const before = looks;
    await until(() => looks >= before + 2, "the log is followed");
    // As a restore of an earlier state leaves it, or a replica that takes over and lacks the last commits.
    await it.database.run(forget, { log: name, after: 1 }, never);
    await told;
    assert.deepEqual(log.messages("warn"), ["the log went back: who has read further lists again"]);
    const again = tail.follow(1, t.signal).next();
    await append(outbox, logEvent("a", 4));
    await outbox.numberAll(never);
    assert.deepEqual((await again).value?.map(seqOf), [4]);
  });

  test("a reader of a quiet log gets an empty batch now and then, however often the log is looked at", async (t) => {
    await using it = await fresh();
    const outbox = outboxOn(it.database); // Which looks every 20 ms.
    const tail = new Tail({ source: outbox, idleMs: 300 });
    await using scope = new TaskScope(never);
    scope.spawn("tail", (signal) => tail.run(signal));
    const batches = tail.follow(0, t.signal);
    assert.deepEqual((await batches.next()).value, []);
    assert.deepEqual((await batches.next()).value, []);
    const next = batches.next();
    await append(outbox, event("a", 1));
    await outbox.numberAll(never);
    const rest = async (batch: typeof next): Promise<readonly number[]> => {
      const { value } = await batch;
      return value?.length === 0 ? await rest(batches.next()) : (value ?? []).map(seqOf);
    };
    assert.deepEqual(await rest(next), [1]);
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

  test("a measurement that fails is told of, and made again", async () => {
    const metrics = new RecordingMetrics();
    const log = new RecordingLog();
    await using it = await fresh();
    let isAway = false;
    const faulty = it.openAnother({
      metrics,
      onStatement: ({ statement }) => {
        if (isAway && statement === "measureBacklog") throw new DatabaseUnavailable("a fault");
      },
    });
    const outbox = new Outbox({
      database: faulty,
      wakeups: new Wakeups({ database: faulty }),
      name,
      log,
    });
    await append(outbox, event("a", 1));
    await using scope = new TaskScope(never);
    scope.spawn("measuring", (signal) => outbox.runMeasuring(signal, 5));
    const backlog = () => metrics.value("keelson_outbox_backlog", { outbox: name });
    await until(() => backlog() === 1);
    assert.deepEqual(log.messages(), []);
    isAway = true;
    await until(() => log.messages("warn").length >= 2);
    assert.equal(backlog(), undefined);
    const [first, second] = log.entries;
    for (const [line, attempts] of [
      [first, 1],
      [second, 2],
    ] as const) {
      assert.equal(line?.message, "loop failed, trying again");
      assert.deepEqual(
        { ...line.fields, error: String(line.fields["error"]) },
        { loop: `${name} measuring`, attempts, error: "DatabaseUnavailable: a fault" },
      );
    }
    isAway = false;
    await until(() => backlog() === 1);
    const told = log.entries.length;
    await scope[Symbol.asyncDispose]();
    assert.equal(log.entries.length, told, "a stop is no failure");
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
    // What was claimed and not heard of is free again after this.
    const lease = { leaseMs: 2_000, publishTimeoutMs: 1_000 };
    // The first statement of the loops, which is sent until it was answered.
    for (const place of ["before startLog", "after startLog"]) {
      armed = place;
      await relaying(outbox, transport, () => until(() => armed === undefined, place), lease);
    }
    const places = ["insertEvents", "commit", "numberRows", "claimKeys", "settleKeys"]
      .flatMap((statement) => [`before ${statement}`, `after ${statement}`])
      .toSpliced(0, 0, "before begin");
    const work = async (): Promise<void> => {
      for (const [seq, place] of places.entries()) {
        armed = place;
        const error = await append(outbox, event("a", seq)).catch((error: unknown) => error);
        // The answer to a commit was lost, not the commit: the error says that nobody knows.
        const isUnknown = error instanceof DatabaseUnavailable && error.isDone === "unknown";
        assert.equal(isUnknown, place.endsWith("commit"));
        if (error === undefined || place === "after commit") committed.push(seq);
        await until(async () => armed === undefined && (await drained(it.database)));
      }
    };
    await relaying(outbox, transport, work, lease);
    assert.equal(committed.length, places.length - 4);
    assert.deepEqual([...new Set(transport.seqs("a"))], committed);
  });
});
