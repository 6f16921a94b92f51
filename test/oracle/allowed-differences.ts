// Differences from the oracle that a contract allows: each is a line of docs/differences.md.

import { isJsonObject } from "@keelson/base";

import type { Difference } from "./compare.ts";
import type { Trial } from "./trials.ts";

export interface AllowedDifference {
  /** As in the table of the document. */
  readonly id: string;
  /** Whether it explains this difference; a trial is explained when each of its differences is. */
  readonly explains: (difference: Difference, trial: Trial) => boolean;
}

/** The real server answers 500 where a client is at fault; the rest of the answer is not compared then. */
function isRefusalInsteadOf500(trial: Trial, message: RegExp): boolean {
  const { oracle, ours } = trial;
  if (!isJsonObject(oracle) || !isJsonObject(ours)) return false;
  const isMeant = typeof oracle["message"] === "string" && message.test(oracle["message"]);
  return isMeant && oracle["code"] === 500 && (ours["code"] === 400 || ours["code"] === 422);
}

export const allowedDifferences: readonly AllowedDifference[] = [
  {
    id: "D1",
    explains: (_, trial) =>
      isRefusalInsteadOf500(trial, /resourceVersion should not be set on objects to be created/),
  },
  {
    id: "D2",
    explains: (_, trial) =>
      isRefusalInsteadOf500(trial, /^resourceVersion: Invalid value|invalid resource version/),
  },
  {
    id: "D3",
    explains: (_, trial) => isRefusalInsteadOf500(trial, /duplicate entries for key/),
  },
  {
    // Who generates such a write says so: from the outcome alone it looks like a mistake.
    id: "D4",
    explains: ({ path }, { context }) =>
      path.startsWith(".metadata.managedFields") && isMarked(context, "respelled"),
  },
  {
    id: "D5",
    explains: (_, { operation, oracle }) => operation === "json" && oracle === undefined,
  },
  {
    id: "D6",
    explains: (_, { ours, context }) =>
      says(ours, /^exceeded max depth of 512$/) && depthOf(sentText(context)) > 512,
  },
  {
    id: "D7",
    explains: (_, { ours, context }) =>
      says(ours, /unable to parse numeric part of quantity/) &&
      /\d[eE][+-]?\d{4}|[\d.]{4097}/.test(sentText(context)),
  },
  {
    id: "D8",
    explains: ({ oracle, ours }) =>
      typeof oracle === "string" &&
      typeof ours === "string" &&
      /Invalid value: |may not change|is immutable/.test(oracle) &&
      withoutEmpty(oracle) === withoutEmpty(ours),
  },
  {
    id: "D9",
    explains: (_, { oracle, context }) =>
      oracle === undefined && /:1e400\b/.test(sentText(context)),
  },
  {
    id: "D10",
    explains: (_, { ours }) =>
      says(ours, /(?:: |\n *)there are more errors than are told here\]?$/),
  },
];

/** What is empty as if it were nothing. */
function withoutEmpty(text: string): string {
  return text.replaceAll(/\[\]|\{\}/g, "null");
}

function isMarked(context: unknown, mark: string): boolean {
  return typeof context === "object" && context !== null && Reflect.get(context, mark) === true;
}

/** The body as it was sent, where whoever made the trial says it. */
function sentText(context: unknown): string {
  const text: unknown =
    typeof context === "object" && context !== null ? Reflect.get(context, "text") : undefined;
  return typeof text === "string" ? text : "";
}

function depthOf(text: string): number {
  let [depth, deepest] = [0, 0];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (token === "[" || token === "{") deepest = Math.max(deepest, (depth += 1));
    else if (token === "]" || token === "}") depth -= 1;
  }
  return deepest;
}

function says(answer: Trial["ours"], message: RegExp): boolean {
  if (!isJsonObject(answer)) return false;
  return typeof answer["message"] === "string" && message.test(answer["message"]);
}
