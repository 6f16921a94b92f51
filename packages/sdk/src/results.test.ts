import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  degraded,
  failed,
  notApplicable,
  outcomeOf,
  progressing,
  ready,
  waiting,
  type Failure,
  type Result,
} from "./results.ts";

const context = { controllerName: "dns", nowMs: Date.UTC(2026, 0, 1) };

suite("results", () => {
  const failure = { type: "Transient", code: "Quota", message: "no quota", retryAfter: 5 } as const;
  const table: readonly [string, Result, Record<string, string>][] = [
    ["ready", ready({ zone: "z" }), { Applied: "True", Available: "True", Ready: "True" }],
    [
      "progressing",
      progressing("making it"),
      { Applied: "True", Available: "False", Ready: "False", Progressing: "True" },
    ],
    [
      "degraded",
      degraded("slow"),
      { Applied: "True", Available: "True", Ready: "False", Degraded: "True" },
    ],
    ["failed", failed(failure), { Applied: "False", Available: "False", Ready: "False" }],
    ["notApplicable", notApplicable("no zone wanted"), { Applied: "False" }],
  ];
  for (const [name, result, expected] of table) {
    test(`${name} is reported as the table says`, () => {
      const { conditions } = outcomeOf(result, context);
      const statuses = Object.fromEntries(conditions.map(({ type, status }) => [type, status]));
      assert.deepEqual(statuses, expected);
    });
  }

  test("only notApplicable has that reason, whatever a failure calls itself", () => {
    const reasons = (result: Result) =>
      outcomeOf(result, context).conditions.map(({ reason }) => reason);
    assert.deepEqual(reasons(notApplicable("x")), ["NotApplicable"]);
    assert.ok(!reasons(failed({ ...failure, code: "NotApplicable" })).includes("NotApplicable"));
  });

  test("an error is told in full, and its wait in nanoseconds", () => {
    assert.deepEqual(outcomeOf(failed(failure), context).last_error, {
      controllerName: "dns",
      errorType: "Transient",
      errorCode: "Quota",
      message: "no quota",
      userActionable: false,
      suggestions: [],
      details: {},
      retryAfter: 5_000_000,
      timestamp: "2026-01-01T00:00:00.000Z",
    });
  });

  test("of what the API does not take as much is told as it does: a report that is refused says nothing", () => {
    const said = {
      ...failure,
      code: "Q".repeat(300),
      message: `\0${"x".repeat(32_766)}😀 and more`,
      suggestions: Array.from({ length: 101 }, () => "wait"),
      retryAfter: 33.333_333,
    };
    const { last_error: error, conditions } = outcomeOf(failed(said), context);
    const message = `\ufffd${"x".repeat(32_766)}\ufffd`;
    assert.deepEqual(
      [error?.errorCode.length, error?.message === message, error?.suggestions.length],
      [255, true, 100],
    );
    assert.equal(error?.retryAfter, 33_333_333);
    assert.ok(conditions.every((one) => one.message === message && one.reason.length <= 1_024));
  });

  for (const [retryAfter, told] of [
    [Number.NaN, undefined],
    [Number.POSITIVE_INFINITY, undefined],
    [-1, 0],
    [Number.MAX_VALUE, Number.MAX_SAFE_INTEGER],
  ] as const) {
    test(`a wait of ${retryAfter} is told as ${told}`, () => {
      const { last_error: error } = outcomeOf(failed({ ...failure, retryAfter }), context);
      assert.equal(error?.retryAfter, told);
    });
  }

  test("no text of metadata, details or suggestions has what no report may hold", () => {
    const bad = "a\0b\ud800";
    const good = "a\ufffdb\ufffd";
    const metadata = { [bad]: [{ text: bad, count: 1 }, null, true] };
    const fitting = { [good]: [{ text: good, count: 1 }, null, true] };
    assert.deepEqual(outcomeOf(ready(metadata), context).metadata, fitting);
    const said = failed({ ...failure, suggestions: [bad], details: metadata });
    const { last_error: error } = outcomeOf(said, context);
    assert.deepEqual([error?.suggestions, error?.details], [[good], fitting]);
  });

  test("what is not said is left out, and what is no text is told as one", () => {
    const unsaid = { code: undefined, suggestions: [undefined, "wait"], details: "at web.js:1" };
    const said = { ...failure, ...unsaid, message: 404 } as unknown;
    const { last_error: error, conditions } = outcomeOf(failed(said as Failure), context);
    assert.deepEqual([error?.errorCode, error?.message], [undefined, "404"]);
    assert.deepEqual([error?.suggestions, error?.details], [["wait"], {}]);
    assert.deepEqual([conditions[0]?.reason, conditions[0]?.message], [undefined, "404"]);
    const bare = { kind: "ready" } as unknown;
    assert.deepEqual(outcomeOf(bare as Result, context).metadata, {});
  });

  test("the same failure again is the same report, so that nobody is woken by it", () => {
    const first = outcomeOf(failed(failure), context);
    const later = { ...context, nowMs: context.nowMs + 60_000, before: first };
    assert.deepEqual(outcomeOf(failed(failure), later), first);
    const other = outcomeOf(failed({ ...failure, message: "still none" }), later);
    assert.equal(other.last_error?.timestamp, "2026-01-01T00:01:00.000Z");
  });

  test("success clears the error; metadata outlive what has none of its own", () => {
    const before = { metadata: { zone: "z" }, last_error: null };
    const kept = (result: Result) => outcomeOf(result, { ...context, before });
    assert.deepEqual(kept(ready()).metadata, {});
    assert.deepEqual(kept(degraded("slow")).metadata, { zone: "z" });
    assert.equal(kept(ready()).last_error, null);
    assert.deepEqual(waiting("for dns", { ...context, before }).metadata, { zone: "z" });
  });
});
