// KEELSON_TEST_FUZZ is how many requests, KEELSON_TEST_SEED which.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { fuzz } from "./fuzz.ts";
import { startOurs } from "./ours.ts";
import { trialSettings } from "../oracle/differential.ts";

const count = Number(process.env["KEELSON_TEST_FUZZ"] ?? 4_000);
const seed = process.env["KEELSON_TEST_SEED"] ?? trialSettings(0).seed;

suite("bad input", () => {
  test("whatever is sent, no answer is a 500, each comes in time, and the process lives", async (t) => {
    await using ours = await startOurs({ driver: "sqlite" }, t.signal);
    t.diagnostic(`seed ${seed}, ${count} requests`);
    const { findings, answered } = await fuzz(ours, { seed, count }, t.signal);
    const shown = findings.map(
      ({ index, request, problem }) => `${index}: ${request}\n  ${problem}`,
    );
    assert.deepEqual(findings.length, 0, `seed ${seed}\n${shown.join("\n")}`);
    t.diagnostic(`${answered} were answered`);
    assert.ok(answered > count / 2, `only ${answered} of ${count} were answered`);
    assert.ok(ours.isAlive, ours.output.slice(-4_000));
    const { status } = await ours.client.send({ path: "/readyz" }, t.signal);
    assert.equal(status, 200);
  });
});
