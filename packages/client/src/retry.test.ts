import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { ConnectionFailed } from "./errors.ts";
import { retryOf, type Retry } from "./retry.ts";
import { statusErrorOf } from "./status-answer.ts";

const refused = (status: number, after?: string): Error =>
  statusErrorOf({
    status,
    text: "busy",
    headers: after === undefined ? {} : { "retry-after": after },
  });
const broken = (maybeSent: boolean): Error =>
  new ConnectionFailed("no answer", { maybeSent, cause: undefined });

const cases: readonly (readonly [what: string, error: Error, read?: Retry, write?: Retry])[] = [
  ["429 with a delay", refused(429, "2"), asked(2_000), asked(2_000)],
  ["503 with a delay", refused(503, "1"), asked(1_000), asked(1_000)],
  ["429 without", refused(429), { reason: "unavailable" }, { reason: "unavailable" }],
  ["503 without", refused(503), { reason: "unavailable" }],
  ["504", refused(504), { reason: "unavailable" }],
  ["500", refused(500), { reason: "unavailable" }],
  ["404", refused(404)],
  ["409", refused(409)],
  ["a connection that was refused", broken(false), connection(), connection()],
  ["a connection that broke", broken(true), connection()],
  ["an error of our own", new Error("a bug")],
];

suite("retries", () => {
  for (const [what, error, read, write] of cases) {
    test(what, () => {
      assert.deepEqual([retryOf(error, "GET"), retryOf(error, "PATCH")], [read, write]);
    });
  }
});

function asked(afterMs: number): Retry {
  return { reason: "asked", afterMs };
}

function connection(): Retry {
  return { reason: "connection" };
}
