import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Table } from "./table.ts";

suite("a table", () => {
  test("columns stand below each other, whatever letters are in them", () => {
    const table = new Table<readonly [string, string]>([
      { heading: "NAME", of: ([name]) => name },
      { heading: "PHASE", of: ([, phase]) => phase },
    ]);
    const rows = ["one", "Größe", "日本語", "e\u0301te\u0301", "🚢 한국"].map(
      (name) => [name, "Ready"] as const,
    );
    assert.equal(
      table.first(rows),
      [
        "NAME      PHASE",
        "one       Ready",
        "Größe     Ready",
        "日本語    Ready",
        "e\u0301te\u0301       Ready",
        "🚢 한국   Ready",
        "",
      ].join("\n"),
    );
  });
});
