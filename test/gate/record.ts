// A reporter for Node's runner that writes each finished test to the file of `KEELSON_TEST_RECORD`, one JSON document a line.
// It stands beside the reporter that people read, so that nothing has to be read back out of that one's texts.

import { appendFileSync } from "node:fs";
import { inspect } from "node:util";

/** A test, or a suite, that has ended. */
export interface Ended {
  readonly name: string;
  readonly isSuite: boolean;
  readonly outcome: "passed" | "failed" | "skipped";
  readonly ms: number;
  /** Where it is written, if the runner knows. */
  readonly file?: string;
  readonly line?: number;
  /** Numbers are given anew in each process; `entry` is the file that its process was started for, if it was for one. */
  readonly entry?: string;
  readonly id?: number;
  readonly parentId?: number;
  /** What it failed with, with its stack; absent if only tests inside it failed. */
  readonly error?: string;
  /** Whether it failed only because what it is in was over. */
  readonly isCancelled?: true;
}

/** What the runner says of one, as far as it is of use here. */
interface Said {
  readonly name: string;
  readonly file?: string;
  readonly line?: number;
  readonly entryFile?: string;
  readonly testId?: number;
  readonly parentId?: number;
  readonly skip?: string | boolean;
  readonly details: {
    readonly duration_ms: number;
    readonly type?: string;
    readonly error?: Error & { readonly failureType?: string };
  };
}

// A reporter is a generator of what is printed; this one prints nothing.
// oxlint-disable-next-line require-yield
export default async function* record(
  source: AsyncIterable<{ readonly type: string; readonly data: unknown }>,
): AsyncGenerator<never> {
  const path = process.env["KEELSON_TEST_RECORD"];
  if (path === undefined) return;
  for await (const { type, data } of source) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    // At once and in order, so that a run that dies has told what it knew.
    appendFileSync(path, `${JSON.stringify(ended(data as Said, type === "test:fail"))}\n`);
  }
}

function ended(said: Said, hasFailed: boolean): Ended {
  const { name, file, line, entryFile: entry, testId: id, parentId, details } = said;
  const isSkipped = said.skip !== undefined && said.skip !== false;
  const { error } = details;
  return {
    name,
    isSuite: details.type === "suite",
    outcome: hasFailed ? "failed" : isSkipped ? "skipped" : "passed",
    ms: details.duration_ms,
    ...(file === undefined ? {} : { file }),
    ...(line === undefined ? {} : { line }),
    ...(entry === undefined ? {} : { entry }),
    ...(id === undefined ? {} : { id }),
    ...(parentId === undefined ? {} : { parentId }),
    ...(error === undefined || error.failureType === "subtestsFailed"
      ? {}
      : { error: textOf(error.cause ?? error) }),
    ...(error?.failureType === "cancelledByParent" ? { isCancelled: true } : {}),
  };
}

function textOf(error: unknown): string {
  return typeof error === "string" ? error : inspect(error);
}
