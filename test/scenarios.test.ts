// The tables of acceptance scenarios and of wire behaviours: each has its line, and what is said to prove it exists.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";

import { allCases } from "./apiserver/all-cases.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** What the tables call folders. */
const folders: Readonly<Record<string, string>> = {
  scenarios: "test/apiserver/scenarios",
  "in-process": "packages/apiserver/src/scenarios",
  fleet: "test/fleet",
  clusters: "test/clusters",
  source: "packages/apiserver/src",
  platform: "test/platform",
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
  "the platform": {
    path: "docs/scenarios-platform.md",
    counts: { P: 71 },
    separator: "",
    mayBeOpen: true,
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

suite("wire behaviours", async () => {
  const text = readFileSync(join(root, "docs/behaviours.md"), "utf8");
  const rows = [...text.matchAll(/^\| (\d+) \| (.+) \|$/gm)];
  const cases = (await allCases()).map(({ name }) => name);
  /** What the contract leaves for later. */
  const later = new Set(["73", "74"]);

  test("each behaviour of the contract has one line", () => {
    assert.deepEqual(
      rows.map(([, id]) => Number(id)),
      Array.from({ length: 76 }, (_, index) => index + 1),
    );
  });

  for (const [, id = "", proof = ""] of rows) {
    if (later.has(id)) continue;
    test(`KB ${id} is proved by cases and tests that exist`, () => {
      const named = [...proof.matchAll(/\bcases((?:,? "[^"]+")+)/g)].flatMap(([, titles = ""]) =>
        [...titles.matchAll(/"([^"]+)"/g)].map(([, title = ""]) => title),
      );
      for (const title of named)
        assert.ok(
          cases.some((name) => name.includes(title)),
          `there is no case "${title}"`,
        );
      for (const [, file = ""] of proof.matchAll(/`([^`]+\.ts)`/g))
        assert.ok(existsSync(pathOf(file)), `there is no ${file}`);
      const tests = proofsIn(proof);
      checkTests(tests);
      assert.ok(named.length + tests.length > 0, `nothing proves it: ${proof}`);
    });
  }
});

interface Proof {
  readonly file: string;
  readonly titles: readonly string[];
}

/** The files that a line names with titles of tests. */
function proofsIn(text: string): readonly Proof[] {
  return [...text.matchAll(/`([^`]+\.ts)`((?:,? "[^"]+")+)/g)].map(
    ([, file = "", titles = ""]) => ({
      file,
      titles: [...titles.matchAll(/"([^"]+)"/g)].map(([, title = ""]) => title),
    }),
  );
}

function pathOf(file: string): string {
  const [folder = "", ...rest] = file.split("/");
  return join(root, folders[folder] ?? folder, ...rest);
}

function checkProof(proof: string): void {
  const proofs = proofsIn(proof);
  assert.ok(proofs.length > 0, `nothing proves it: ${proof}`);
  checkTests(proofs);
}

function checkTests(proofs: readonly Proof[]): void {
  for (const { file, titles } of proofs) {
    const path = pathOf(file);
    assert.ok(existsSync(path), `there is no ${file}`);
    const text = readFileSync(path, "utf8");
    // Scenarios that run in several places are defined in a file that a test beside it imports.
    const isRun = path.endsWith(".test.ts") || existsSync(path.replace(/\.ts$/, ".test.ts"));
    assert.ok(isRun, `nothing runs ${file}`);
    for (const title of titles)
      assert.ok(
        [`"${title}`, `\`${title}`].some((start) => text.includes(start)),
        `${file} has no test "${title}"`,
      );
  }
}
