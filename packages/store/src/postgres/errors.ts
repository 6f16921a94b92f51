// PostgreSQL's failures by the names the store has for them. Nobody above sees a SQLSTATE.

import { Corrupt, Full, StoreError, Unavailable } from "../errors.ts";

/** What the driver reports when a connection cannot be made or is lost. */
const connectionCodes = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "CONNECT_TIMEOUT",
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOENT",
  "ENOTFOUND",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EPIPE",
  "ETIMEDOUT",
]);

/** How OpenSSL calls a certificate that nobody has vouched for, or nobody does any more. */
const distrustCodes = /^(?:UNABLE_TO_|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|HOSTNAME_)/;

/** Translates what a statement threw; what is not the database's passes through. */
export function toStoreError(error: unknown): unknown {
  if (error instanceof StoreError || !hasCode(error)) return error;
  const cause = error;
  const { code } = error;
  if (connectionCodes.has(code))
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
  // Resources, operator's intervention, system errors, wrong password or role while somebody rotates them.
  if (/^(08|28|40|53|55|57|58)/.test(code))
    return new Unavailable(`the database is unavailable: ${error.message}`, { cause });
  if (code.startsWith("XX"))
    return new Corrupt(`the database is damaged: ${error.message}`, { cause });
  return error;
}

/** Whether the connection is gone, or about to go with its server. */
export function isConnectionLost(error: unknown): boolean {
  return hasCode(error) && (connectionCodes.has(error.code) || /^57P0[1-5]$/.test(error.code));
}

/** Whether a table or schema is missing. */
export function isMissingTable(error: unknown): boolean {
  return hasCode(error) && (error.code === "42P01" || error.code === "3F000");
}

function hasCode(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}
