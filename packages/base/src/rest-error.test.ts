import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { RestError, restErrorStatus, toRestReply, validationFailed } from "./rest-error.ts";
import type { RestErrorCode } from "./rest-error.ts";

suite("toRestReply", () => {
  for (const [code, status] of Object.entries(restErrorStatus)) {
    test(`answers ${code} with ${status}`, () => {
      const error = new RestError(code as RestErrorCode, "no", { details: { a: 1 } });
      const reply = toRestReply(error);
      assert.equal(reply.status, status);
      assert.deepEqual(reply.body, { error: "no", code, details: { a: 1 } });
    });
  }

  const foreign: readonly (readonly [name: string, error: unknown])[] = [
    ["an Error", new Error("password=hunter2")],
    ["a string", "password=hunter2"],
    ["nothing", undefined],
    ["a look-alike", { code: "FORBIDDEN", message: "password=hunter2", status: 403, details: {} }],
  ];
  for (const [name, error] of foreign) {
    test(`says nothing of its cause when ${name} was thrown`, () => {
      assert.deepEqual(toRestReply(error), {
        status: 500,
        headers: {},
        body: { error: "internal error", code: "INTERNAL_ERROR", details: {} },
      });
    });
  }

  test("shows headers, and keeps the cause to itself", () => {
    const cause = new Error("secret");
    const error = new RestError("METHOD_NOT_ALLOWED", "PATCH is not allowed", {
      headers: { allow: "GET, PUT" },
      cause,
    });
    assert.equal(error.cause, cause);
    assert.deepEqual(toRestReply(error), {
      status: 405,
      headers: { allow: "GET, PUT" },
      body: { error: "PATCH is not allowed", code: "METHOD_NOT_ALLOWED", details: {} },
    });
  });

  test("a database that is away asks to come back", () => {
    const headersOf = (error: RestError): unknown => toRestReply(error).headers;
    assert.deepEqual(headersOf(new RestError("DATABASE_UNAVAILABLE", "away")), {
      "retry-after": "5",
    });
    assert.deepEqual(
      headersOf(new RestError("DATABASE_UNAVAILABLE", "away", { retryAfterSeconds: 30 })),
      { "retry-after": "30" },
    );
  });
});

test("validationFailed lists every field", () => {
  const error = validationFailed(
    { field: "spec.platform.type", message: "must not be empty" },
    { field: "changes[3].name", message: "is too long", index: 3 },
  );
  assert.deepEqual(toRestReply(error), {
    status: 400,
    headers: {},
    body: {
      error: "spec.platform.type: must not be empty",
      code: "VALIDATION_FAILED",
      details: {
        fields: [
          { field: "spec.platform.type", message: "must not be empty" },
          { field: "changes[3].name", message: "is too long", index: 3 },
        ],
      },
    },
  });
});
