// PostgreSQL for services: a server to start, and what every service builds on it. Calls have deadlines,
// failures have names, and no number of a log appears below one that was already read.

export {
  Database,
  openDatabase,
  type DatabaseOptions,
  type Runner,
  type StatementPoint,
  type Transaction,
} from "./database.ts";
export {
  CheckViolation,
  DatabaseBusy,
  DatabaseError,
  DatabaseTimeout,
  DatabaseUnavailable,
  ForeignKeyViolation,
  StatementFailed,
  TransactionConflict,
  UniqueViolation,
  ValueRefused,
  isTransient,
} from "./errors.ts";
export { PostgresServerError, type PostgresServerErrorCode } from "./server/errors.ts";
export { statement, type Sql, type Statement } from "./sql/statement.ts";
export { type TransactionModes } from "./sql/transaction.ts";
