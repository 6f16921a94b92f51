import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { statusErrorOf, statusErrorOfObject } from "./status-answer.ts";

suite("answers that are no success", () => {
  test("a Status is kept as the server said it", () => {
    const status = {
      kind: "Status",
      apiVersion: "v1",
      metadata: { continue: "token" },
      status: "Failure",
      message: 'configmaps "x" not found',
      reason: "NotFound",
      details: { name: "x", kind: "configmaps" },
      code: 404,
    };
    const error = statusErrorOf({ status: 404, headers: {}, text: JSON.stringify(status) });
    assert.deepEqual(error.status, status);
    assert.equal(error.message, 'configmaps "x" not found');
  });

  test("a reason nobody knows is left out, and the code stays", () => {
    const text = JSON.stringify({ kind: "Status", code: 418, reason: "Teapot", message: "short" });
    const { status } = statusErrorOf({ status: 418, headers: {}, text });
    assert.deepEqual([status.code, status.reason, status.message], [418, undefined, "short"]);
  });

  test("causes that are no objects are left out, whatever stands in their place", () => {
    const cause = { reason: "FieldManagerConflict", field: ".data.a" };
    for (const [causes, kept] of [
      ["none", undefined],
      [{ 0: cause }, undefined],
      [[null, cause, "none", [cause]], [cause]],
    ]) {
      const details = { name: "x", causes };
      const text = JSON.stringify({ kind: "Status", code: 409, details });
      const { status } = statusErrorOf({ status: 409, headers: {}, text });
      assert.deepEqual(status.details, { name: "x", ...(kept && { causes: kept }) });
    }
  });

  for (const [what, text] of [
    ["a page of a proxy", "<html>Bad gateway</html>"],
    ["half a document", '{"kind":"Status"'],
    ["another document", '{"error":"no"}'],
    ["a hostile one", '{"__proto__":{"kind":"Status","code":1}}'],
  ] as const) {
    test(`${what} becomes a Status of its code, with the delay of the header`, () => {
      const error = statusErrorOf({ status: 503, headers: { "retry-after": "7" }, text });
      assert.deepEqual(error.status, {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: `the server answered 503: ${text}`,
        reason: "ServiceUnavailable",
        details: { retryAfterSeconds: 7 },
        code: 503,
      });
    });
  }

  test("an error in a watch that is no Status is an internal error", () => {
    assert.equal(statusErrorOfObject({ kind: "ConfigMap" }).status.code, 500);
  });
});
