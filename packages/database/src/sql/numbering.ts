import { quoted } from "./identifier.ts";
import { statement } from "./statement.ts";

/** The two tables of a log: where transactions write, and where readers read. */
export interface LogShape {
  /** The name of the log in the table `numbering`. */
  readonly log: string;
  /** Where rows wait for their position, with an `id` that rises with insertion. */
  readonly source: string;
  readonly target: string;
  /** The column of `target` that gets the position. */
  readonly position: string;
  /** The columns that move as they are. */
  readonly columns: readonly string[];
}

/** Lets one numbering step at a time through: the next one waits here until this one has committed. */
export const lockNumbering = statement<string, { last_position: string }>(
  "lockNumbering",
  (sql, log) => sql`SELECT last_position FROM keelson.numbering WHERE log = ${log} FOR UPDATE`,
);

export const startLog = statement<string>(
  "startLog",
  (sql, log) => sql`INSERT INTO keelson.numbering (log) VALUES (${log}) ON CONFLICT DO NOTHING`,
);

export const hasUnnumbered = statement<LogShape, { found: boolean }>(
  "hasUnnumbered",
  (sql, { source }) => sql`SELECT EXISTS (SELECT FROM ${sql(source)}) AS found`,
);

/**
 * Moves the oldest visible rows. It must be a statement of its own after the lock: its snapshot is then younger
 * than the last step's commit.
 */
export const numberRows = statement<
  { readonly shape: LogShape; readonly after: number; readonly limit: number },
  { moved: number }
>("numberRows", (sql, { shape, after, limit }) => {
  const columns = sql.unsafe(quoted(...shape.columns));
  return sql`
    WITH moved AS (
      DELETE FROM ${sql(shape.source)}
      WHERE id IN (SELECT id FROM ${sql(shape.source)} ORDER BY id LIMIT ${limit})
      RETURNING id, ${columns}
    ), numbered AS (
      INSERT INTO ${sql(shape.target)} (${sql(shape.position)}, ${columns})
      SELECT ${after}::bigint + row_number() OVER (ORDER BY id), ${columns} FROM moved
      ORDER BY id
      RETURNING 1
    ), counted AS (
      SELECT count(*)::integer AS moved FROM numbered
    )
    UPDATE keelson.numbering SET last_position = last_position + moved FROM counted
    WHERE log = ${shape.log} AND moved > 0
    RETURNING moved`;
});

export const lastPosition = statement<string, { last_position: string; purged_position: string }>(
  "lastPosition",
  (sql, log) =>
    sql`SELECT last_position, purged_position FROM keelson.numbering WHERE log = ${log}`,
);
