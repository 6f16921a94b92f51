// The table of acceptance scenarios: each has its line, and what is said to prove it exists.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** How many scenarios the contract has of each sort. */
const counts = { API: 17, LIST: 5, WATCH: 12, LOAD: 5, FAULT: 10 } as const;

/** What the table calls folders. */
const folders: Readonly<Record<string, string>> = {
  scenarios: "test/apiserver/scenarios",
  "in-process": "packages/apiserver/src/scenarios",
};

const [page = ""] = readFileSync(join(root, "docs/scenarios.md"), "utf8").split("\n## ");
const rows = page
  .split("\n")
  .filter((line) => /^\| [A-Z]+-\d+ \|/.test(line))
  .map((line) => {
    const [, id = "", proof = "", gate = ""] = line.split("|").map((cell) => cell.trim());
    return { id, proof, gate };
  });

suite("acceptance scenarios", () => {
  test("each scenario of the contract has one line", () => {
    const wanted = Object.entries(counts).flatMap(([sort, count]) =>
      Array.from({ length: count }, (_, index) => `${sort}-${index + 1}`),
    );
    assert.deepEqual(
      rows.map(({ id }) => id),
      wanted,
    );
  });

  for (const { id, proof, gate } of rows) {
    test(`${id} is proved by tests that exist, and that the gate runs`, () => {
      assert.notEqual(gate, "");
      const proofs = [...proof.matchAll(/`([^`]+\.ts)`((?:,? "[^"]+")+)/g)];
      assert.ok(proofs.length > 0, `nothing proves it: ${proof}`);
      for (const [, file = "", titles = ""] of proofs) {
        const [folder = "", ...rest] = file.split("/");
        const path = join(root, folders[folder] ?? folder, ...rest);
        assert.ok(existsSync(path), `there is no ${file}`);
        const text = readFileSync(path, "utf8");
        // Scenarios that run in several places are defined in a file that a test beside it imports.
        const isRun = path.endsWith(".test.ts") || existsSync(path.replace(/\.ts$/, ".test.ts"));
        assert.ok(isRun, `nothing runs ${file}`);
        for (const [, title = ""] of titles.matchAll(/"([^"]+)"/g))
          assert.ok(
            [`"${title}`, `\`${title}`].some((start) => text.includes(start)),
            `${file} has no test "${title}"`,
          );
      }
    });
  }
});
