// What each failure of PostgreSQL, its driver or the way to it is called.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { StoreError } from "../errors.ts";
import { isConnectionLost, isReadOnly, toStoreError } from "./errors.ts";

interface Family {
  readonly codes: string;
  readonly severity?: "ERROR" | "FATAL" | "PANIC";
  /** What the store calls it; undefined: it is our own mistake, and stays what it is. */
  readonly as?: StoreError["code"];
  readonly isLost: boolean;
}

const families: Readonly<Record<string, Family>> = {
  "the driver has no connection": {
    codes: "CONNECT_TIMEOUT CONNECTION_CLOSED CONNECTION_DESTROYED CONNECTION_ENDED",
    as: "Unavailable",
    isLost: true,
  },
  "there is no way": {
    codes:
      "ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ETIMEDOUT ENOTCONN EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN",
    as: "Unavailable",
    isLost: true,
  },
  "there is no such name, or nobody to ask for it": {
    codes: "ENOTFOUND EAI_AGAIN EAI_FAIL ENOENT",
    as: "Unavailable",
    isLost: true,
  },
  "nothing is left here to connect with": {
    codes: "EMFILE ENFILE EADDRNOTAVAIL",
    as: "Unavailable",
    isLost: true,
  },
  "the server goes, or ends the session": {
    codes: "57P01 57P02 57P03 57P04 57P05 25P03 25P04 08P01 08006",
    severity: "FATAL",
    as: "Unavailable",
    isLost: true,
  },
  "the server lets us not in": {
    codes: "28P01 28000 3D000 53300 08004 55000",
    severity: "FATAL",
    as: "Unavailable",
    isLost: true,
  },
  "we do not believe the server": {
    codes:
      "CERT_HAS_EXPIRED ERR_TLS_CERT_ALTNAME_INVALID ERR_SSL_WRONG_VERSION_NUMBER SASL_SIGNATURE_MISMATCH",
    as: "Unavailable",
    isLost: true,
  },
  "not now": {
    codes: "25006 40001 40P01 53200 53400 55P03 57014 58030",
    severity: "ERROR",
    as: "Unavailable",
    isLost: false,
  },
  "its disk is full": { codes: "53100", severity: "ERROR", as: "Full", isLost: false },
  "a table is damaged": { codes: "XX001 XX002", severity: "ERROR", as: "Corrupt", isLost: false },
  "the whole of it is damaged": { codes: "XX000", severity: "PANIC", as: "Corrupt", isLost: true },
  "our own mistakes": {
    codes: "42501 42601 42703 42704 42P01 22P02 23505 0A000 UNDEFINED_VALUE",
    severity: "ERROR",
    isLost: false,
  },
};

suite("failures of PostgreSQL by name", () => {
  for (const [what, { codes, severity, as, isLost }] of Object.entries(families)) {
    test(what, () => {
      for (const code of codes.split(" ")) {
        const error = Object.assign(new Error("planted"), { code, severity });
        const named = toStoreError(error);
        assert.equal(named instanceof StoreError ? named.code : undefined, as, code);
        if (named instanceof StoreError) assert.equal(named.cause, error, code);
        else assert.equal(named, error);
        assert.equal(isConnectionLost(error), isLost, code);
      }
    });
  }

  test("the cause is named", () => {
    const saying = (code: string): string =>
      String(toStoreError(Object.assign(new Error("its own words"), { code })));
    assert.match(saying("25006"), /accepts no writes: its own words/);
    assert.match(saying("28P01"), /does not let us in: its own words/);
    assert.match(saying("3D000"), /does not let us in: its own words/);
    assert.match(saying("EAI_AGAIN"), /\(EAI_AGAIN\)/);
    assert.match(saying("ECONNRESET"), /\(ECONNRESET\)/);
  });

  test("a server that has no room for wake-ups is away, and what exceeds another limit of its own our mistake", () => {
    const fields = { code: "54000", severity: "ERROR" };
    const full = { ...fields, routine: "PreCommit_Notify" };
    const named = toStoreError(Object.assign(new Error("too many notifications"), full));
    assert.match(String(named), /Unavailable: the database has no room for wake-ups: too many/);
    const other = Object.assign(new Error("planted"), fields);
    assert.equal(toStoreError(other), other);
  });

  test("only a server that refuses writes is read-only", () => {
    for (const code of ["25006", "ECONNRESET"])
      assert.equal(isReadOnly(Object.assign(new Error("planted"), { code })), code === "25006");
  });
});
