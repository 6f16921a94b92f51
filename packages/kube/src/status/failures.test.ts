import assert from "node:assert/strict";
import { suite, test } from "node:test";

import * as failures from "./failures.ts";
import { invalidField, requiredField } from "./field-error.ts";
import { codeOfReason } from "./reason.ts";
import type { StatusError } from "./status.ts";

const pods = { group: "", resource: "pods" };
const jobs = { group: "batch", resource: "jobs" };

suite("failures", () => {
  const all: readonly (readonly [StatusError, number, string])[] = [
    [failures.notFound(jobs, "foo"), 404, 'jobs.batch "foo" not found'],
    [failures.alreadyExists(pods, "x"), 409, 'pods "x" already exists'],
    [
      failures.generateNameConflict(pods, "x-abcde"),
      409,
      'pods "x-abcde" already exists, the server was not able to generate a unique name for the object',
    ],
    [failures.unauthorized(), 401, "Unauthorized"],
    [
      failures.forbidden(pods, "x", failures.cannot("u", "get", pods, "default")),
      403,
      'pods "x" is forbidden: User "u" cannot get resource "pods" in API group "" in the namespace "default"',
    ],
    [
      failures.forbidden(pods, "", failures.cannot("u", "list", jobs, undefined)),
      403,
      'pods is forbidden: User "u" cannot list resource "jobs" in API group "batch" at the cluster scope',
    ],
    [
      failures.forbidden(undefined, "", failures.cannotPath("system:anonymous", "get", "/apis")),
      403,
      'forbidden: User "system:anonymous" cannot get path "/apis"',
    ],
    [
      failures.modifiedConflict(pods, "x"),
      409,
      'Operation cannot be fulfilled on pods "x": the object has been modified; please apply your changes to the latest version and try again',
    ],
    [failures.applyConflict([], "x"), 409, "x"],
    [failures.gone("x"), 410, "x"],
    [failures.expired("too old"), 410, "too old"],
    [
      failures.invalid({ group: "apps", kind: "Deployment" }, "x", [
        invalidField("spec.replicas", -1, "must be greater than or equal to 0"),
      ]),
      422,
      'Deployment.apps "x" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    ],
    [
      failures.invalid({ group: "", kind: "Pod" }, "", [
        requiredField("a"),
        requiredField("b", "why"),
        requiredField("a"),
      ]),
      422,
      'Pod "" is invalid: [a: Required value, b: Required value: why]',
    ],
    [failures.badRequest("x"), 400, "x"],
    [failures.tooManyRequests("x", 1), 429, "x"],
    [failures.serviceUnavailable("x"), 503, "x"],
    [
      failures.methodNotAllowed(),
      405,
      "the server does not allow this method on the requested resource",
    ],
    [
      failures.methodNotSupported(jobs, "list"),
      405,
      'list is not supported on resources of kind "jobs.batch"',
    ],
    [failures.resourceNotFound(), 404, "the server could not find the requested resource"],
    [
      failures.serverTimeout(pods, "list", 2),
      500,
      "The list operation against pods could not be completed at this time, please try again.",
    ],
    [failures.timeout("x"), 504, "Timeout: x"],
    [
      failures.tooLargeResourceVersion("9", "3"),
      504,
      "Timeout: Too large resource version: 9, current: 3",
    ],
    [failures.internalError("x"), 500, "Internal error occurred: x"],
    [failures.unexplained("x"), 500, "x"],
    [failures.requestTooLarge("limit is 3"), 413, "Request entity too large: limit is 3"],
    [
      failures.unsupportedMediaType(["a/b"]),
      415,
      "the body of the request was in an unknown format - accepted media types include: a/b",
    ],
    [failures.notAcceptable(["a/b"]), 406, "only the following media types are accepted: a/b"],
    [
      failures.notAcceptableConversion("meta.k8s.io/v1, Kind=Table", ["a/b"]),
      406,
      "only the following media types are accepted when converting to meta.k8s.io/v1, Kind=Table: a/b",
    ],
    [
      failures.unprocessable(),
      422,
      "the server rejected our request due to an error in our request",
    ],
  ];

  for (const [error, code, message] of all) {
    test(`${code} ${message}`, () =>
      assert.deepEqual([error.status.code, error.message], [code, message]));
  }

  test("there is one for each reason", () => {
    const produced = new Set<string | undefined>(all.map(([error]) => error.status.reason));
    assert.deepEqual(
      Object.keys(codeOfReason).filter((reason) => !produced.has(reason)),
      [],
    );
  });

  test("carry what they are about", () => {
    assert.deepEqual(failures.tooLargeResourceVersion("9", "3").status.details, {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    });
    assert.deepEqual(failures.notFound(jobs, "foo").status.details, {
      name: "foo",
      group: "batch",
      kind: "jobs",
    });
    assert.deepEqual(failures.expired("x", "token").status.metadata, { continue: "token" });
  });
});
