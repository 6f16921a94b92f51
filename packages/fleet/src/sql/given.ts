// Statements for many rows take them as one JSON text: `jsonb_to_recordset(…) AS given (id integer, …)`.

import type { Sql } from "@keelson/database";

/**
 * Always true, of `given.id`. PostgreSQL takes it to leave one row of those that are given, whatever they are. So a
 * statement for a few looks its rows up by their keys, and is planned once: what is expected of an array depends on it,
 * and each new one would be planned anew, which takes longer than to run it.
 */
export const areFew = (sql: Sql) => sql`given.id + 0 = given.id`;
