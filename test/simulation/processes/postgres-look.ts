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

  async sight(): Promise<Sight> {
    return this.#snapshot(async (sql) => {
      const [bounds] = await sql<Bounds[]>`SELECT head, floor FROM ark.meta`;
      const entries = await sql<RawEntry[]>`SELECT * FROM ark.changes ORDER BY revision`;
      return { ...numbers(bounds), entries: entries.map(entryFact) };
    });
  }

  async tables(): Promise<Tables> {
    return this.#snapshot(async (sql) => {
      const [bounds] = await sql<Bounds[]>`SELECT head, floor FROM ark.meta`;
      const rows = await sql<RawRow[]>`SELECT * FROM ark.resources`;
      const counts = await sql<RawCount[]>`SELECT * FROM ark.counts`;
      return { ...numbers(bounds), rows: rows.map(rowFactOf), counts: countsOf(counts) };
    });
  }

  /** Some commits stall from now on, after they have taken their revisions. */
  async stallCommits(): Promise<void> {
    await this.#sql.unsafe(`
      CREATE FUNCTION ark.stall() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF random() < 0.05 THEN PERFORM pg_sleep(random() * 0.2); END IF;
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
      const deadline = systemClock.monotonic() + 10_000;
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

  /** One snapshot for all the statements. */
  async #snapshot<T>(run: (sql: Sql) => Promise<T>): Promise<T> {
    const result = await this.#sql.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY", (sql) =>
      run(sql as unknown as Sql),
    );
    return result as T;
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
