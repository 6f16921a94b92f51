// What must be true of an outbox at rest, whatever happened before.

import assert from "node:assert/strict";
import { isTransient, statement, type Database } from "@keelson/database";

const never = new AbortController().signal;

const createEvidence = statement<undefined>("createEvidence", (sql) =>
  sql`
    CREATE TABLE lifecycle.things (key text PRIMARY KEY, seq integer NOT NULL DEFAULT 0);
    INSERT INTO lifecycle.things SELECT 'k' || n FROM generate_series(0, 4) n;
    CREATE TABLE lifecycle.deliveries (
      id bigint GENERATED ALWAYS AS IDENTITY, position bigint, ordering_key text, seq integer
    )`.simple(),
);
const things = statement<undefined, { key: string; seq: number }>(
  "things",
  (sql) => sql`SELECT key, seq FROM things ORDER BY key`,
);
const events = statement<
  undefined,
  { position: string; ordering_key: string; seq: number; doomed: boolean; unpublished: boolean }
>(
  "events",
  (sql) => sql`
    SELECT position, ordering_key, (data ->> 'seq')::integer AS seq, data ? 'doomed' AS doomed,
           published_at IS NULL AS unpublished
    FROM outbox ORDER BY position`,
);
const deliveries = statement<undefined, { position: string; ordering_key: string; seq: number }>(
  "deliveries",
  (sql) => sql`SELECT position, ordering_key, seq FROM deliveries ORDER BY id`,
);
const visible = statement<number, { position: string }>(
  "visible",
  (sql, after) => sql`SELECT position FROM outbox WHERE position > ${after} ORDER BY position`,
);

export async function prepareEvidence(database: Database): Promise<void> {
  await database.run(createEvidence, undefined, never);
}

/** Follows the log by position, as a subscriber does, and remembers what it saw. */
export class Follower {
  readonly #database: Database;
  readonly seen: number[] = [];

  constructor(database: Database) {
    this.#database = database;
  }

  async look(): Promise<void> {
    const rows = await this.#database
      .run(visible, this.seen.at(-1) ?? 0, never)
      .catch((error: unknown) => {
        if (isTransient(error)) return []; // The server was restarted under us.
        throw error;
      });
    this.seen.push(...rows.map(({ position }) => Number(position)));
  }
}

/** Counts. Throws at the first promise that is broken; gives the number of events. */
export async function checkOutbox(database: Database, follower: Follower): Promise<number> {
  const changed = await database.run(things, undefined, never);
  const logged = await database.run(events, undefined, never);
  const delivered = await database.run(deliveries, undefined, never);
  await follower.look();

  const positions = logged.map(({ position }) => Number(position));
  assert.deepEqual(
    positions,
    positions.map((_, i) => i + 1),
    "positions have no gap",
  );
  assert.deepEqual(follower.seen, positions, "no position appeared below one already read");
  assert.deepEqual(
    logged.filter(({ doomed, unpublished }) => doomed || unpublished),
    [],
    "nothing rolled back is in the log, and nothing is left to publish",
  );
  const known = new Set(positions);
  assert.ok(
    delivered.every(({ position }) => known.has(Number(position))),
    "nothing was published that was rolled back",
  );
  for (const { key, seq } of changed) {
    const expected = Array.from({ length: seq }, (_, i) => i + 1);
    const inLog = logged.filter((row) => row.ordering_key === key).map((row) => row.seq);
    assert.deepEqual(
      inLog,
      expected,
      `every change of ${key} has its event, in the order of commits`,
    );
    const published = delivered.filter((row) => row.ordering_key === key).map((row) => row.seq);
    assert.deepEqual(
      [...new Set(published)],
      expected,
      `nothing of ${key} was lost, and its order was kept`,
    );
  }
  return logged.length;
}
