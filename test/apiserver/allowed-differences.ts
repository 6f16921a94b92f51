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
    explains: ({ path }, { step }) =>
      /columnDefinitions\[\d+\]\.description$/.test(path) ||
      (step === "columns" && path.endsWith("].description")),
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
      return theirs.status === 500 && typeof own.status === "number" && own.status < 500;
    },
  },
  {
    id: "S7",
    explains: ({ path }, { name }) =>
      path.startsWith(".body.items[") && name.startsWith("lists: one namespace is not another"),
  },
  {
    id: "S8",
    explains: ({ oracle, ours }, step) =>
      [oracle, ours].every(
        (text) =>
          typeof text === "string" && /yaml: |proto: |unexpected EOF|make no sense/.test(text),
      ) && statusAndMessage(step.oracle).status === statusAndMessage(step.ours).status,
  },
  {
    id: "S9",
    explains: (_, { name, oracle }) =>
      name === "namespaces: limits give pods theirs" ||
      /RuntimeClass "\w+" not found/.test(statusAndMessage(oracle).message),
  },
  {
    id: "S10",
    explains: ({ oracle, ours }) =>
      typeof oracle === "string" &&
      oracle.startsWith("application/vnd.kubernetes.protobuf") &&
      ours === "application/json",
  },
  {
    id: "S11",
    explains: (_, { step }) => step.startsWith("FROB ") || step.includes("/%zz"),
  },
  // Later steps show it too: `VainVersions` follows it through a case.
  { id: "S12", explains: () => false },
  {
    id: "S13",
    explains: ({ path, ours }, { step, oracle }) =>
      /^(PUT|PATCH) /.test(step) &&
      statusAndMessage(oracle).status === 201 &&
      /\.metadata\.deletion(Timestamp|GracePeriodSeconds)$/.test(path) &&
      ours === undefined,
  },
  {
    id: "S14",
    explains: ({ path, oracle, ours }, { name, oracle: answer }) => {
      if (!name.startsWith("generated: ")) return false;
      if (typeof oracle === "string" && oracle.replaceAll(": []:", ": null:") === ours) return true;
      const isCounted = /\.metadata\.(generation|resourceVersion)$/.test(path);
      return kindOf(answer) === "NetworkPolicy" && isCounted && countOf(ours) < countOf(oracle);
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

/** A generation, or the number of a version by order of appearance. */
function countOf(value: Json | undefined): number {
  return Number(typeof value === "string" ? value.replace(/^version-/, "") : value);
}

function kindOf(answer: Json | undefined): Json | undefined {
  const body = isJsonObject(answer) ? answer["body"] : undefined;
  return isJsonObject(body) ? body["kind"] : undefined;
}

function statusAndMessage(answer: Json | undefined): { status: Json | undefined; message: string } {
  if (!isJsonObject(answer)) return { status: undefined, message: "" };
  const { status, body } = answer;
  const message = isJsonObject(body) ? body["message"] : body;
  return { status, message: typeof message === "string" ? message : "" };
}
