import assert from "node:assert/strict";
import { test } from "node:test";
import { writeJson, type JsonObject } from "@keelson/base";
import { specAsKept } from "./desired-object.ts";

const key = {
  clusterId: "prod",
  namespace: "default",
  kind: "Secret",
  apiVersion: "v1",
  name: "s",
};

const cases: readonly (readonly [string, JsonObject, JsonObject])[] = [
  [
    "texts are bytes of their UTF-8, and win over data",
    { type: "Opaque", data: { a: "eA==", b: "eQ==" }, stringData: { a: "ä", c: "" } },
    { type: "Opaque", data: { a: "w6Q=", b: "eQ==", c: "" } },
  ],
  ["data may be empty", { data: null, stringData: { a: "1" } }, { data: { a: "MQ==" } }],
  ["data alone stays", { data: { a: "MQ==" } }, { data: { a: "MQ==" } }],
  ["what is no text stays", { stringData: { a: 1 } }, { stringData: { a: 1 } }],
  ["what is no map stays", { stringData: "a" }, { stringData: "a" }],
  [
    "what is no map of data stays",
    { data: ["a"], stringData: { a: "1" } },
    { data: ["a"], stringData: { a: "1" } },
  ],
];

for (const [what, spec, kept] of cases) {
  test(`a Secret as it is kept: ${what}`, () => {
    assert.deepEqual(specAsKept(spec, key), kept);
  });
}

test("a key may be called as no other member is", () => {
  const hostile = JSON.parse('{"stringData":{"__proto__":"1"}}') as JsonObject;
  assert.equal(writeJson(specAsKept(hostile, key)), '{"data":{"__proto__":"MQ=="}}');
});

test("stringData of another kind is its own", () => {
  const spec = { stringData: { a: "1" } };
  for (const other of [{ kind: "Thing" }, { apiVersion: "example.com/v1" }]) {
    assert.equal(specAsKept(spec, { ...key, ...other }), spec);
  }
});
