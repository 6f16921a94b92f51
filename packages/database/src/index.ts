// PostgreSQL for services: a server to start, and what every service builds on it. Calls have deadlines,
// failures have names, and no number of a log appears below one that was already read.

export {
  Database,
  openDatabase,
  type DatabaseOptions,
  type Runner,
  type StatementPoint,
  type StatementRun,
  type Transaction,
} from "./database.ts";
export {
  CheckViolation,
  DatabaseBusy,
  DatabaseError,
  DatabaseTimeout,
  DatabaseUnavailable,
  ForeignKeyViolation,
  PermissionDenied,
  StatementFailed,
  TransactionConflict,
  UniqueViolation,
  ValueRefused,
  isTransient,
} from "./errors.ts";
export { PostgresServerError, type PostgresServerErrorCode } from "./server/errors.ts";
export { embeddedVersion } from "./server/binaries.ts";
export { serverFacts } from "./sql/server-facts.ts";
export { statement, type Sql, type Statement } from "./sql/statement.ts";
export { type TransactionModes } from "./sql/transaction.ts";
export {
  acquireLease,
  assertLease,
  holdLeaseWhile,
  LeaseLost,
  type HoldOptions,
  type Lease,
  type LeaseOptions,
} from "./leases.ts";
export {
  isMigrated,
  migrate,
  MigrationChanged,
  MigrationFailed,
  outboxMigrations,
  SchemaTooNew,
  sharedMigrations,
  type MigrationSet,
} from "./migrations.ts";
export { Numbering, type Numbered, type NumberingOptions } from "./numbering.ts";
export { type NumberedEvent, type OutboxEvent } from "./outbox/event.ts";
export { Outbox, type OutboxOptions } from "./outbox/outbox.ts";
export { Relay, type RelayOptions, type Transport } from "./outbox/relay.ts";
export { CursorExpired, Tail, type TailOptions, type TailSource } from "./outbox/tail.ts";
export { type LogShape } from "./sql/numbering.ts";
export { runOnWake, type WakeLoopOptions } from "./wake-loop.ts";
export {
  Wakeups,
  type SubscribeOptions,
  type Subscription,
  type WakeReason,
  type WakeupsOptions,
} from "./wakeups.ts";
export {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from "./embedded.ts";
