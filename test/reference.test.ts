// docs/reference says what the code says. The pages of settings and exit codes are checked beside what they are made of, that of the
// REST API before a server that runs (test/e2e/clusters.test.ts).

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { fleetEventMeanings } from "@keelson/fleet";
import { eventsPage } from "./reference/events-page.ts";
import { declaredMetrics, metricsPage } from "./reference/metrics-page.ts";

const root = join(import.meta.dirname, "..");
const page = (name: string) => readFileSync(join(root, "docs/reference", name), "utf8");
const hint = "npm run docs:reference writes it";

suite("docs/reference", () => {
  test("metrics.md has every metric", () => {
    assert.ok(declaredMetrics(root).length > 50, "they are found");
    assert.equal(page("metrics.md"), metricsPage(root), hint);
  });

  test("every metric says what it is, in one voice", () => {
    const byName = new Map<string, string>();
    for (const { name, help } of declaredMetrics(root)) {
      assert.match(help, /^[A-Z1].*[^.]$/, name);
      assert.equal(byName.get(name) ?? help, help, name);
      byName.set(name, help);
    }
  });

  test("events.md has every event", () => {
    assert.equal(page("events.md"), eventsPage(), hint);
  });

  test("the events of fleet are those that its SQL tells", () => {
    const texts = globSync("packages/fleet/src/sql/**/*.{sql,ts}", { cwd: root }).map((path) =>
      readFileSync(join(root, path), "utf8"),
    );
    const told = new Set(
      texts.flatMap((text) => [...text.matchAll(/'((?:resource|global)\.[a-z]+)'/g)].map(at1)),
    );
    const [health = ""] = texts.flatMap((text) =>
      [...text.matchAll(/health IN \(([^)]*Unreachable[^)]*)\)/g)].map(at1),
    );
    for (const [, word = ""] of health.matchAll(/'(\w+)'/g))
      told.add(`target.${word.toLowerCase()}`);
    for (const text of texts) {
      for (const [, word = ""] of text.matchAll(/tell_of_target\('(\w+)'\)/g))
        told.add(`target.${word}`);
    }
    assert.deepEqual([...told].toSorted(), Object.keys(fleetEventMeanings).toSorted());
  });
});

function at1(match: RegExpMatchArray): string {
  return match[1] ?? "";
}
