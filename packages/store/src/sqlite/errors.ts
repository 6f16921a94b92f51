// SQLite's failures by the names the store has for them. Nobody above sees an error code of SQLite.

import { Corrupt, Full, StoreError, Unavailable } from "../errors.ts";

/** Primary result codes: https://sqlite.org/rescode.html */
const codes = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  io: 10,
  corrupt: 11,
  full: 13,
  cantOpen: 14,
  notADatabase: 26,
} as const;

/** Translates what a statement threw; what is not SQLite's passes through. */
export function toStoreError(error: unknown): unknown {
  if (error instanceof StoreError || !isSqliteError(error)) return error;
  const cause = error;
  switch (error.errcode & 0xff) {
    case codes.full:
      return new Full(`the disk is full: ${error.message}`, { cause });
    case codes.busy:
    case codes.locked:
      return new Unavailable("another connection holds the database", { cause });
    case codes.readOnly:
    case codes.io:
    case codes.cantOpen:
      return new Unavailable(`the database file cannot be used: ${error.message}`, { cause });
    case codes.corrupt:
    case codes.notADatabase:
      return new Corrupt(`the database file is damaged: ${error.message}`, { cause });
    default:
      return error;
  }
}

/** Whether opening failed because somebody else holds the lock. */
export function isBusy(error: unknown): boolean {
  return isSqliteError(error) && (error.errcode & 0xff) === codes.busy;
}

function isSqliteError(error: unknown): error is Error & { readonly errcode: number } {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number";
}
