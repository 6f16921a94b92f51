// Sets of indexes of a Job: `0,3-5,7`.

import { quote } from "../../../go-text/quote.ts";

/** How many indexes the text has, or why it has none. */
export function countIndexes(text: string, completions: number): number | string {
  if (text === "") return 0;
  let last: number | undefined;
  let total = 0;
  for (const interval of text.split(",")) {
    const read = readInterval(interval, completions);
    if (typeof read === "string") return read;
    const [start, end] = read;
    if (last !== undefined && last >= start) {
      return `non-increasing order, previous: ${last}, current: ${start}`;
    }
    total += end - start + 1;
    last = end;
  }
  return total;
}

/** The first index that both sets have; intervals that cannot be read have none. */
export function firstOverlap(a: string, b: string, completions: number): number | undefined {
  if (a === "" || b === "") return undefined;
  const read = (text: string): readonly (readonly [number, number])[] =>
    text
      .split(",")
      .map((interval) => readInterval(interval, completions))
      .filter((interval) => typeof interval !== "string");
  const [left, right] = [read(a), read(b)];
  let [i, j] = [0, 0];
  for (;;) {
    const [one, other] = [left[i], right[j]];
    if (one === undefined || other === undefined) return undefined;
    if (one[0] <= other[1] && other[0] <= one[1]) return Math.max(one[0], other[0]);
    if (one[0] <= other[0]) i += 1;
    else j += 1;
  }
}

function readInterval(text: string, completions: number): readonly [number, number] | string {
  const parts = text.split("-");
  if (parts.length > 2) {
    return `the fragment ${quote(text)} violates the requirement that an index interval can have at most two parts separated by '-'`;
  }
  const [first = "", second] = parts;
  const start = readIndex(first, completions);
  if (typeof start === "string" || second === undefined) {
    return typeof start === "string" ? start : [start, start];
  }
  const end = readIndex(second, completions);
  if (typeof end === "string") return end;
  return start >= end ? `non-increasing order, previous: ${start}, current: ${end}` : [start, end];
}

function readIndex(text: string, completions: number): number | string {
  if (!/^[+-]?[0-9]+$/.test(text) || !Number.isSafeInteger(Number(text))) {
    return `cannot convert string to integer for index: ${quote(text)}`;
  }
  return Number(text) >= completions ? `too large index: ${quote(text)}` : Number(text);
}
