import type { PendingQuery, Row, Sql as DriverSql } from "postgres";

/** The tag of SQL text, and its builders for identifiers, arrays and lists. */
export type Sql = DriverSql;

/**
 * SQL text under a name that reaches metrics, errors and the `onStatement` hook.
 *
 * Building it does nothing: a `Database` or a `Transaction` runs it.
 */
export interface Statement<Parameters, Result> {
  readonly name: string;
  readonly build: (sql: Sql, parameters: Parameters) => PendingQuery<(Row & Result)[]>;
  /** How long it may take, where that differs from the database's own deadline. */
  readonly deadlineMs?: number;
  /** Several commands in one message: one transaction, whose last command gives the rows. */
  readonly isScript?: boolean;
}

/** Declares a statement. `Result` is the shape of a row as the driver gives it: `int8` is a string. */
export function statement<Parameters, Result extends object = Row>(
  name: string,
  build: (sql: Sql, parameters: Parameters) => PendingQuery<(Row & Result)[]>,
  options: { readonly deadlineMs?: number; readonly isScript?: boolean } = {},
): Statement<Parameters, Result> {
  return { name, build, ...options };
}
