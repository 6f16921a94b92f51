// PostgreSQL's failures by the names the store has for them. Nobody above sees a SQLSTATE.

import { Corrupt, Full, StoreError, Unavailable } from "../errors.ts";

/**
 * What the driver and the system say when a connection cannot be made or is lost: no such name, no way there, nobody
 * there, nothing left here to make one with. packages/database/src/sql/driver-errors.ts names them too: neither
 * package may import the other.
 */
const connectionCodes =
  /^(?:CONNECT_TIMEOUT|CONNECTION_(?:CLOSED|ENDED|DESTROYED)|E(?:CONN[A-Z]+|PIPE|TIMEDOUT|NOTCONN|HOSTUNREACH|HOSTDOWN|NETUNREACH|NETDOWN|ADDRNOTAVAIL|NOTFOUND|AI_[A-Z]+|NOENT|MFILE|NFILE))$/;

/** How OpenSSL calls a certificate that nobody has vouched for, or nobody does any more. */
const distrustCodes = /^(?:UNABLE_TO_|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|HOSTNAME_)/;

/** `read_only_sql_transaction`: a standby, or told to be read-only. */
const readOnlyCode = "25006";

/** Translates what a statement threw; what is not the database's passes through. */
export function toStoreError(error: unknown): unknown {
  if (error instanceof StoreError || !hasCode(error)) return error;
  const cause = error;
  const { code } = error;
  if (connectionCodes.test(code))
    return new Unavailable(`the database does not answer (${code})`, { cause });
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return new Unavailable(`the database's certificate is another's: ${error.message}`, { cause });
  if (distrustCodes.test(code))
    return new Unavailable(
      `the database's certificate is not trusted (${code}): NODE_EXTRA_CA_CERTS names the file of its authority`,
      { cause },
    );
  if (/^ERR_(?:TLS|SSL)_/.test(code))
    return new Unavailable(`the database does not speak TLS with us: ${error.message}`, { cause });
  if (code === "53100") return new Full(`the database's disk is full: ${error.message}`, { cause });
  if (code === "53300")
    return new Unavailable(`the database has no connection left: ${error.message}`, { cause });
  if (code === readOnlyCode)
    return new Unavailable(`the database accepts no writes: ${error.message}`, { cause });
  // Who we are, and a database that is not there: it ends when somebody mends it, here or there.
  if (code.startsWith("28") || code === "3D000" || code === "SASL_SIGNATURE_MISMATCH")
    return new Unavailable(`the database does not let us in: ${error.message}`, { cause });
  // The connection, a transaction in another's way or ended for taking too long, resources, the operator, the system.
  if (/^(?:08|25P0[34]|40|53|55|57|58)/.test(code))
    return new Unavailable(`the database is unavailable: ${error.message}`, { cause });
  if (code.startsWith("XX"))
    return new Corrupt(`the database is damaged: ${error.message}`, { cause });
  return error;
}

/** Whether the connection is gone, or about to go: whatever is fatal ends the session. */
export function isConnectionLost(error: unknown): boolean {
  if (!hasCode(error)) return false;
  const { code } = error;
  return isFatal(error) || connectionCodes.test(code) || isRefused(code);
}

/** Whether the server itself has refused a statement, in a session that goes on. */
export function isAnswer(error: unknown): boolean {
  return error instanceof Error && "severity" in error && !isFatal(error);
}

/** Whether this server takes no writes. Another one may by now, under the same name. */
export function isReadOnly(error: unknown): boolean {
  return hasCode(error) && error.code === readOnlyCode;
}

/** What a server would say that is asked to write and may not. */
export function readOnlyError(): Error {
  const error = new Error("its transactions are read-only");
  return Object.assign(error, { code: readOnlyCode, severity: "ERROR" });
}

/** Whether a table or schema is missing. */
export function isMissingTable(error: unknown): boolean {
  return hasCode(error) && (error.code === "42P01" || error.code === "3F000");
}

function isFatal(error: object): boolean {
  return "severity" in error && (error.severity === "FATAL" || error.severity === "PANIC");
}

/** Whether the greeting failed before there was a session, by our own judgement of who is there. */
function isRefused(code: string): boolean {
  return (
    distrustCodes.test(code) || /^ERR_(?:TLS|SSL)_/.test(code) || code === "SASL_SIGNATURE_MISMATCH"
  );
}

function hasCode(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}
