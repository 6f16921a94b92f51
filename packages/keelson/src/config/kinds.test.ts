import assert from "node:assert/strict";
import { test } from "node:test";

import { BadValue, duration, oneOf, origin, quantity } from "./kinds.ts";

const read = (text: string): string => quantity.read(text, { folder: "/" });

test("an amount is read in the form in which a cluster keeps it", () => {
  assert.deepEqual(["5000m", "1500m", "3072Mi", "0.5Gi", "5", "2e3", "1Ti"].map(read), [
    "5",
    "1500m",
    "3Gi",
    "512Mi",
    "5",
    "2e3",
    "1Ti",
  ]);
});

test("an amount that is none, or nothing, is refused", () => {
  for (const text of ["", "much", "0", "-1", "1 Gi"]) {
    assert.throws(() => read(text), /must be an amount of Kubernetes above zero/, text);
  }
});

test("a duration is as long as a database can look back, and no longer", () => {
  assert.equal(duration.read("1000000d", { folder: "/" }), 86_400_000_000_000);
  for (const text of ["1000000d1ms", "100000000d", "9e9d", `${"9".repeat(400)}d`]) {
    assert.throws(() => duration.read(text, { folder: "/" }), BadValue, text);
  }
});

test("one of a set is a word of it, or another word for one, and nothing that every object has", () => {
  const mode = oneOf(["none", "token"], { dev: "none" });
  assert.deepEqual(
    ["none", "Token", "dev"].map((text) => mode.read(text, { folder: "/" })),
    ["none", "token", "none"],
  );
  for (const text of ["constructor", "__proto__", "oidc"]) {
    assert.throws(() => mode.read(text, { folder: "/" }), BadValue, text);
  }
});

test("an origin is read as browsers send it", () => {
  for (const [text, sent] of [
    ["https://app.example.com", "https://app.example.com"],
    ["https://App.example.com:443/", "https://app.example.com"],
    ["http://localhost:3000", "http://localhost:3000"],
    ["chrome-extension://abc", "chrome-extension://abc"],
    ["null", "null"],
    ["*", "*"],
  ] as const) {
    assert.equal(origin.read(text, { folder: "/" }), sent);
  }
});

test("an origin that no browser could send is refused", () => {
  for (const text of [
    "app.example.com",
    "https://app.example.com/shop",
    "https://*.example.com",
    "https://me@app.example.com",
    "localhost:3000",
    "https://",
  ]) {
    assert.throws(() => origin.read(text, { folder: "/" }), /must be an origin such as/, text);
  }
});
