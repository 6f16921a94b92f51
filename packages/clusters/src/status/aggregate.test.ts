// The aggregation beside an oracle in the shape of the contract's table, over reports and clocks of every kind.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "fast-check";
import {
  aggregate,
  expectedControllers,
  settle,
  type CountedReport,
  type StatusFacts,
  type StatusRules,
} from "./aggregate.ts";

const rules: StatusRules = { graceMs: 1_800_000, recentMs: 300_000, fatalFails: true };

/** The table, column by column: when, phase, reason, Ready's reason, Available's reason. Written for itself. */
const table: readonly (readonly [
  when: (n: Numbers) => boolean,
  phase: string,
  reason: string,
  ready: string,
  available: string,
])[] = [
  [(n) => n.deleting, "Deleting", "DeletionRequested", "DeletionRequested", "DeletionRequested"],
  [
    (n) => n.total === 0 || (n.never && n.grace),
    "Pending",
    "NoControllers",
    "ControllersNotReady",
    "ControllersNotAvailable",
  ],
  [
    (n) => n.fatal > 0,
    "Failed",
    "ControllerFatalError",
    "ControllerFatalError",
    "ControllerFatalError",
  ],
  [
    (n) => n.ready === n.total && n.errors === 0,
    "Ready",
    "AllControllersReady",
    "AllControllersReady",
    "AllControllersAvailable",
  ],
  [
    (n) => n.ready > 0 && n.errors > 0,
    "Progressing",
    "ControllersWithErrors",
    "PartiallyReady",
    "PartiallyAvailableWithErrors",
  ],
  [(n) => n.ready > 0, "Progressing", "PartialProgress", "PartiallyReady", "PartiallyAvailable"],
  [
    (n) => n.grace,
    "Progressing",
    "ControllersProvisioning",
    "ControllersNotYetReady",
    "ControllersBecomingAvailable",
  ],
  [
    (n) => n.recent || n.errors > 0,
    "Progressing",
    "ControllersShowingProgress",
    "ControllersNotYetReady",
    "ControllersBecomingAvailable",
  ],
  [() => true, "Failed", "ControllerTimeout", "ControllersTimedOut", "ControllersTimedOut"],
];

interface Numbers {
  readonly deleting: boolean;
  readonly never: boolean;
  readonly total: number;
  readonly ready: number;
  readonly errors: number;
  readonly fatal: number;
  readonly grace: boolean;
  readonly recent: boolean;
}

function numbersOf(facts: StatusFacts, nowMs: number): Numbers {
  const n: Record<string, number> = { total: 0, ready: 0, errors: 0, fatal: 0 };
  const add = (name: string): void => void (n[name] = (n[name] ?? 0) + 1);
  const times: number[] = [];
  for (const name of ["a", "b", "c", "d"]) {
    const report = facts.reports.find(({ controllerName }) => controllerName === name);
    if (facts.retired.includes(name)) continue;
    if (report === undefined && !facts.registered.includes(name)) continue;
    const isCurrent = report?.observedGeneration === facts.generation;
    const says = (type: string, status: string): boolean =>
      report?.conditions.some((one) => one.type === type && one.status === status) === true;
    if (isCurrent) {
      const excused = report.conditions.some(
        (one) =>
          ["Applied", "Available"].includes(one.type) &&
          one.reason === "NotApplicable" &&
          one.status !== "True",
      );
      if (excused || says("NotApplicable", "True")) continue;
    }
    add("total");
    if (!isCurrent) continue;
    times.push(report.updatedAtMs);
    if (says("Available", "True")) add("ready");
    if (report.errorType !== undefined) add("errors");
    if (report.errorType === "Fatal") add("fatal");
  }
  const earliest = times.length > 0 ? Math.min(...times) : facts.generationChangedAtMs;
  return {
    deleting: facts.isDeleting,
    never: facts.reports.length === 0,
    total: n["total"] ?? 0,
    ready: n["ready"] ?? 0,
    errors: n["errors"] ?? 0,
    fatal: n["fatal"] ?? 0,
    grace: nowMs - earliest < 30 * 60_000,
    recent: times.some((time) => nowMs - time < 5 * 60_000),
  };
}

// Few names, few instants: so that they collide, also at the edges of grace and of what is recent.
const minutes = fc.constantFrom(0, 1, 4, 5, 6, 29, 30, 31, 35, 36, 60).map((n) => n * 60_000);
const condition = fc.record({
  type: fc.constantFrom("Available", "Applied", "NotApplicable", "Degraded", "Progressing"),
  status: fc.constantFrom("True" as const, "False" as const, "Unknown" as const),
  reason: fc.constantFrom("NotApplicable", "Other"),
});
const report = (controllerName: string): fc.Arbitrary<CountedReport> =>
  fc.record({
    controllerName: fc.constant(controllerName),
    observedGeneration: fc.constantFrom(1, 2, 2, 2),
    conditions: fc.uniqueArray(condition, { selector: ({ type }) => type, maxLength: 3 }),
    errorType: fc.constantFrom(undefined, undefined, "Transient", "Fatal"),
    updatedAtMs: minutes,
  });
const names = fc.subarray(["a", "b", "c", "d"]);
const someFacts: fc.Arbitrary<StatusFacts> = names
  .chain((reporting) =>
    fc.record({
      generation: fc.constant(2),
      generationChangedAtMs: minutes,
      isDeleting: fc.boolean(),
      reports: fc.tuple(...reporting.map(report)),
      registered: names,
      retired: fc.subarray(["a", "b"]),
    }),
  )
  .map((facts) => ({
    ...facts,
    registered: facts.registered.filter((name) => !facts.retired.includes(name)),
  }));
/** Deleting hides the rest of the table: most are not. */
const facts = fc.oneof(
  { weight: 9, arbitrary: someFacts.map((one) => ({ ...one, isDeleting: false })) },
  { weight: 1, arbitrary: someFacts },
);

suite("aggregation", () => {
  test("it says what the first matching row of the table says", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(facts, minutes, (given, nowMs) => {
        const numbers = numbersOf(given, nowMs);
        const row = table.find(([when]) => when(numbers));
        assert.ok(row !== undefined);
        const { phase, reason, conditions } = aggregate(given, rules, nowMs);
        const isReady = row[1] === "Ready" ? "True" : "False";
        assert.deepEqual(
          [
            phase,
            reason,
            ...conditions.slice(0, 2).map((one) => [one.type, one.status, one.reason]),
          ],
          [row[1], row[2], ["Ready", isReady, row[3]], ["Available", isReady, row[4]]],
        );
        seen.add(reason);
      }),
      { numRuns: 3_000 },
    );
    assert.deepEqual([...seen].sort(), table.map(([, , reason]) => reason).sort());
  });

  test("between now and its expiry nothing changes, and at its expiry something does", () => {
    let expired = 0;
    fc.assert(
      fc.property(
        facts,
        minutes,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (given, nowMs, share) => {
          const before = aggregate(given, rules, nowMs);
          const { expiresAtMs } = before;
          const untilMs = expiresAtMs ?? nowMs + 10 ** 9;
          assert.ok(untilMs > nowMs);
          const between = Math.min(nowMs + share * (untilMs - nowMs), untilMs - 1);
          assert.deepEqual(aggregate(given, rules, Math.max(between, nowMs)), before);
          if (expiresAtMs === undefined) return;
          expired++;
          assert.notDeepEqual(aggregate(given, rules, expiresAtMs), before);
        },
      ),
      { numRuns: 2_000 },
    );
    assert.ok(expired > 100);
  });

  test("the order in which reports arrived does not matter", () => {
    fc.assert(
      fc.property(facts, minutes, (given, nowMs) => {
        const turned = { ...given, reports: given.reports.toReversed() };
        assert.deepEqual(aggregate(turned, rules, nowMs), aggregate(given, rules, nowMs));
        assert.deepEqual(expectedControllers(turned), expectedControllers(given));
      }),
    );
  });

  test("a fatal error does not fail the whole where that is turned off", () => {
    const given: StatusFacts = {
      generation: 1,
      generationChangedAtMs: 0,
      isDeleting: false,
      reports: [
        {
          controllerName: "a",
          observedGeneration: 1,
          conditions: [],
          errorType: "Fatal",
          updatedAtMs: 0,
        },
      ],
      registered: [],
      retired: [],
    };
    assert.equal(aggregate(given, rules, 0).phase, "Failed");
    assert.equal(aggregate(given, { ...rules, fatalFails: false }, 0).phase, "Progressing");
  });

  test("Degraded is there while a counted report has it", () => {
    const degraded: CountedReport = {
      controllerName: "a",
      observedGeneration: 1,
      conditions: [
        { type: "Available", status: "True", reason: "" },
        { type: "Degraded", status: "True", reason: "" },
      ],
      errorType: undefined,
      updatedAtMs: 0,
    };
    const given = (generation: number): StatusFacts => ({
      generation,
      generationChangedAtMs: 0,
      isDeleting: false,
      reports: [degraded],
      registered: [],
      retired: [],
    });
    const types = (generation: number) =>
      aggregate(given(generation), rules, 0).conditions.map(({ type }) => type);
    assert.deepEqual(types(1), ["Ready", "Available", "Degraded"]);
    assert.deepEqual(types(2), ["Ready", "Available"]);
  });
});

suite("times of a status", () => {
  const at = (nowMs: number, given: StatusFacts, previous: ReturnType<typeof settle> | undefined) =>
    settle(aggregate(given, rules, nowMs), { generation: given.generation, previous, nowMs });

  test("a condition's time moves when it flips, that of the whole when anything is said anew", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(facts, minutes), { minLength: 2, maxLength: 6 }), (steps) => {
        let previous: ReturnType<typeof settle> | undefined;
        for (const [index, [given, sinceMs]] of steps.entries()) {
          const nowMs = sinceMs + index * 10 ** 8;
          const now = new Date(nowMs).toISOString();
          const next = at(nowMs, given, previous);
          for (const condition of next.conditions) {
            const before = previous?.conditions.find(({ type }) => type === condition.type);
            const expected = before?.status === condition.status ? before.lastTransitionTime : now;
            assert.equal(condition.lastTransitionTime, expected);
          }
          const { lastUpdateTime: _before, ...saidBefore } = previous ?? { lastUpdateTime: "" };
          const { lastUpdateTime, ...said } = next;
          const isSame = JSON.stringify(saidBefore) === JSON.stringify(said);
          assert.equal(lastUpdateTime, isSame ? previous?.lastUpdateTime : now);
          assert.deepEqual(at(nowMs + 1, given, next).conditions.length, next.conditions.length);
          previous = next;
        }
      }),
      { numRuns: 500 },
    );
  });

  test("saying the same again moves nothing", () => {
    fc.assert(
      fc.property(facts, minutes, (given, nowMs) => {
        const first = at(nowMs, given, undefined);
        // As a database gives it back: with its keys in another order.
        const stored = JSON.parse(JSON.stringify(first, Object.keys(first).concat(conditionKeys)));
        assert.deepEqual(
          settle(aggregate(given, rules, nowMs), {
            generation: given.generation,
            previous: stored as ReturnType<typeof settle>,
            nowMs: nowMs + 1_000,
          }),
          first,
        );
      }),
      { numRuns: 300 },
    );
  });
});

const conditionKeys = ["type", "message", "reason", "status", "lastTransitionTime"];
