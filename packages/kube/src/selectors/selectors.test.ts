import assert from "node:assert/strict";
import { suite, test } from "node:test";

import * as fc from "fast-check";

import {
  exactField,
  matchesFields,
  parseFieldSelector,
  printFieldSelector,
} from "./field-selector.ts";
import { matchesLabels, printLabelSelector } from "./label-selector.ts";
import { parseLabelSelector } from "./parse-label-selector.ts";
import { BadSelector } from "./requirement.ts";
import { selectorFromObject } from "./selector-object.ts";

function messageOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof BadSelector, String(error));
    return error.message;
  }
  return assert.fail("it did not fail");
}

suite("label selectors", () => {
  const labels = { app: "web", tier: "front", n: "7" };
  for (const [text, chosen] of [
    ["", true],
    ["app=web", true],
    ["app==web,tier!=back", true],
    ["app in (a,web), tier notin (x)", true],
    ["app", true],
    ["!old", true],
    ["!app", false],
    ["old!=x", true],
    ["old notin (x)", true],
    ["old in (x)", false],
    ["n>6,n<8", true],
    ["n>7", false],
    ["app>1", false],
    ["constructor", false],
    ["in=x", false],
    ["app in ()", false],
  ] as const) {
    test(`${text} ${chosen ? "chooses" : "does not choose"} it`, () => {
      assert.equal(matchesLabels(parseLabelSelector(text), labels), chosen);
    });
  }

  for (const [text, message] of [
    ["app=web,", "found '', expected: identifier after ','"],
    ["=x", "found '=', expected: !, identifier, or 'end of string'"],
    ["a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ["a in x", "unable to parse requirement: found 'x' expected: '('"],
    ["a in (x", "unable to parse requirement: found '', expected: ',' or ')'"],
    ["a=(x)", "unable to parse requirement: found '(', expected: identifier"],
    ["!a=b", "found '=', expected: ',' or 'end of string'"],
    [
      "a>x",
      `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`,
    ],
  ] as const) {
    test(`${text}: ${message}`, () =>
      assert.equal(
        messageOf(() => parseLabelSelector(text)),
        message,
      ));
  }

  const key = fc.constantFrom("app", "example.com/x", "notin", "in", "a-b_c.d");
  const value = fc.constantFrom("", "a", "b-c", "notin");
  const terms = fc.oneof(
    fc.tuple(key, fc.constantFrom("=", "==", "!="), value).map((parts) => parts.join("")),
    fc
      .tuple(key, fc.constantFrom(" in ", " notin "), fc.array(value, { maxLength: 3 }))
      .map(([k, op, list]) => `${k}${op}(${list.join(",")})`),
    key,
    key.map((name) => `!${name}`),
    fc.tuple(key, fc.constantFrom(">", "<"), fc.nat()).map((parts) => parts.join("")),
  );

  test("nothing of nothing asks for nothing", () => {
    const named = { field: "metadata.name", operator: "=", value: "x" };
    assert.deepEqual(parseFieldSelector("!=,metadata.name=x,=="), [named]);
    assert.deepEqual(parseFieldSelector("=x"), [{ field: "", operator: "=", value: "x" }]);
  });

  test("read back as they were", () => {
    fc.assert(
      fc.property(fc.array(terms, { maxLength: 4 }), (list) => {
        const selector = parseLabelSelector(list.join(","));
        assert.deepEqual(parseLabelSelector(printLabelSelector(selector)), selector);
      }),
    );
  });

  test("come from objects too", () => {
    const selector = selectorFromObject({
      matchLabels: { app: "web" },
      matchExpressions: [
        { key: "tier", operator: "In", values: ["front", "back"] },
        { key: "old", operator: "DoesNotExist" },
      ],
    });
    assert.equal(selector && printLabelSelector(selector), "app=web,!old,tier in (back,front)");
    assert.equal(selectorFromObject(null), undefined);
    assert.deepEqual(selectorFromObject({}), []);
    assert.equal(
      messageOf(() => selectorFromObject({ matchExpressions: [{ key: "a", operator: "Like" }] })),
      '"Like" is not a valid label selector operator',
    );
    assert.match(
      messageOf(() => selectorFromObject({ matchExpressions: [{ key: "a", operator: "In" }] })),
      /for 'in', 'notin' operators, values set can't be empty/,
    );
  });
});

suite("field selectors", () => {
  test("choose by equality, and by its opposite", () => {
    const selector = parseFieldSelector("metadata.name=x,status.phase!=Running");
    const phase = (value: string) => (field: string) => (field === "metadata.name" ? "x" : value);
    assert.equal(matchesFields(selector, phase("Pending")), true);
    assert.equal(matchesFields(selector, phase("Running")), false);
    assert.equal(exactField(selector, "metadata.name"), "x");
    assert.equal(exactField(selector, "status.phase"), undefined);
  });

  test("read back as they were", () => {
    const term = fc.record(
      {
        field: fc.constantFrom("metadata.name", "spec.x"),
        operator: fc.constantFrom("=" as const, "!=" as const),
        value: fc.string(),
      },
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(term, (requirement) => {
        assert.deepEqual(parseFieldSelector(printFieldSelector([requirement])), [requirement]);
      }),
    );
  });

  for (const [text, message] of [
    ["abc", "invalid selector: 'abc'; can't understand 'abc'"],
    ["a=b=c", "invalid field selector: unescaped character in value: 61"],
    ["a=b\\x", "invalid field selector: invalid escape sequence: \\x"],
    ["a=b\\", "invalid field selector: invalid escape sequence: \\"],
  ] as const) {
    test(message, () =>
      assert.equal(
        messageOf(() => parseFieldSelector(text)),
        message,
      ),
    );
  }
});
