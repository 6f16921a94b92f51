import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { JsonNumber } from "@keelson/base";
import * as fc from "fast-check";

import {
  addQuantities,
  BadQuantity,
  compareQuantities,
  parseQuantity,
  printQuantity,
  quantityFromJson,
  roundUpQuantity,
  scaledValue,
  subtractQuantities,
} from "./quantity.ts";

suite("quantities", () => {
  for (const [text, canonical] of [
    ["0", "0"],
    ["-0", "0"],
    ["1000m", "1"],
    ["0.5", "500m"],
    ["1024Mi", "1Gi"],
    ["1.5Gi", "1536Mi"],
    ["0.5Ki", "512"],
    ["1Ki", "1Ki"],
    ["1000Ki", "1000Ki"],
    ["2e3", "2e3"],
    ["1e4", "10e3"],
    ["1E6", "1E6"],
    ["100000", "100k"],
    ["1000000", "1M"],
    ["12345678", "12345678"],
    ["0.0000000001", "1n"],
    ["-0.0000000001", "-1n"],
    ["1.500", "1.500"],
    ["01", "01"],
    ["+5", "+5"],
    ["m", "0"],
    [".", "0"],
    ["1.", "1."],
    ["9Ei", "9223372036854775807"],
    ["0.1Ki", "102400m"],
    ["1e-9", "1e-9"],
    ["123456789012345678901234567890", "123456789012345678901234567890"],
  ] as const) {
    test(`${text} is ${canonical}`, () =>
      assert.equal(printQuantity(parseQuantity(text)), canonical));
  }

  for (const [text, message] of [
    ["", "quantities must match the regular expression"],
    ["abc", "quantities must match the regular expression"],
    ["1.2.3", "quantities must match the regular expression"],
    ["1 Gi", "quantities must match the regular expression"],
    ["1Kii", "unable to parse quantity's suffix"],
    ["1e", "unable to parse quantity's suffix"],
    ["e-19", "unable to parse numeric part of quantity"],
    ["1e99999999", "unable to parse numeric part of quantity"],
    ["9".repeat(5_000), "unable to parse numeric part of quantity"],
  ] as const) {
    test(`refuses ${text.slice(0, 20)}`, () => {
      assert.throws(
        () => parseQuantity(text),
        (error) => error instanceof BadQuantity && error.message.startsWith(message),
      );
    });
  }

  const quantities = fc
    .tuple(
      fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }),
      fc.integer({ min: 0, max: 4 }),
      fc.constantFrom("", "n", "u", "m", "k", "M", "Ki", "Mi", "Gi", "e3", "e-2", "E2"),
    )
    .map(([digits, decimals, suffix]) => {
      const text = digits
        .toString()
        .replace("-", "")
        .padStart(decimals + 1, "0");
      const point = text.length - decimals;
      const fraction = decimals === 0 ? "" : `.${text.slice(point)}`;
      return `${digits < 0n ? "-" : ""}${text.slice(0, point)}${fraction}${suffix}`;
    });

  test("are equal to what they are printed as", () => {
    fc.assert(
      fc.property(quantities, (text) => {
        const quantity = parseQuantity(text);
        const printed = printQuantity(quantity);
        assert.equal(compareQuantities(parseQuantity(printed), quantity), 0, `${text} ${printed}`);
        assert.equal(printQuantity(parseQuantity(printed)), printed);
      }),
    );
  });

  test("add and subtract exactly", () => {
    fc.assert(
      fc.property(quantities, quantities, (a, b) => {
        const [left, right] = [parseQuantity(a), parseQuantity(b)];
        const sum = addQuantities(left, right);
        assert.equal(compareQuantities(subtractQuantities(sum, right), left), 0);
      }),
    );
  });

  test("round to thousandths in lists of resources", () => {
    assert.deepEqual(
      ["12u", "1500u", "-1u", "1.500", "5"].map((text) =>
        printQuantity(roundUpQuantity(parseQuantity(text), -3)),
      ),
      ["1m", "2m", "-1m", "1.500", "5"],
    );
  });

  test("round away from zero", () => {
    assert.deepEqual(
      ["1500m", "-1500m", "2Ki", "1n"].map((text) => scaledValue(parseQuantity(text), 0)),
      [2n, -2n, 2048n, 1n],
    );
  });

  test("may be numbers in an object", () => {
    assert.equal(printQuantity(quantityFromJson(new JsonNumber("1.0"))), "1");
    assert.equal(printQuantity(quantityFromJson(0.5)), "500m");
    assert.throws(() => quantityFromJson(true), BadQuantity);
  });
});
