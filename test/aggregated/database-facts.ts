// What a test wants to know of PostgreSQL past the server.

import { setTimeout as wait } from "node:timers/promises";

import postgres, { type Sql } from "postgres";

import type { Json } from "@keelson/base";

const triesMax = 600;

export class DatabaseFacts implements AsyncDisposable {
  readonly #sql: Sql;

  constructor(url: string) {
    this.#sql = postgres(url, { max: 1, backoff: () => 0.1, onnotice: () => undefined });
  }

  /** The log's entry of a deletion that was acknowledged, though the database may be restarting by now. */
  async deletion(uid: string): Promise<{ readonly object: Json; readonly revision: number }> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const [row] = await this.#sql<{ revision: string; object: string }[]>`
          SELECT revision, object FROM ark.changes WHERE uid = ${uid} AND type = 'DELETED'`;
        if (row === undefined) throw new Error(`the log knows of no deletion of ${uid}`);
        return { object: JSON.parse(row.object) as Json, revision: Number(row.revision) };
      } catch (error) {
        if (attempt === triesMax) throw error;
        await wait(100);
      }
    }
  }

  /** FAULT-9. */
  async replication(): Promise<{ readonly slots: number; readonly publications: number }> {
    const [row] = await this.#sql<{ slots: string; publications: string }[]>`
      SELECT (SELECT count(*) FROM pg_replication_slots) AS slots,
             (SELECT count(*) FROM pg_publication) AS publications`;
    return { slots: Number(row?.slots), publications: Number(row?.publications) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sql.end({ timeout: 1 });
  }
}
