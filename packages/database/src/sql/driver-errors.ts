// The one place that reads SQLSTATEs and the driver's codes.

import { isBeforeTls, isConnectionFailure, isDistrust, isTlsFailure } from "@keelson/base";
import {
  CheckViolation,
  DatabaseError,
  DatabaseTimeout,
  DatabaseUnavailable,
  ForeignKeyViolation,
  PermissionDenied,
  StatementFailed,
  TransactionConflict,
  UniqueViolation,
  ValueRefused,
} from "../errors.ts";

/** Names what the driver threw for `statement`. Errors that are already named pass through. */
export function nameDriverError(cause: unknown, statement: string): DatabaseError {
  if (cause instanceof DatabaseError) return cause;
  const {
    code = "",
    constraint_name: constraint = "unnamed",
    message = "",
    severity = "",
    routine = "",
  } = cause as {
    readonly code?: string;
    readonly constraint_name?: string;
    readonly message?: string;
    readonly severity?: string;
    readonly routine?: string;
  };
  const facts = { statement, cause: withoutRows(cause, code) };
  switch (code) {
    case "23505":
    case "23P01": // An exclusion constraint.
      return new UniqueViolation(constraint, facts);
    case "23503":
      return new ForeignKeyViolation(constraint, facts);
    case "23514":
    case "23502": // Not null: its rule has no name of its own.
      return new CheckViolation(constraint, facts);
    case "40001":
    case "40P01":
      return new TransactionConflict(`${statement} was in another transaction's way`, facts);
    case "57014": // Cancelled, by the server's timeout or by us at the deadline.
    case "55P03": // A lock was not to be had in time.
    case "25P03": // Idle in a transaction for too long.
    case "25P04":
      return new DatabaseTimeout(`${statement} took too long`, facts);
    case "25006": // Read-only: a standby, until the new primary is found.
      return new DatabaseUnavailable("the database accepts no writes", facts);
    case "42501":
      return new PermissionDenied(`the database does not let us do that: ${message}`, facts);
    case "53100":
      return new DatabaseUnavailable("the disk of the database is full", facts);
  }
  // A session that listens, and has been in a transaction for long, holds up those of all databases of the server.
  if (code === "54000" && routine === "PreCommit_Notify")
    return new DatabaseUnavailable(`the database has no room for wake-ups: ${message}`, facts);
  if (code.startsWith("58"))
    return new DatabaseUnavailable("the database has trouble with its system", facts);
  if (isBeforeTls({ code, message })) {
    const fix = "if it offers none, say sslmode=disable or prefer, or turn on its ssl";
    return new DatabaseUnavailable(`the database ended the connection before TLS: ${fix}`, facts);
  }
  if (isAway(code)) {
    // What the system or the driver says has the address in it.
    const why = /^[A-Z_]+$/.test(code) ? `: ${message}` : "";
    return new DatabaseUnavailable(`the database is away${why}`, facts);
  }
  const refusal = refusalOf({ code, severity, message });
  if (refusal !== undefined) return new DatabaseUnavailable(refusal, facts);
  if (isRefusedValue(code)) {
    return new ValueRefused(`${statement} has a value that its column cannot hold`, facts);
  }
  return new StatementFailed(`${statement} failed`, facts);
}

/**
 * Where the server says more than what is wrong it may quote rows and parameters, and an error ends up in a log. Of a
 * value that it refuses it says nothing without quoting it: code and routine still tell what kind of trouble it was.
 */
function withoutRows(cause: unknown, code: string): unknown {
  if (!(cause instanceof Error)) return cause;
  for (const more of ["detail", "where"]) Reflect.deleteProperty(cause, more);
  if (isRefusedValue(code)) {
    const message = `the server refused a value (${code})`;
    const stack = cause.stack?.replace(cause.message, () => message);
    Object.defineProperties(cause, { message: { value: message }, stack: { value: stack } });
  }
  return cause;
}

function isRefusedValue(code: string): boolean {
  return code.startsWith("22");
}

/** Connection exceptions, no resources, operator intervention; then the driver's and the system's own codes. */
function isAway(code: string): boolean {
  return (
    /^(08|53|57P)/.test(code) ||
    /^(CONNECT_TIMEOUT|CONNECTION_(CLOSED|ENDED|DESTROYED))$/.test(code) ||
    isConnectionFailure(code)
  );
}

/**
 * Why there is no connection although somebody answers. That may end without us, when a password or a certificate is
 * being replaced, so whoever waits for a database waits for this too.
 */
function refusalOf({
  code,
  severity,
  message,
}: {
  readonly code: string;
  readonly severity: string;
  readonly message: string;
}): string | undefined {
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return `the database's certificate is another's: ${message}`;
  if (isDistrust(code))
    return `the database's certificate is not trusted (${code}): NODE_EXTRA_CA_CERTS names the file of its authority`;
  if (isTlsFailure(code)) return `the database does not speak TLS with us: ${message}`;
  const isClosed = code === "55000" && severity === "FATAL"; // To all, as while somebody restores it.
  if (isClosed || code.startsWith("28") || code === "3D000" || code === "SASL_SIGNATURE_MISMATCH")
    // Who we are; a database that is not there.
    return `the database does not let us in: ${message}`;
  return undefined;
}
