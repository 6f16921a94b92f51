import { quoted } from "./identifier.ts";
import { statement } from "./statement.ts";

/** The two tables of a log: where transactions write, and where readers read. */
export interface LogShape {
  /** The name of the log in the table `numbering`: `<schema>.<table>`. */
  readonly log: string;
  /** Where rows wait for their position, with an `id` that rises with insertion. */
  readonly source: string;
  readonly target: string;
  /** The column of `target` that gets the position. */
  readonly position: string;
  /** The columns that move as they are. */
  readonly columns: readonly string[];
  /** Columns of both that move as something else: SQL over the row's columns. */
  readonly computed?: Readonly<Record<string, string>>;
  /**
   * Further commands of the same transaction, run when rows were moved or not. `numbered()` in their text stands
   * for the condition that a row was moved just now.
   */
  readonly further?: readonly string[];
}

/** The commands that a log needs once, before its first step. */
export const startLog = statement<string>(
  "startLog",
  (sql, log) => sql`INSERT INTO keelson.numbering (log) VALUES (${log}) ON CONFLICT DO NOTHING`,
);

/**
 * One numbering step in one round trip: several commands in one message are one transaction, and each sees what
 * was committed before it began.
 *
 * The lock lets one step at a time through, and the commands after it see the positions of the step before. It is
 * not the counter's row: locking a row is a write, and a step that finds nothing writes nothing.
 */
export const numberRows = statement<
  { readonly shape: LogShape; readonly limit: number },
  { from_position: string; to_position: string }
>(
  "numberRows",
  (sql, { shape, limit }) => {
    const log = literal(shape.log);
    const source = quoted(shape.source);
    const target = quoted(shape.target);
    const position = quoted(shape.position);
    const computed = Object.entries(shape.computed ?? {});
    const columns = quoted(...shape.columns, ...computed.map(([column]) => column));
    const values = [quoted(...shape.columns), ...computed.map(([, value]) => value)].join(", ");
    const numbered = `(${position} BETWEEN current_setting('keelson.numbered_from')::bigint
      AND current_setting('keelson.numbered_to')::bigint)`;
    return sql
      .unsafe(
        `SELECT pg_advisory_xact_lock(hashtextextended(${log}, 1));
      WITH moved AS (
        DELETE FROM ${source}
        WHERE id IN (SELECT id FROM ${source} ORDER BY id LIMIT ${Math.trunc(limit)})
        RETURNING id, ${columns}
      ), numbered AS (
        INSERT INTO ${target} (${position}, ${columns})
        SELECT last_position + row_number() OVER (ORDER BY id), ${values}
        FROM moved, keelson.numbering WHERE log = ${log}
        ORDER BY id
        RETURNING ${position}
      ), bounds AS (
        SELECT min(${position}) AS low, max(${position}) AS high FROM numbered
      ), raised AS (
        UPDATE keelson.numbering SET last_position = high FROM bounds
        WHERE log = ${log} AND high IS NOT NULL
      )
      SELECT set_config('keelson.numbered_from', coalesce(low, 0)::text, true),
             set_config('keelson.numbered_to', coalesce(high, -1)::text, true)
      FROM bounds;
      ${(shape.further ?? []).map((text) => `${text.replaceAll("numbered()", numbered)};`).join("\n")}
      SELECT current_setting('keelson.numbered_from') AS from_position,
             current_setting('keelson.numbered_to') AS to_position`,
      )
      .simple() as never;
  },
  { isScript: true },
);

export const lastPosition = statement<string, { last_position: string; purged_position: string }>(
  "lastPosition",
  (sql, log) =>
    sql`SELECT last_position, purged_position FROM keelson.numbering WHERE log = ${log}`,
);

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
