import assert from "node:assert/strict";
import { test } from "node:test";

import { StepError } from "../steps/step-error.ts";
import { adminUrlIn } from "./admin-secret.ts";

const arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:aurora-AbCdEf";
const members = {
  username: "plattr",
  password: "p@/:#%?é",
  host: "aurora.example.com",
  port: 6432,
  dbname: "plattr",
};
const secret = (change: object): string => JSON.stringify({ ...members, ...change });

test("a secret is a URL, whatever its password has in it", () => {
  const url = new URL(adminUrlIn(secret({}), { arn }));
  assert.deepEqual(
    [url.username, decodeURIComponent(url.password), url.host, url.pathname, url.search],
    ["plattr", members.password, "aurora.example.com:6432", "/plattr", ""],
  );
});

for (const [what, change, where] of [
  ["a port as text", { port: "6432" }, "aurora.example.com:6432/plattr"],
  ["no port", { port: undefined }, "aurora.example.com:5432/plattr"],
  ["an address of IPv6", { host: "::1" }, "[::1]:6432/plattr"],
  ["a mode of TLS", { sslmode: "require" }, "aurora.example.com:6432/plattr?sslmode=require"],
  ["more than we need", { engine: "postgres" }, "aurora.example.com:6432/plattr"],
] as const) {
  test(`${what} is taken`, () => {
    assert.ok(adminUrlIn(secret(change), { arn }).endsWith(`@${where}`));
  });
}

test("what only knows the password has the rest from the settings", () => {
  const text = JSON.stringify({ username: "a", password: "b" });
  const usual = { host: "db.example.com", port: 6000, database: "apps" };
  assert.equal(adminUrlIn(text, { arn, usual }), "postgresql://a:b@db.example.com:6000/apps");
});

for (const [what, text, sentence] of [
  ["no JSON", "hunter2", /it is no JSON object$/],
  ["a list", '["hunter2"]', /it is no JSON object$/],
  ["no password and no host", secret({ password: "", host: undefined }), /look at password, host$/],
  ["a port that is none", secret({ port: "many" }), /look at port$/],
] as const) {
  test(`${what} is said, and nothing of the secret`, () => {
    assert.throws(
      () => adminUrlIn(text, { arn }),
      (error) => {
        assert.ok(error instanceof StepError && error.reason === "NotConfigured");
        assert.match(error.message, sentence);
        return !error.message.includes("hunter2");
      },
    );
  });
}
