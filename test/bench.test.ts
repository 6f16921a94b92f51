// The benchmarks' own parts: what they report must be right, and what they are called must be found.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { duel, Latencies, median } from "../bench/measure.ts";
import { json, judged, type Row, table } from "../bench/report.ts";
import { chosenOf, findSuites, Given, suiteNames } from "../bench/suite.ts";

const folder = join(dirname(fileURLToPath(import.meta.url)), "../bench");

suite("benchmarks", () => {
  test("a goal is met on its bound and missed beyond it", () => {
    const judge = (value: number, bound: Parameters<typeof judged>[1]) =>
      judged({ name: "n", value, unit: "ms", baseline: 10 }, bound).met;
    assert.deepEqual(
      [
        judge(5, { atMost: 5 }),
        judge(5.1, { atMost: 5 }),
        judge(5, { atLeast: 5 }),
        judge(4.9, { atLeast: 5 }),
        judge(6, { ratioAtLeast: 0.6 }),
        judge(5.9, { ratioAtLeast: 0.6 }),
        judge(11, { ratioAtMost: 1.1 }),
        judge(12, { ratioAtMost: 1.1 }),
        judge(1, undefined),
      ],
      [true, false, true, false, true, false, true, false, undefined],
    );
  });

  test("a value that could not be measured meets no goal", () => {
    const row = { name: "n", value: Number.NaN, unit: "ms" };
    assert.equal(judged(row, { atMost: 5 }).met, false);
    assert.equal(judged(row, { atLeast: 5 }).met, false);
  });

  test("a ratio comes from the rounds if they were measured, else from value and baseline", () => {
    const row = { name: "n", value: 6, unit: "/s", baseline: 10 };
    assert.equal(judged(row).ratio, 0.6);
    assert.equal(judged({ ...row, ratio: 0.7 }, { ratioAtLeast: 0.65 }).met, true);
  });

  test("the JSON has an entry for each line of the table, with every field", () => {
    const rows: Row[] = [
      judged({ name: "writes", value: 1234.5, unit: "/s", baseline: 2469 }, { ratioAtLeast: 0.6 }),
      { name: "p99", value: 0.25, unit: "ms" },
    ];
    const entries = JSON.parse(json(rows)) as Record<string, unknown>[];
    assert.deepEqual(entries, [
      {
        name: "writes",
        value: 1234.5,
        unit: "/s",
        baseline: 2469,
        ratio: 0.5,
        goal: "≥ 0.60 of the baseline",
        met: false,
      },
      { name: "p99", value: 0.25, unit: "ms", baseline: null, ratio: null, goal: null, met: null },
    ]);
    assert.deepEqual(table(rows).split("\n"), [
      "name    value  unit  baseline  ratio  goal                    met",
      "──────  ─────  ────  ────────  ─────  ──────────────────────  ───",
      "writes  1,235  /s       2,469   0.50  ≥ 0.60 of the baseline  NO",
      "p99     0.250  ms",
    ]);
  });

  test("a percentile is a value that was seen", () => {
    const latencies = new Latencies(100);
    for (let ms = 150; ms >= 1; ms -= 1) latencies.add(ms);
    assert.deepEqual(
      [0, 0.5, 0.99, 1].map((share) => latencies.percentile(share)),
      [1, 50, 99, 100], // The 50 that came first were overwritten.
    );
    assert.equal(median([3, 1, 2]), 2);
    assert.equal(median([4, 1, 2, 3]), 2.5);
  });

  test("a duel compares round by round, so that a machine that slows down changes nothing", async () => {
    let speed = 100;
    const ours = async (): Promise<number> => (speed /= 2) * 0.6;
    const other = async (): Promise<number> => speed;
    const { ratio } = await duel({ ours, other }, { rounds: 1, ms: 0 });
    assert.equal(ratio, 0.6);
  });

  test("a parameter that nobody asks for is known, and so is a choice that is none", () => {
    const values = { backend: "sqlite", round: "5" };
    const parameters = new Given(new Map(Object.entries(values)));
    const backends = ["sqlite", "postgresql"] as const;
    assert.deepEqual(chosenOf({ parameters }, "backend", backends), ["sqlite"]);
    assert.deepEqual(chosenOf({ parameters }, "driver", backends), backends);
    assert.deepEqual(parameters.unasked, ["round"]);
    assert.throws(() => chosenOf({ parameters }, "round", backends), /--round is one of sqlite/);
  });

  test("every benchmark is found by its folder and by its own name", async () => {
    const modules = readdirSync(join(folder, "store")).filter((file) => file.endsWith(".ts"));
    const all = await findSuites(folder, "store");
    assert.ok(
      all.length > 0 && all.length < modules.length,
      "some are shared, some are benchmarks",
    );
    for (const { name, bench } of all) {
      assert.deepEqual(await findSuites(folder, name), [{ name, bench }]);
    }
    assert.ok((await suiteNames(folder)).includes("store"));
    assert.deepEqual(await findSuites(folder, "nothing"), []);
    assert.deepEqual(await findSuites(folder, "../test/bench"), []);
  });
});
