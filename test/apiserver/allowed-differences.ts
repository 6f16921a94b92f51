// Differences of our server from the oracle that a contract allows: each is a line of docs/differences.md.

import { isJsonArray, isJsonObject, jsonEqual, type Json } from "@keelson/base";

import type { Difference } from "../oracle/compare.ts";
import type { StepDifference } from "./differences.ts";

export interface AllowedDifference {
  /** As in the second table of the document. */
  readonly id: string;
  /** Whether it explains this difference; a step is explained when each of its differences is. */
  readonly explains: (difference: Difference, step: StepDifference) => boolean;
}

/** What the real server says with its 500, where S1 to S3 want a refusal of ours. */
const refused = {
  S1: /resourceVersion should not be set on objects to be created/,
  S2: /resourceVersion: Invalid value|invalid resource version/,
  S3: /duplicate entries for key/,
} as const;

export const allowedDifferences: readonly AllowedDifference[] = [
  {
    id: "S1",
    explains: (_, { oracle, ours }) => isRefusalInsteadOf500(oracle, ours, refused.S1),
  },
  {
    id: "S2",
    explains: (_, { oracle, ours }) => isRefusalInsteadOf500(oracle, ours, refused.S2),
  },
  {
    id: "S3",
    explains: (_, { oracle, ours }) => isRefusalInsteadOf500(oracle, ours, refused.S3),
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
      const isOther = !Object.values(refused).some((message) => message.test(theirs.message));
      const isBelow500 = typeof own.status === "number" && own.status < 500;
      return isOther && theirs.status === 500 && isBelow500;
    },
  },
  {
    id: "S7",
    explains: ({ path }, { name, step, oracle, ours }) =>
      name.startsWith("lists: one namespace is not another") &&
      /^\.body\.items\[\d+\]\.metadata\.(namespace|resourceVersion|uid)$/.test(path) &&
      isSameInOrder(itemsOf(oracle), itemsOf(ours), {
        isFirstPage: step.includes("limit=") && !step.includes("continue="),
      }),
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
    explains: ({ path, ours: own }, { name, oracle, ours }) => {
      const { status, message } = statusAndMessage(oracle);
      const isTaken = statusAndMessage(ours).status === 201 && kindOf(ours) === "Pod";
      if (name === "namespaces: limits give pods theirs") {
        const isRefused = status === 403 && message.includes("maximum cpu usage per Container");
        const isNotGiven = /\.(annotations|limits|requests)$/.test(path) && own === undefined;
        const isBestEffort = path === ".body.status.qosClass" && own === "BestEffort";
        return isTaken && (isRefused || isNotGiven || isBestEffort);
      }
      // What is wrong besides is found out when nobody has refused it before.
      const isJudged = isTaken || statusAndMessage(ours).status === 422;
      return status === 403 && /RuntimeClass "\w+" not found/.test(message) && isJudged;
    },
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
    explains: (_, { step, ours }) =>
      (step.startsWith("FROB ") || step.includes("/%zz")) &&
      statusAndMessage(ours).status === 400 &&
      kindOf(ours) === "Status",
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

/** Whether ours are in the order of their namespaces: all that the other has, or of a first page those that come first. */
function isSameInOrder(
  theirs: readonly Json[],
  ours: readonly Json[],
  { isFirstPage }: { readonly isFirstPage: boolean },
): boolean {
  const namespaceOf = (item: Json): string =>
    (item as { metadata: { namespace: string } }).metadata.namespace;
  const order = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);
  const sorted = (items: readonly Json[]): Json =>
    items.toSorted((a, b) => order(namespaceOf(a), namespaceOf(b)));
  if (!isFirstPage) return jsonEqual(sorted(theirs), [...ours]);
  return (
    ours.length === theirs.length &&
    jsonEqual(sorted(ours), [...ours]) &&
    ours.every((item, index) => namespaceOf(item) < namespaceOf(theirs[index] ?? item))
  );
}

function itemsOf(answer: Json | undefined): readonly Json[] {
  const body = isJsonObject(answer) ? answer["body"] : undefined;
  const items = isJsonObject(body) ? body["items"] : undefined;
  return isJsonArray(items) ? items : [];
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
