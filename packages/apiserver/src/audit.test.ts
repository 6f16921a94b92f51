import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { auditLines, type FinishedRequest } from "./audit.ts";

const finished: FinishedRequest = {
  auditId: "one",
  user: {
    name: "ann",
    uid: "",
    groups: ["team"],
    extra: {
      "authentication.kubernetes.io/credential-id": ["JTI=5"],
      "example.com/token": ["a secret"],
    },
  },
  attributes: {
    isResource: true,
    verb: "get",
    group: "",
    version: "v1",
    resource: "secrets",
    subresource: "",
    namespace: "shop",
    name: "password",
  },
  path: "/api/v1/namespaces/shop/secrets/password",
  code: 200,
  startedAtMs: Date.UTC(2026, 0, 1),
  durationMs: 1.23456,
  userAgent: "kubectl\nforged line",
  sourceAddress: "127.0.0.1",
};

suite("audit", () => {
  test("a finished request is one line, without anything secret", () => {
    const lines: string[] = [];
    auditLines((line) => lines.push(line))(finished);
    assert.equal(
      lines[0]?.indexOf("\n"),
      lines[0]?.length === undefined ? -1 : lines[0].length - 1,
    );
    assert.deepEqual(JSON.parse(lines[0] ?? ""), {
      time: "2026-01-01T00:00:00.000Z",
      auditId: "one",
      verb: "get",
      user: { username: "ann", groups: ["team"], credentialId: "JTI=5" },
      path: "/api/v1/namespaces/shop/secrets/password",
      object: { version: "v1", resource: "secrets", namespace: "shop", name: "password" },
      code: 200,
      durationMs: 1.235,
      userAgent: "kubectl\nforged line",
      sourceAddress: "127.0.0.1",
    });
  });

  test("it tells both who asked and as whom", () => {
    const lines: string[] = [];
    const other = { name: "bob", uid: "7", groups: [], extra: {} };
    auditLines((line) => lines.push(line))({
      ...finished,
      impersonated: { user: other, constraint: "impersonate:user-info" },
      attributes: { isResource: false, verb: "get", path: "/version" },
      path: "/version",
      userAgent: "x".repeat(5000),
    });
    const { user, impersonatedUser, constraint, object, userAgent } = JSON.parse(lines[0] ?? "");
    assert.deepEqual(
      [user.username, impersonatedUser, constraint, object, userAgent.length],
      ["ann", { username: "bob", uid: "7", groups: [] }, "impersonate:user-info", undefined, 1025],
    );
  });
});
