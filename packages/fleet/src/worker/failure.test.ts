import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  ConnectionFailed,
  DeadlineExceeded,
  GroupUnavailable,
  UnexpectedAnswer,
  UnknownKind,
} from "@keelson/client";
import { StatusError, type Status } from "@keelson/kube";
import { failureOf } from "./failure.ts";

function refusal(code: number, message: string, details: Status["details"] = {}): StatusError {
  return new StatusError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    details,
    code,
  });
}

/** As Kubernetes says it: each field with its cause, and all of them in the message. */
function refusalOf(...causes: readonly { field: string; message: string }[]): StatusError {
  const all = causes.map(({ field, message }) => `${field}: ${message}`).join(", ");
  return refusal(422, `Deployment.apps "web" is invalid: [${all}]`, { causes });
}

const fixed = { field: "spec.selector", message: "Invalid value: {}: field is immutable" };
const wrong = { field: "spec.containers[0].name", message: 'Invalid value: "BAD_NAME": a label' };
const kind = { apiVersion: "example.com/v1", kind: "Widget" };
const terminating = { causes: [{ reason: "NamespaceTerminating" }] };

const cases: readonly (readonly [string, unknown, string])[] = [
  ["no connection", new ConnectionFailed("x", { maybeSent: false, cause: 0 }), "unreachable"],
  ["credentials that are not known", refusal(401, "Unauthorized"), "unauthorized"],
  ["a call that takes too long", new DeadlineExceeded("x", 1), "timeout"],
  ["a gateway that waited too long", refusal(504, "x"), "timeout"],
  ["a kind that is not served", new UnknownKind(kind), "no-kind"],
  ["a kind that is gone since", refusal(404, "x", {}), "no-kind"],
  ["a group whose server is away", new GroupUnavailable("example.com/v1"), "server"],
  ["a namespace that is missing", refusal(404, "x", { kind: "namespaces" }), "no-namespace"],
  ["a namespace that goes", refusal(403, "x", terminating), "no-namespace"],
  ["a right that we do not have", refusal(403, "x"), "forbidden"],
  ["a field of another", refusal(409, "Apply failed with 1 conflict"), "conflict"],
  ["a field that is wrong", refusal(422, "spec.x: Invalid value: 1: too small"), "invalid"],
  ["a body that is wrong", refusal(400, "x"), "invalid"],
  [
    "a field that cannot change",
    refusal(422, "spec.selector: Invalid value: {}: field is immutable"),
    "immutable",
  ],
  [
    "a set that cannot change",
    refusal(
      422,
      "spec: Forbidden: updates to statefulset spec for fields other than x are forbidden",
    ),
    "immutable",
  ],
  [
    "a role binding that points elsewhere",
    refusalOf({ field: "roleRef", message: "Invalid value: {}: cannot change roleRef" }),
    "immutable",
  ],
  [
    "a claim for storage that cannot change",
    refusalOf({
      field: "spec",
      message: "Forbidden: spec is immutable after creation except resources.requests",
    }),
    "immutable",
  ],
  [
    "a field that a rule of its definition keeps",
    refusalOf({ field: "spec.a", message: 'Invalid value: "string": Value is immutable' }),
    "immutable",
  ],
  ["a field that cannot change beside one that is wrong", refusalOf(fixed, wrong), "invalid"],
  ["two fields that cannot change", refusalOf(fixed, fixed), "immutable"],
  [
    "a field that is wrong and quotes the words of a change",
    refusalOf({ field: "spec.x", message: 'Invalid value: "it \\"is immutable": too long' }),
    "invalid",
  ],
  ["too many requests", refusal(429, "x", { retryAfterSeconds: 3 }), "throttled"],
  ["a server in trouble", refusal(500, "x"), "server"],
  [
    "a field of the wrong type, as Kubernetes says it",
    refusal(
      500,
      "failed to create typed patch object (default/x; /v1, Kind=ConfigMap): .data.a: expected string",
    ),
    "invalid",
  ],
  [
    "a value that cannot be read, as Kubernetes says it",
    refusal(500, "failed to convert new object (default/x; /v1, Kind=Secret) to proper version: x"),
    "invalid",
  ],
  ["an answer that is none", new UnexpectedAnswer("x"), "server"],
  ["a bug of ours", new TypeError("x"), "internal"],
];

suite("whose fault a failure is", () => {
  for (const [what, error, expected] of cases) {
    test(`${what}: ${expected}`, () => {
      const failure = failureOf(error);
      assert.equal(failure.about === "target" ? failure.reason : failure.errorClass, expected);
    });
  }

  test("a server that asks for patience says for how long", () => {
    const failure = failureOf(refusal(429, "x", { retryAfterSeconds: 3 }));
    assert.equal(failure.about === "resource" ? failure.afterMs : undefined, 3_000);
  });
});
