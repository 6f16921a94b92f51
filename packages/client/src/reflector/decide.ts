// What a reflector does next, as a pure function of where it is and what has just happened.
//
//   list ──► watch ──► watch … each from where the one before it was; anything that leaves a doubt about the
//   past leads back to list. A watch that is quiet is asked again for a short while: the server ends a short
//   watch by itself, so it is heard of even when nothing changes, and a stall is one that does not end.

import { isLater } from "../resource-version.ts";

/** How a collection is read as a whole: as the beginning of a watch (WatchList), or in pages. */
export type ListWay = "stream" | "pages";

/** What to do. */
export type Task =
  | { readonly type: "list"; readonly way: ListWay }
  /** A long watch is for a collection that changes; a short one for a quiet one. */
  | { readonly type: "watch"; readonly from: string; readonly length: "long" | "short" }
  /** Ask which version the collection has: a store that was put back to an older state sends nothing at all. */
  | { readonly type: "probe" };

/** What came of a task. */
export type Outcome =
  /** The whole state was handed over; only a list by pages ends with this. */
  | { readonly type: "listed"; readonly version: string }
  /** The server ended the watch, or we did since it was quiet; `version` is how far it came. */
  | {
      readonly type: "ended";
      readonly version: string;
      readonly heard: "changes" | "bookmark" | "nothing";
      /** Whether it was there long enough to be no refusal in disguise. */
      readonly lasted: boolean;
      /** Whether it did not come to what was known when it began: the store may have been put back. */
      readonly isBehind: boolean;
    }
  /** `isBack`: the collection is older than what was known of it before. */
  | { readonly type: "probed"; readonly version: string; readonly isBack: boolean }
  /** `version`: how far a watch came, if it came anywhere. */
  | { readonly type: "failed"; readonly failure: Failure; readonly version?: string };

/** Why a task failed, as far as it matters for the next one. */
export type Failure =
  /** What we ask for is no longer remembered (410). */
  | { readonly type: "expired" }
  /** The server does not know this way of listing (422 and the like), or answers it with silence. */
  | { readonly type: "unsupported"; readonly isForGood: boolean }
  /** The server asks for patience (429, 503, 504). */
  | { readonly type: "busy"; readonly afterMs: number }
  /** The connection is dead, or as good as dead. */
  | { readonly type: "silence" }
  /** The connection broke, the server is away, in trouble, or does not let us. */
  | { readonly type: "trouble" }
  /** What came cannot be true: a version that goes back, a collection that is not there. */
  | { readonly type: "doubt" };

export interface Position {
  readonly task: Task;
  /** How far we are: everything at or below was handed over. Absent until the first list is complete. */
  readonly version: string | undefined;
  readonly isStreamRefused: boolean;
  /** Failures in a row: the wait grows with them. */
  readonly failures: number;
  /** Short watches in a row in which nothing at all was heard. */
  readonly quietRounds: number;
}

export interface Decision {
  readonly position: Position;
  /** Wait before the task: after the n-th failure in a row, and not less than the server asked for. */
  readonly wait: { readonly failures: number; readonly atLeastMs: number } | undefined;
  /** Use other connections: those we have may be half open. */
  readonly renewConnections: boolean;
}

/** After so many quiet rounds without a bookmark the collection is asked for its version. */
export const quietRoundsMax = 4;

export const start: Position = {
  task: { type: "list", way: "stream" },
  version: undefined,
  isStreamRefused: false,
  failures: 0,
  quietRounds: 0,
};

export function decide(position: Position, outcome: Outcome): Decision {
  switch (outcome.type) {
    case "listed":
      return goOn({ ...position, version: outcome.version, quietRounds: 0 }, "long");
    case "ended":
      return afterEnd(position, outcome);
    case "probed":
      // The store was put back: what we know is not what is.
      return outcome.isBack
        ? relist(position, { failures: 0 })
        : goOn({ ...position, quietRounds: 0 }, "short");
    case "failed":
      return afterFailure(advanced(position, outcome.version), outcome.failure);
  }
}

function afterEnd(position: Position, outcome: Outcome & { readonly type: "ended" }): Decision {
  const { heard, lasted, version } = outcome;
  const further = advanced(position, version);
  if (lasted && outcome.isBehind) return now({ ...further, task: { type: "probe" } });
  if (heard !== "nothing") {
    const calm = { ...further, failures: 0, quietRounds: 0 };
    return goOn(calm, heard === "changes" ? "long" : "short");
  }
  // Accepted and hung up at once: it would be asked again and again without a pause.
  if (!lasted) return repeat(further, { atLeastMs: 0 });
  const quietRounds = position.quietRounds + 1;
  const quiet = { ...further, failures: 0, quietRounds };
  if (quietRounds < quietRoundsMax) return goOn(quiet, "short");
  return now({ ...quiet, task: { type: "probe" } });
}

function afterFailure(position: Position, failure: Failure): Decision {
  switch (failure.type) {
    case "expired":
      // At once the first time; a server that keeps saying so is given time.
      return relist(position, {
        failures: position.failures + 1,
        isAtOnce: position.failures === 0,
      });
    case "unsupported": {
      const isStreamRefused = position.isStreamRefused || failure.isForGood;
      const task: Task = { type: "list", way: "pages" };
      return now({ ...position, isStreamRefused, task });
    }
    case "busy":
      return repeat(position, { atLeastMs: failure.afterMs });
    case "silence":
      return { ...repeat(position, { atLeastMs: 0 }), renewConnections: true };
    case "trouble":
      return repeat(position, { atLeastMs: 0 });
    case "doubt":
      return relist(position, { failures: position.failures + 1 });
  }
}

/** The same again, after a wait; a watch from where it came to. */
function repeat(position: Position, { atLeastMs }: { atLeastMs: number }): Decision {
  const failures = position.failures + 1;
  const { task, version } = position;
  // A list that streamed its state and then broke is a watch that broke.
  const again: Task =
    version !== undefined && task.type !== "list"
      ? { type: "watch", from: version, length: "short" }
      : task;
  return later({ ...position, task: again, failures }, atLeastMs);
}

/** Watches from where we are. */
function goOn(position: Position, length: "long" | "short"): Decision {
  const { version } = position;
  if (version === undefined) return relist(position, { failures: position.failures + 1 });
  return now({ ...position, task: { type: "watch", from: version, length } });
}

function relist(
  position: Position,
  { failures, isAtOnce = failures === 0 }: { failures: number; isAtOnce?: boolean },
): Decision {
  const task: Task = { type: "list", way: position.isStreamRefused ? "pages" : "stream" };
  const next = { ...position, task, failures, quietRounds: 0 };
  return isAtOnce ? now(next) : later(next, 0);
}

function now(position: Position): Decision {
  return { position, wait: undefined, renewConnections: false };
}

function later(position: Position, atLeastMs: number): Decision {
  const wait = { failures: position.failures, atLeastMs };
  return { position, wait, renewConnections: false };
}

/** A watch that got somewhere: failures before that no longer count. */
function advanced(position: Position, version: string | undefined): Position {
  if (version === undefined) return position;
  // A list that was complete is a watch from then on. Failures still count: the watch may always fail after it.
  if (position.task.type === "list") {
    return { ...position, version, task: { type: "watch", from: version, length: "long" } };
  }
  const known = position.version ?? version;
  if (!isLater(version, known)) return position;
  return { ...position, version, failures: 0 };
}
