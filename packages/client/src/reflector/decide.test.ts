import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { decide, quietRoundsMax, start, type Outcome, type Position, type Task } from "./decide.ts";

const live: Position = {
  ...start,
  task: { type: "watch", from: "10", length: "long" },
  version: "10",
};
const ended = (version: string, heard: "changes" | "bookmark" | "nothing"): Outcome => ({
  type: "ended",
  version,
  heard,
  lasted: true,
  isBehind: false,
});
const watch = (from: string, length: "long" | "short"): Task => ({ type: "watch", from, length });
const list = (way: "stream" | "pages"): Task => ({ type: "list", way });

const cases: readonly (readonly [
  what: string,
  position: Position,
  outcome: Outcome,
  task: Task,
  more?: { readonly wait?: number; readonly atLeastMs?: number; readonly renew?: true },
])[] = [
  ["a list is followed by a watch", start, { type: "listed", version: "5" }, watch("5", "long")],
  [
    "a stream that ended is followed from where it came",
    start,
    ended("7", "changes"),
    watch("7", "long"),
  ],
  ["changes keep watches long", live, ended("12", "changes"), watch("12", "long")],
  ["a bookmark alone makes them short", live, ended("12", "bookmark"), watch("12", "short")],
  ["so does silence", live, ended("10", "nothing"), watch("10", "short")],
  [
    "a watch that is hung up at once is asked again after a wait",
    live,
    { ...ended("10", "nothing"), lasted: false } as Outcome,
    watch("10", "short"),
    { wait: 1 },
  ],
  [
    "a watch that does not come to what was known leads to a question",
    live,
    { ...ended("12", "bookmark"), isBehind: true } as Outcome,
    { type: "probe" },
  ],
  [
    "after enough quiet rounds the version is asked for",
    { ...live, quietRounds: quietRoundsMax - 1 },
    ended("10", "nothing"),
    { type: "probe" },
  ],
  [
    "a version that is not behind leads back to the watch",
    live,
    { type: "probed", version: "11", isBack: false },
    watch("10", "short"),
  ],
  [
    "a version behind ours leads to a list",
    live,
    { type: "probed", version: "9", isBack: true },
    list("stream"),
  ],
  [
    "what has expired is listed, at once",
    live,
    { type: "failed", failure: { type: "expired" } },
    list("stream"),
  ],
  [
    "but not at once for ever",
    { ...live, failures: 1 },
    { type: "failed", failure: { type: "expired" } },
    list("stream"),
    { wait: 2 },
  ],
  [
    "a server that knows no streams is listed by pages",
    start,
    { type: "failed", failure: { type: "unsupported", isForGood: true } },
    list("pages"),
  ],
  [
    "a server that asks for patience gets it",
    live,
    { type: "failed", failure: { type: "busy", afterMs: 3_000 } },
    watch("10", "short"),
    { wait: 1, atLeastMs: 3_000 },
  ],
  [
    "a dead connection is not used again",
    live,
    { type: "failed", failure: { type: "silence" } },
    watch("10", "short"),
    { wait: 1, renew: true },
  ],
  [
    "a broken watch goes on from where it came",
    live,
    { type: "failed", failure: { type: "trouble" }, version: "15" },
    watch("15", "short"),
    { wait: 1 },
  ],
  [
    "a stream that breaks before its state is complete begins again",
    start,
    { type: "failed", failure: { type: "trouble" } },
    list("stream"),
    { wait: 1 },
  ],
  [
    "a stream that breaks after its state was complete is a watch that breaks",
    start,
    { type: "failed", failure: { type: "trouble" }, version: "8" },
    watch("8", "short"),
    { wait: 1 },
  ],
  [
    "what cannot be true is listed",
    live,
    { type: "failed", failure: { type: "doubt" } },
    list("stream"),
    { wait: 1 },
  ],
];

suite("what a reflector does next", () => {
  for (const [
    what,
    position,
    outcome,
    task,
    { wait, atLeastMs = 0, renew = false } = {},
  ] of cases) {
    test(what, () => {
      const decision = decide(position, outcome);
      assert.deepEqual(
        { task: decision.position.task, wait: decision.wait, renew: decision.renewConnections },
        { task, wait: wait === undefined ? undefined : { failures: wait, atLeastMs }, renew },
      );
    });
  }

  test("a refusal of streams is remembered, silence in place of one is not", () => {
    const after = (isForGood: boolean): Task => {
      const unsupported = { type: "unsupported", isForGood } as const;
      const { position } = decide(start, { type: "failed", failure: unsupported });
      const listed = decide(position, { type: "listed", version: "3" }).position;
      return decide(listed, { type: "failed", failure: { type: "expired" } }).position.task;
    };
    assert.deepEqual([after(true), after(false)], [list("pages"), list("stream")]);
  });

  test("whatever happens, versions go back only by a list", () => {
    const { position } = decide(live, ended("4", "changes"));
    assert.deepEqual([position.version, position.task], ["10", watch("10", "long")]);
  });
});
