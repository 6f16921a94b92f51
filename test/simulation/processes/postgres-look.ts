// Looks into PostgreSQL past the store, and the hand that disturbs it.

import postgres, { type Sql } from "postgres";
import { systemClock } from "@keelson/base";
import type { Tables } from "../history.ts";
import {
  countsOf,
  entryFact,
  type Look,
  type RawCount,
  type RawEntry,
  type RawRow,
  rowFactOf,
  type Sight,
} from "../world/look.ts";

/** A connection of the host's own, to schema `ark`. */
export class PostgresLook implements Look, AsyncDisposable {
  readonly #sql: Sql;

  constructor(url: string) {
    this.#sql = postgres(url, { max: 2, backoff: () => 0.1, onnotice: () => undefined });
  }

  /** One statement, and so one snapshot: the driver does not survive losing its server within a transaction. */
  async sight(): Promise<Sight> {
    const rows = await this.#sql<(Bounds & (RawEntry | { revision: null }))[]>`
      SELECT m.head, m.floor, c.* FROM ark.meta m LEFT JOIN ark.changes c ON true ORDER BY c.revision`;
    const entries = rows.filter((row): row is Bounds & RawEntry => row.revision !== null);
    return { ...numbers(rows[0]), entries: entries.map(entryFact) };
  }

  /** When nobody writes any more. */
  async tables(): Promise<Tables> {
    const [bounds] = await this.#sql<Bounds[]>`SELECT head, floor FROM ark.meta`;
    const rows = await this.#sql<RawRow[]>`SELECT * FROM ark.resources`;
    const counts = await this.#sql<RawCount[]>`SELECT * FROM ark.counts`;
    return { ...numbers(bounds), rows: rows.map(rowFactOf), counts: countsOf(counts) };
  }

  /** So many of the commits stall from now on, after they have taken their revisions: for that long, or up to 200 ms. */
  async stallCommits(share: number, ms?: number): Promise<void> {
    const seconds = ms === undefined ? "random() * 0.2" : String(ms / 1_000);
    await this.#sql.unsafe(`
      CREATE FUNCTION ark.stall() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF random() < ${share} THEN PERFORM pg_sleep(${seconds}); END IF;
        RETURN NULL;
      END $$;
      CREATE TRIGGER stall AFTER INSERT ON ark.changes FOR EACH STATEMENT EXECUTE FUNCTION ark.stall();`);
  }

  /** Nobody is woken any more, or again. */
  async setWakeUps(isOn: boolean): Promise<void> {
    await this.#sql.unsafe(
      `ALTER TABLE ark.changes ${isOn ? "ENABLE" : "DISABLE"} TRIGGER wake_up`,
    );
  }

  /** Cuts the connections on which replicas listen. Answers how many there were. */
  async terminateListeners(): Promise<number> {
    const cut = await this.#sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'keelson-store' AND query ILIKE 'listen %'`;
    return cut.length;
  }

  /** Holds the counter until somebody waits for it. */
  async holdCounter(): Promise<void> {
    await this.#sql.begin(async (sql) => {
      await sql`SELECT head FROM ark.meta FOR UPDATE`;
      const deadline = systemClock.monotonic() + 60_000;
      for (;;) {
        const [waiting] = await this.#sql<{ count: string }[]>`
          SELECT count(*) FROM pg_stat_activity
          WHERE application_name = 'keelson-store' AND wait_event_type = 'Lock'`;
        if (Number(waiting?.count) > 0) return;
        if (systemClock.monotonic() > deadline) throw new Error("nobody wanted the counter");
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sql.end({ timeout: 1 });
  }
}

interface Bounds {
  readonly head: string;
  readonly floor: string;
}

function numbers(bounds: Bounds | undefined): { readonly head: number; readonly floor: number } {
  if (bounds === undefined) throw new Error("the row of the counter is missing");
  return { head: Number(bounds.head), floor: Number(bounds.floor) };
}
