// The versioned object store: keys, revisions, JSON bodies and labels, in SQLite or PostgreSQL.
//
// Every committed change has a revision, in commit order, and an entry in the log. Reads see
// every completed write, lists show one snapshot, watches carry each change once and in order.
// The store knows no rules of Kubernetes. docs/invariants.md says what it promises, S1 to S17.

export type { Backend, Bounds, LogEntry, OnStatement, Row } from "./backend.ts";
export { Body } from "./body.ts";
export { type Bookmark, Change } from "./change.ts";
export {
  AlreadyExists,
  Conflict,
  Corrupt,
  Expired,
  Full,
  Invalid,
  Locked,
  NotFound,
  SchemaMismatch,
  StoreError,
  type StoreErrorCode,
  TooNew,
  Unavailable,
} from "./errors.ts";
export {
  comparePositions,
  describeKey,
  type Key,
  type Kind,
  type Position,
  type Scope,
} from "./key.ts";
export { defaultLimits, type StoreLimits } from "./limits.ts";
export { PostgresBackend, type PostgresOptions } from "./postgres/backend.ts";
export {
  inspectPostgres,
  type Inspected,
  migratePostgres,
  type MigrateOptions,
} from "./postgres/migrate.ts";
export type { Cursor, ListOptions, Page } from "./pages.ts";
export { type Expect, isRevision, type Revision } from "./revision.ts";
export {
  type FieldRequirement,
  type LabelRequirement,
  matches,
  type Selector,
} from "./selector.ts";
export { SqliteBackend, type SqliteOptions } from "./sqlite/backend.ts";
export { Store, type StoreOptions, type WatchOptions } from "./store.ts";
export type { Watch, WatchItem } from "./watch.ts";
