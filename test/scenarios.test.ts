// The tables of acceptance scenarios: each scenario has its line, and what is said to prove it exists.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** What the tables call folders. */
const folders: Readonly<Record<string, string>> = {
  scenarios: "test/apiserver/scenarios",
  "in-process": "packages/apiserver/src/scenarios",
  fleet: "test/fleet",
  clusters: "test/clusters",
};

/** A page, and how many scenarios its contract has of each sort. */
interface Page {
  readonly path: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly separator: string;
  /** Whether a scenario may be unproved, if its line says what is open. */
  readonly mayBeOpen: boolean;
}

const pages: Readonly<Record<string, Page>> = {
  "the API server": {
    path: "docs/scenarios.md",
    counts: { API: 17, LIST: 5, WATCH: 12, LOAD: 5, FAULT: 10 },
    separator: "-",
    mayBeOpen: false,
  },
  fleet: {
    path: "docs/scenarios-fleet.md",
    counts: { F: 56 },
    separator: "",
    mayBeOpen: true,
  },
  clusters: {
    path: "docs/scenarios-clusters.md",
    counts: { C: 49 },
    separator: "",
    mayBeOpen: false,
  },
};

for (const [name, page] of Object.entries(pages)) {
  const [table = ""] = readFileSync(join(root, page.path), "utf8").split("\n## ");
  const rows = table
    .split("\n")
    .filter((line) => /^\| [A-Z]+-?\d+ \|/.test(line))
    .map((line) => {
      const [, id = "", proof = "", where = "", rest = ""] = line
        .split("|")
        .map((cell) => cell.trim());
      return { id, proof, where, rest };
    });

  suite(`acceptance scenarios of ${name}`, () => {
    test("each scenario of the contract has one line", () => {
      const wanted = Object.entries(page.counts).flatMap(([sort, count]) =>
        Array.from({ length: count }, (_, index) => `${sort}${page.separator}${index + 1}`),
      );
      assert.deepEqual(
        rows.map(({ id }) => id),
        wanted,
      );
    });

    for (const { id, proof, where, rest } of rows) {
      if (page.mayBeOpen && proof === "") {
        test(`${id} is not proved, and its line says what is open`, () =>
          assert.notEqual(rest, ""));
        continue;
      }
      test(`${id} is proved by tests that exist, and that the gate runs`, () => {
        assert.notEqual(where, "");
        checkProof(proof);
      });
    }
  });
}

function checkProof(proof: string): void {
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
}
