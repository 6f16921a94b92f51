// Differences of our server from the oracle that a contract allows: each is a line of docs/differences.md.

import { isJsonObject, type Json } from "@keelson/base";

import type { Difference } from "../oracle/compare.ts";
import type { StepDifference } from "./differences.ts";

export interface AllowedDifference {
  /** As in the second table of the document. */
  readonly id: string;
  /** Whether it explains this difference; a step is explained when each of its differences is. */
  readonly explains: (difference: Difference, step: StepDifference) => boolean;
}

export const allowedDifferences: readonly AllowedDifference[] = [
  {
    id: "S1",
    explains: (_, { oracle, ours }) =>
      isRefusalInsteadOf500(
        oracle,
        ours,
        /resourceVersion should not be set on objects to be created/,
      ),
  },
  {
    id: "S2",
    explains: (_, { oracle, ours }) =>
      isRefusalInsteadOf500(
        oracle,
        ours,
        /resourceVersion: Invalid value|invalid resource version/,
      ),
  },
  {
    id: "S3",
    explains: (_, { oracle, ours }) =>
      isRefusalInsteadOf500(oracle, ours, /duplicate entries for key/),
  },
  {
    id: "S4",
    explains: ({ path }) => /columnDefinitions\[\d+\]\.description$/.test(path),
  },
  {
    id: "S5",
    explains: ({ oracle, ours }) =>
      typeof oracle === "string" &&
      oracle.replace(
        /StorageError: invalid object, Code: 4, Key: .*?, ResourceVersion: 0, AdditionalErrorMsg: /,
        "",
      ) === ours,
  },
  {
    id: "S6",
    explains: (_, { oracle, ours }) => {
      const [theirs, own] = [statusAndMessage(oracle), statusAndMessage(ours)];
      const isSame = theirs.message === own.message || /strconv\.ParseUint/.test(theirs.message);
      return theirs.status === 500 && (own.status === 400 || own.status === 422) && isSame;
    },
  },
];

/** The real server answers 500 where a client is at fault; the rest of the answer is not compared then. */
function isRefusalInsteadOf500(
  oracle: Json | undefined,
  ours: Json | undefined,
  message: RegExp,
): boolean {
  const [theirs, own] = [statusAndMessage(oracle), statusAndMessage(ours)];
  return (
    theirs.status === 500 &&
    message.test(theirs.message) &&
    (own.status === 400 || own.status === 422)
  );
}

function statusAndMessage(answer: Json | undefined): { status: Json | undefined; message: string } {
  if (!isJsonObject(answer)) return { status: undefined, message: "" };
  const { status, body } = answer;
  const message = isJsonObject(body) ? body["message"] : body;
  return { status, message: typeof message === "string" ? message : "" };
}
