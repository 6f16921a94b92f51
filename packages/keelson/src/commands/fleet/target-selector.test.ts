import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { targetSelector } from "./target-selector.ts";

suite("the selector of targets", () => {
  for (const [text, selector] of [
    ["region=eu", { matchLabels: { region: "eu" } }],
    ["region==eu,tier=", { matchLabels: { region: "eu", tier: "" } }],
    ["tier!=gold", { matchExpressions: [{ key: "tier", operator: "NotIn", values: ["gold"] }] }],
    [
      "region in (eu, us),!edge",
      {
        matchExpressions: [
          { key: "region", operator: "In", values: ["eu", "us"] },
          { key: "edge", operator: "DoesNotExist" },
        ],
      },
    ],
    [
      "example.com/zone notin (a),edge,a=b",
      {
        matchLabels: { a: "b" },
        matchExpressions: [
          { key: "example.com/zone", operator: "NotIn", values: ["a"] },
          { key: "edge", operator: "Exists" },
        ],
      },
    ],
    ["", undefined],
    ["a=(b)", undefined],
    ["a in b", undefined],
    ["a=b=c", undefined],
    ["a,,b", undefined],
    ["a in (b", undefined],
  ] as const) {
    test(`${JSON.stringify(text)} is ${selector === undefined ? "refused" : "read"}`, () => {
      assert.deepEqual(targetSelector(text), selector);
    });
  }
});
