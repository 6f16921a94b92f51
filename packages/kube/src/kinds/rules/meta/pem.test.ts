import assert from "node:assert/strict";
import { test } from "node:test";

import { decodePem, pemBlocks } from "./pem.ts";

const block = (type: string): string => `-----BEGIN ${type}-----\nAAAA\n-----END ${type}-----\n`;

test("blocks are found among other text, broken ones passed over", () => {
  const text = `before\n-----BEGIN X-----\n???\n-----END X-----\n${block("A")}after\n${block("B")}`;
  assert.deepEqual(
    pemBlocks(text).map(({ type, bytes }) => [type, bytes.length]),
    [
      ["A", 3],
      ["B", 3],
    ],
  );
  assert.equal(decodePem("nothing").block, undefined);
});

const lines = (...all: readonly string[]): string => all.join("\n");

/** What Go's encoding/pem makes of a text: how many bytes each block has. */
const read: readonly (readonly [what: string, text: string, sizes: readonly number[]])[] = [
  ["an empty block", lines("-----BEGIN X-----", "-----END X-----"), [0]],
  [
    "the last beginning before an end",
    lines("-----BEGIN X-----", "AAAA", "-----BEGIN X-----", "AA==", "-----END X-----"),
    [1],
  ],
  ["another type at the end", lines("-----BEGIN X-----", "AAAA", "-----END Y-----"), []],
  ["text behind the end", lines("-----BEGIN X-----", "AAAA", "-----END X----- x", ""), []],
  ["blanks behind the end", lines("-----BEGIN X-----", "AAAA", "-----END X----- \t\r", ""), [3]],
  ["blanks between", lines("-----BEGIN X-----", "A A\tA\rA", "-----END X-----"), [3]],
  ["other white space between", lines("-----BEGIN X-----", "AA\vAA", "-----END X-----"), []],
  ["no padding", lines("-----BEGIN X-----", "AA", "-----END X-----"), []],
  ["a header alone", lines("-----BEGIN X-----", "a: b", "-----END X-----"), []],
  ["a beginning within a line", lines("x -----BEGIN X-----", "AAAA", "-----END X-----"), []],
];

for (const [what, text, sizes] of read) {
  test(`blocks are read as Go reads them: ${what}`, () => {
    assert.deepEqual(
      pemBlocks(text).map(({ bytes }) => bytes.length),
      sizes,
    );
  });
}

test("headers of a block are read", () => {
  const text = "-----BEGIN X-----\nSome: header\n\nAAAA\n-----END X-----\n";
  assert.deepEqual([...(decodePem(text).block?.headers ?? [])], [["Some", "header"]]);
});
