// What can go wrong with a database, in words: nobody above `sql/` sees a SQLSTATE or a driver's error.

/** Facts that every database error carries. */
export interface DatabaseErrorFacts extends ErrorOptions {
  /** The name of the statement that failed, where there was one. */
  readonly statement?: string;
}

/** The database did not do what it was asked. */
export abstract class DatabaseError extends Error {
  abstract readonly code: string;
  /** Whether the same call may succeed later with nothing changed. */
  abstract readonly isTransient: boolean;
  readonly statement: string | undefined;

  constructor(message: string, { statement, ...options }: DatabaseErrorFacts = {}) {
    super(message, options);
    this.name = new.target.name;
    this.statement = statement;
  }
}

/**
 * The database is away: refused, hung up, shutting down, out of connections or of space.
 *
 * `isDone` says what became of the call: `no`, or `unknown` when the connection was lost after a commit was
 * sent; whoever repeats such a write must be able to recognise its own.
 */
export class DatabaseUnavailable extends DatabaseError {
  readonly code = "DATABASE_UNAVAILABLE";
  readonly isTransient = true;
  readonly isDone: "no" | "unknown";

  constructor(
    message: string,
    { isDone = "no", ...facts }: DatabaseErrorFacts & { readonly isDone?: "no" | "unknown" } = {},
  ) {
    super(message, facts);
    this.isDone = isDone;
  }
}

/** The call took longer than its deadline; the statement was cancelled, its transaction undone. */
export class DatabaseTimeout extends DatabaseError {
  readonly code = "DATABASE_TIMEOUT";
  readonly isTransient = true;
}

/** Too many calls wait for a connection: this one was turned away at once. */
export class DatabaseBusy extends DatabaseError {
  readonly code = "DATABASE_BUSY";
  readonly isTransient = true;
}

/** Two transactions were in each other's way (a deadlock, a serialisation failure); this one was undone. */
export class TransactionConflict extends DatabaseError {
  readonly code = "TRANSACTION_CONFLICT";
  readonly isTransient = true;
}

/** A row like this one is already there. */
export class UniqueViolation extends DatabaseError {
  readonly code = "UNIQUE_VIOLATION";
  readonly isTransient = false;
  readonly constraint: string;

  constructor(constraint: string, facts: DatabaseErrorFacts) {
    super(`a row with the same key exists (${constraint})`, facts);
    this.constraint = constraint;
  }
}

/** A row that this one refers to is missing, or one that refers to it is still there. */
export class ForeignKeyViolation extends DatabaseError {
  readonly code = "FOREIGN_KEY_VIOLATION";
  readonly isTransient = false;
  readonly constraint: string;

  constructor(constraint: string, facts: DatabaseErrorFacts) {
    super(`a row refers to one that is not there (${constraint})`, facts);
    this.constraint = constraint;
  }
}

/** A value breaks a rule of its table. */
export class CheckViolation extends DatabaseError {
  readonly code = "CHECK_VIOLATION";
  readonly isTransient = false;
  readonly constraint: string;

  constructor(constraint: string, facts: DatabaseErrorFacts) {
    super(`a value breaks the rule ${constraint}`, facts);
    this.constraint = constraint;
  }
}

/** A value that the type of its column cannot hold: too long, out of range, or text with a NUL. */
export class ValueRefused extends DatabaseError {
  readonly code = "VALUE_REFUSED";
  readonly isTransient = false;
}

/** Our user may not do that in this database: it is another's, or its tables are. */
export class PermissionDenied extends DatabaseError {
  readonly code = "PERMISSION_DENIED";
  readonly isTransient = false;
}

/** The statement itself is wrong, or something no code was prepared for: a bug. */
export class StatementFailed extends DatabaseError {
  readonly code = "STATEMENT_FAILED";
  readonly isTransient = false;
}

/** Whether `error` is the database's and may go away by itself. */
export function isTransient(error: unknown): boolean {
  return error instanceof DatabaseError && error.isTransient;
}
