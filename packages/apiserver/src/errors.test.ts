import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { failures } from "@keelson/kube";
import {
  AlreadyExists,
  Conflict,
  Corrupt,
  Expired,
  Full,
  Invalid,
  Locked,
  NotFound,
  SchemaMismatch,
  TooNew,
  Unavailable,
  type StoreError,
  type StoreErrorCode,
} from "@keelson/store";

import { isOurFault, toStatusError } from "./errors.ts";

const key = { kind: "ConfigMap", namespace: "default", name: "x" };
const subject = { resource: { group: "", resource: "configmaps" }, name: "x" };

/** Each failure of the store, and its answer: code, reason, message. */
const cases: Readonly<Record<StoreErrorCode, readonly [StoreError, string]>> = {
  NotFound: [new NotFound(key), '404 NotFound configmaps "x" not found'],
  AlreadyExists: [new AlreadyExists(key), '409 AlreadyExists configmaps "x" already exists'],
  Conflict: [
    new Conflict(key, { revision: 1 }, { revision: 2, uid: "u" }),
    '409 Conflict Operation cannot be fulfilled on configmaps "x": the object has been modified; please apply your changes to the latest version and try again',
  ],
  Expired: [new Expired(3, 9), "410 Expired too old resource version: 3 (9)"],
  TooNew: [new TooNew(9, 3), "504 Timeout Timeout: Too large resource version: 9, current: 3"],
  Invalid: [
    new Invalid(key, "name", "is too long"),
    "400 BadRequest ConfigMap default/x: name is too long",
  ],
  Unavailable: [
    new Unavailable("it does not answer", { retryAfterMs: 1500 }),
    "503 ServiceUnavailable the database is not available: it does not answer; again in 2",
  ],
  Full: [new Full("no space"), "507  the disk of the database is full: no space"],
  Corrupt: [
    new Corrupt("the row of ConfigMap default/x cannot be read", { key }),
    "500 InternalError Internal error occurred: the row of ConfigMap default/x cannot be read",
  ],
  SchemaMismatch: [
    new SchemaMismatch("the schema is older", { found: 1, wanted: 2 }),
    "503 ServiceUnavailable the schema is older; again in 1",
  ],
  Locked: [
    new Locked("another server has the file"),
    "503 ServiceUnavailable another server has the file; again in 1",
  ],
};

const shown = (error: unknown): string => {
  const { code, reason = "", message = "", details } = toStatusError(error, subject).status;
  const retry = details?.retryAfterSeconds;
  const isHint = retry !== undefined && code === 503;
  return `${code} ${reason} ${message}${isHint ? `; again in ${retry}` : ""}`;
};

suite("failures as answers", () => {
  for (const [code, [error, expected]] of Object.entries(cases)) {
    test(`${code} of the store`, () => assert.equal(shown(error), expected));
  }

  test("a failure that is an answer already stays as it is", () => {
    const error = failures.unauthorized();
    assert.equal(toStatusError(error), error);
  });

  test("an unknown one says nothing of its cause, and is for the log", () => {
    const error = new Error("password=hunter2", { cause: new Error("secret") });
    assert.ok(!JSON.stringify(toStatusError(error).status).includes("hunter2"));
    assert.equal(toStatusError(error).status.code, 500);
    assert.equal(isOurFault(error), true);
  });

  test("a timeout is one, and nobody's fault", () => {
    const error = new DOMException("the time is up", "TimeoutError");
    assert.deepEqual([toStatusError(error).status.code, isOurFault(error)], [504, false]);
  });
});
