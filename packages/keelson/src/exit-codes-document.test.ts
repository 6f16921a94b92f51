import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { exitCodesDocument } from "./exit-codes-document.ts";
import { exitCodes, exitFailure, exitInterrupted } from "./start-error.ts";

suite("docs/reference/exit-codes.md", () => {
  test("holds the table that the codes give", () => {
    const page = new URL("../../../docs/reference/exit-codes.md", import.meta.url);
    assert.ok(readFileSync(page, "utf8").includes(`${exitCodesDocument()}\n`), exitCodesDocument());
  });

  test("no code means two things", () => {
    const codes = [0, exitFailure, exitInterrupted, ...Object.values(exitCodes)];
    assert.equal(new Set(codes).size, codes.length);
  });
});
