import assert from "node:assert/strict";
import { suite, test } from "node:test";

import * as fc from "fast-check";

import { BadDuration, parseDuration, printDuration } from "./duration.ts";
import {
  BadTime,
  isZeroTime,
  microTimeFromMs,
  parseMicroTime,
  parseTime,
  printMicroTime,
  printTime,
  timeFromMs,
} from "./time.ts";

suite("times", () => {
  for (const [text, printed] of [
    ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"],
    ["2026-01-01T02:00:00+02:00", "2026-01-01T00:00:00Z"],
    ["2026-01-01T00:00:00.999999999Z", "2026-01-01T00:00:00Z"],
    ["2024-02-29T23:59:59-01:30", "2024-03-01T01:29:59Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"],
    ["2026-01-01T5:00:00Z", "2026-01-01T05:00:00Z"],
    ["9999-12-31T23:59:59-01:00", "10000-01-01T00:59:59Z"],
    ["0000-01-01T00:00:00+01:00", "-0001-12-31T23:00:00Z"],
  ] as const) {
    test(`${text} is ${printed}`, () => assert.equal(printTime(parseTime(text)), printed));
  }

  for (const [text, message] of [
    ["abc", 'parsing time "abc" as "2006-01-02T15:04:05Z07:00": cannot parse "abc" as "2006"'],
    [
      "2026-01-01",
      'parsing time "2026-01-01" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"',
    ],
    ["2026-13-01T00:00:00Z", 'parsing time "2026-13-01T00:00:00Z": month out of range'],
    ["2026-02-30T00:00:00Z", 'parsing time "2026-02-30T00:00:00Z": day out of range'],
    ["2026-01-01T24:00:00Z", 'parsing time "2026-01-01T24:00:00Z": hour out of range'],
    [
      "2026-01-01T00:00:00",
      'parsing time "2026-01-01T00:00:00" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00"',
    ],
    ["2026-01-01T00:00:00Zx", 'parsing time "2026-01-01T00:00:00Zx": extra text: "x"'],
  ] as const) {
    test(message, () => {
      assert.throws(
        () => parseTime(text),
        (error) => error instanceof BadTime && error.message === message,
      );
    });
  }

  test("of micros always have six decimals", () => {
    assert.equal(
      printMicroTime(parseMicroTime("2026-01-01T00:00:00.100000+01:00")),
      "2025-12-31T23:00:00.100000Z",
    );
    assert.throws(() => parseMicroTime("2026-01-01T00:00:00Z"), BadTime);
    assert.throws(() => parseMicroTime("2026-01-01T00:00:00.1Z"), BadTime);
  });

  test("come from a clock", () => {
    assert.equal(timeFromMs(1_767_225_600_999), "2026-01-01T00:00:00Z");
    assert.equal(microTimeFromMs(1_767_225_600_123), "2026-01-01T00:00:00.123000Z");
  });

  test("may be zero, which is none", () => {
    assert.equal(isZeroTime(parseTime("0001-01-01T00:00:00Z")), true);
    assert.equal(isZeroTime(parseTime("0001-01-01T00:00:01Z")), false);
  });
});

suite("durations", () => {
  for (const [text, printed] of [
    ["0", "0s"],
    ["1h30m", "1h30m0s"],
    ["90m", "1h30m0s"],
    ["1.5h", "1h30m0s"],
    ["500ms", "500ms"],
    ["1500us", "1.5ms"],
    ["-2s", "-2s"],
    ["1h0.5s", "1h0m0.5s"],
    ["1ns", "1ns"],
    ["000000000000000000000001s", "1s"],
  ] as const) {
    test(`${text} is ${printed}`, () => assert.equal(printDuration(parseDuration(text)), printed));
  }

  for (const [text, message] of [
    ["", 'time: invalid duration ""'],
    ["5", 'time: missing unit in duration "5"'],
    ["5d", 'time: unknown unit "d" in duration "5d"'],
    [".s", 'time: invalid duration ".s"'],
    ["9999999999h", 'time: invalid duration "9999999999h"'],
    ["1\u00e9", String.raw`time: unknown unit "\xc3\xa9" in duration "1\xc3\xa9"`],
    ["1\n", String.raw`time: unknown unit "\x0a" in duration "1\x0a"`],
  ] as const) {
    test(message, () => {
      assert.throws(
        () => parseDuration(text),
        (error) => error instanceof BadDuration && error.message === message,
      );
    });
  }

  test("read back as they were", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), (value) => {
        assert.equal(parseDuration(printDuration(value)), value);
      }),
    );
  });
});
