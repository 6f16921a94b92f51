// PostgreSQL's failures by the names the store has for them. Nobody above sees a SQLSTATE.

import { isBeforeTls, isConnectionFailure, isDistrust, isTlsFailure } from "@keelson/base";
import { Corrupt, Full, StoreError, Unavailable } from "../errors.ts";

/** What the driver says of its own. */
const driverCodes = /^(?:CONNECT_TIMEOUT|CONNECTION_(?:CLOSED|ENDED|DESTROYED))$/;

/** `read_only_sql_transaction`: a standby, or told to be read-only. */
const readOnlyCode = "25006";

/** Translates what a statement threw; what is not the database's passes through. */
export function toStoreError(error: unknown): unknown {
  if (error instanceof StoreError || !hasCode(error)) return error;
  const cause = error;
  const { code } = error;
  if (isBeforeTls(error))
    return new Unavailable(
      "the database ended the connection before TLS: if it offers none, say sslmode=disable or prefer, or turn on its ssl",
      { cause },
    );
  if (hasNoConnection(code))
    return new Unavailable(`the database does not answer (${code})`, { cause });
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return new Unavailable(`the database's certificate is another's: ${error.message}`, { cause });
  if (isDistrust(code))
    return new Unavailable(
      `the database's certificate is not trusted (${code}): NODE_EXTRA_CA_CERTS names the file of its authority`,
      { cause },
    );
  if (isTlsFailure(code))
    return new Unavailable(`the database does not speak TLS with us: ${error.message}`, { cause });
  if (code === "53100") return new Full(`the database's disk is full: ${error.message}`, { cause });
  if (code === "53300")
    return new Unavailable(`the database has no connection left: ${error.message}`, { cause });
  if (code === readOnlyCode)
    return new Unavailable(`the database accepts no writes: ${error.message}`, { cause });
  // A session that listens, and has been in a transaction for long, holds up those of all databases of the server.
  if (isWithoutRoom(error))
    return new Unavailable(`the database has no room for wake-ups: ${error.message}`, { cause });
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
  return isFatal(error) || hasNoConnection(code) || isRefused(code);
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

/** Whether our user may not do what was asked. */
export function isForbidden(error: unknown): boolean {
  return hasCode(error) && error.code === "42501";
}

/** Whether something that a statement names is not there, such as a role. */
export function isUndefined(error: unknown): boolean {
  return hasCode(error) && error.code === "42704";
}

function isWithoutRoom(error: Error & { readonly code: string }): boolean {
  return error.code === "54000" && "routine" in error && error.routine === "PreCommit_Notify";
}

function isFatal(error: object): boolean {
  return "severity" in error && (error.severity === "FATAL" || error.severity === "PANIC");
}

/** Whether the greeting failed before there was a session, by our own judgement of who is there. */
function isRefused(code: string): boolean {
  return isDistrust(code) || isTlsFailure(code) || code === "SASL_SIGNATURE_MISMATCH";
}

/** Whether a connection could not be made, or is lost. */
function hasNoConnection(code: string): boolean {
  return driverCodes.test(code) || isConnectionFailure(code);
}

function hasCode(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}
