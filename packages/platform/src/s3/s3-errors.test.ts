import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { StepError } from "../steps/step-error.ts";
import { isAnswer, nameS3Error, whenAnswered } from "./s3-errors.ts";

const call = { name: "putBucketTagging", bucket: "b" };

/** As the SDK throws what a store answered. */
function answered(status: number, name: string, headers: Record<string, string> = {}): Error {
  return Object.assign(new Error("as told"), {
    name,
    $metadata: { httpStatusCode: status },
    $response: { statusCode: status, headers },
  });
}

function named(error: Error): { reason?: string; retryAfterMs?: number; message: string } {
  return nameS3Error(error, call, "S3 in eu-west-1");
}

suite("what S3 says", () => {
  test("becomes a reason", () => {
    const cases: readonly (readonly [number, string, string | undefined])[] = [
      [401, "Unauthorized", "Refused"],
      [403, "AccessDenied", "Refused"],
      [400, "TooManyBuckets", "Refused"],
      [400, "AuthorizationHeaderMalformed", "Refused"],
      [400, "InvalidBucketName", "InvalidSpec"],
      [409, "BucketAlreadyExists", "Conflict"],
      [409, "BucketNotEmpty", "CleanupFailed"],
      [409, "OperationAborted", "Unreachable"],
      [404, "NoSuchBucket", "Unreachable"],
      [429, "TooManyRequests", "Unreachable"],
      [400, "RequestTimeout", "Unreachable"],
      [500, "InternalError", "Unreachable"],
      [503, "SlowDown", "Unreachable"],
      [501, "NotImplemented", undefined],
      [400, "MalformedXML", undefined],
    ];
    for (const [status, code, reason] of cases) {
      assert.equal(named(answered(status, code)).reason, reason, code);
    }
    for (const code of ["ECONNREFUSED", "ECONNRESET", "ENOTFOUND", "CERT_HAS_EXPIRED"]) {
      assert.equal(named(Object.assign(new Error("x"), { code })).reason, "Unreachable", code);
    }
    // A bug stays one.
    assert.equal(named(new TypeError("x is not a function")).reason, undefined);
    assert.equal(named(new StepError("Conflict", "as it is")).message, "as it is");
  });

  test("is told by its words, and asks for patience in seconds", () => {
    const slow = named(answered(503, "SlowDown", { "retry-after": "3" }));
    assert.equal(slow.retryAfterMs, 3_000);
    assert.equal(
      slow.message,
      "S3 in eu-west-1: putBucketTagging of bucket b: no answer: SlowDown: as told (status 503)",
    );
    assert.equal(
      named(answered(503, "SlowDown", { "retry-after": "soon" })).retryAfterMs,
      undefined,
    );
    const page = Object.assign(answered(502, "SyntaxError"), {
      message: "x\n  Deserialization error: to see the raw response, inspect the hidden field",
    });
    assert.match(named(page).message, /: no answer: status 502$/);
  });

  test("can be expected", async () => {
    const error = named(answered(404, "NoSuchTagSet"));
    assert.equal(isAnswer(error, ["NoSuchTagSet"]), true);
    assert.equal(isAnswer(error, ["404"]), true);
    assert.equal(isAnswer(error, ["403"]), false);
    assert.equal(await Promise.reject(error as Error).catch(whenAnswered(["404"], 1)), 1);
    await assert.rejects(Promise.reject(error as Error).catch(whenAnswered(["403"], 1)));
  });
});
