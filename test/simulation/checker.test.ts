// The checker on small histories made by hand: good ones, and for every invariant bad ones.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { checkHistory, type Invariant } from "./checker.ts";
import type {
  Answer,
  Call,
  EntryFact,
  ExpectFact,
  Happening,
  History,
  ItemFact,
  RowFact,
  Tables,
} from "./history.ts";

const kind = "Thing.example.dev";
const scope = { kind, namespace: "" };
const a = { kind, namespace: "n", name: "a" };
const b = { kind, namespace: "n", name: "b" };

function body(write: string, app?: string): string {
  const metadata = app === undefined ? { uid: "u" } : { uid: "u", labels: { app } };
  return JSON.stringify({ metadata, spec: { write } });
}

function row(key: RowFact["key"], revision: number, text: string): RowFact {
  return { key, uid: "u", revision, body: text };
}

/** The story of most tests: a is created (2), changed (3), b is created (4), a is deleted (5). */
const [one, two, three] = [body("1", "x"), body("2", "y"), body("3", "x")];
const added: EntryFact = { type: "ADDED", ...row(a, 2, one) };
const modified: EntryFact = {
  type: "MODIFIED",
  ...row(a, 3, two),
  previous: { revision: 2, body: one },
};
const other: EntryFact = { type: "ADDED", ...row(b, 4, three) };
const deleted: EntryFact = {
  type: "DELETED",
  ...row(a, 5, two),
  previous: { revision: 3, body: two },
};
const log = [added, modified, other, deleted];

function ask(id: string, call: Call): Happening {
  return { type: "call", id, replica: "r", call };
}

function tell(id: string, answer: Answer): Happening {
  return { type: "answer", id, answer };
}

function failure(id: string, code: string, more: object = {}): Happening {
  return tell(id, { type: "error", code, message: "", ...more });
}

function create(id: string, entry: RowFact): Happening[] {
  return [
    ask(id, { op: "create", key: entry.key, body: entry.body }),
    tell(id, { type: "row", row: row(entry.key, entry.revision, entry.body) }),
  ];
}

function update(id: string, entry: RowFact, expect: { readonly revision: number }): Happening[] {
  return [
    ask(id, { op: "update", key: entry.key, body: entry.body, expect }),
    tell(id, { type: "row", row: row(entry.key, entry.revision, entry.body) }),
  ];
}

function remove(id: string, entry: RowFact, expect: ExpectFact = {}): Happening[] {
  return [
    ask(id, { op: "delete", key: entry.key, expect }),
    tell(id, { type: "row", row: row(entry.key, entry.revision, entry.body) }),
  ];
}

function get(id: string, answer: RowFact | string): Happening[] {
  const key = typeof answer === "string" ? a : answer.key;
  return [
    ask(id, { op: "get", key }),
    typeof answer === "string" ? failure(id, answer) : tell(id, { type: "row", row: answer }),
  ];
}

function list(
  id: string,
  revision: number,
  items: readonly RowFact[],
  more: {
    readonly limit?: number;
    readonly after?: string;
    readonly hasMore?: boolean;
    readonly remaining?: number;
  } = {},
): Happening[] {
  const { limit, after, hasMore = false, remaining } = more;
  return [
    ask(id, {
      op: "list",
      scope,
      ...(limit === undefined ? {} : { limit }),
      ...(after === undefined ? {} : { after }),
    }),
    tell(id, {
      type: "page",
      revision,
      items,
      hasMore,
      ...(remaining === undefined ? {} : { remaining }),
    }),
  ];
}

function look(entries: readonly EntryFact[], head: number, floor = 1, kept = entries): Happening {
  return {
    type: "observed",
    head,
    floor,
    revisions: kept.map(({ revision }) => revision),
    entries,
  };
}

function watch(
  items: readonly ItemFact[],
  more: {
    readonly from?: number | "state";
    readonly app?: string;
    readonly pace?: "fast" | "slow";
    readonly quiet?: number;
  } = {},
): Happening[] {
  const { from = 1, app, pace = "fast", quiet } = more;
  return [
    {
      type: "watch",
      watch: "w",
      replica: "r",
      scope,
      ...(app === undefined ? {} : { selector: { label: "app", value: app } }),
      from,
      hasBookmarks: true,
      initialEventsEnd: true,
      pace,
    },
    { type: "watching", watch: "w" },
    ...items.map((item): Happening => ({ type: "items", watch: "w", items: [item] })),
    ...(quiet === undefined ? [] : [{ type: "quiet", watch: "w", head: quiet } as const]),
  ];
}

function item({ type, key, uid, revision, body: text }: EntryFact): ItemFact {
  return { type, key, uid, revision, body: text };
}

function mark(revision: number, initialEventsEnd = false): ItemFact {
  return { type: "BOOKMARK", revision, initialEventsEnd };
}

const struck: Happening = { type: "trouble", replica: "r", state: "struck", what: "disk" };

/** The writes of the story, as they went well. */
const story: readonly Happening[] = [
  ...create("c1", added),
  ...update("c2", modified, { revision: 2 }),
  ...create("c3", other),
  ...remove("c4", deleted, { revision: 3 }),
];

function history(happenings: readonly Happening[], tables: Partial<Tables> = {}): History {
  return {
    records: happenings.map((happening, index) => ({ ...happening, at: index + 1 })),
    tables: {
      rows: [row(b, 4, three)],
      counts: [{ scope, objects: 1 }],
      head: 5,
      floor: 1,
      ...tables,
    },
  };
}

const whole = look(log, 5);

const good: Record<string, readonly Happening[]> = {
  "the story": [...story, whole],
  "reads of every moment": [
    ...get("g0", "NotFound"),
    ...list("l0", 1, []),
    ...story.slice(0, 2),
    ...get("g1", row(a, 2, one)),
    ...list("l1", 2, [row(a, 2, one)]),
    ...story.slice(2, 6),
    ...list("l2", 4, [row(a, 3, two)], { limit: 1, hasMore: true, remaining: 1 }),
    ...story.slice(6),
    ...list("l3", 4, [row(b, 4, three)], { limit: 1, after: "l2" }),
    ...get("g2", "NotFound"),
    whole,
  ],
  "a read beside a write may see either": [
    ...story.slice(0, 2),
    ask("g", { op: "get", key: a }),
    ...story.slice(2),
    tell("g", { type: "row", row: row(a, 2, one) }),
    whole,
  ],
  "watches of every sort": [
    ...story,
    ...watch([...log.map(item), mark(5)], { quiet: 5 }),
    ...watch([item(other), item(deleted)], { from: 3, quiet: 5 }),
    ...watch([item({ type: "ADDED", ...row(b, 4, three) }), mark(5, true)], { from: "state" }),
    whole,
  ],
  "a selector is entered and left": [
    ...story,
    ...watch([item(added), item({ type: "DELETED", ...row(a, 3, one) }), item(other), mark(5)], {
      app: "x",
      quiet: 5,
    }),
    ...watch([item({ type: "ADDED", ...row(a, 3, two) }), item(deleted)], { app: "y", quiet: 5 }),
    whole,
  ],
  "an unanswered write that happened": [...story.slice(0, 7), whole],
  "an unanswered write that did not": [
    ...story,
    ask("c9", { op: "create", key: a, body: body("9") }),
    whole,
  ],
  "refusals with a reason": [
    ...story.slice(0, 4),
    ask("c5", { op: "update", key: a, body: body("5"), expect: { revision: 2 } }),
    failure("c5", "Conflict", { actual: { revision: 3, uid: "u" } }),
    ask("c6", { op: "create", key: a, body: body("6") }),
    failure("c6", "AlreadyExists"),
    ...story.slice(4),
    ask("c7", { op: "delete", key: a, expect: {} }),
    failure("c7", "NotFound"),
    ask("c8", { op: "create", key: a, body: body("8") }),
    struck,
    failure("c8", "Unavailable"),
    whole,
  ],
  "an equal update": [
    ...story.slice(0, 2),
    ...update("c9", row(a, 2, one), { revision: 2 }),
    ...story.slice(2),
    whole,
  ],
  "a cut": [
    ...story,
    whole,
    ask("cut", { op: "cut", upTo: 4 }),
    tell("cut", { type: "cut", head: 6, floor: 4 }),
    {
      type: "watch",
      watch: "w",
      replica: "r",
      scope,
      from: 3,
      hasBookmarks: false,
      initialEventsEnd: false,
      pace: "fast",
    },
    { type: "ended", watch: "w", error: { code: "Expired", message: "" } },
    look([], 6, 4, [deleted]),
  ],
  "one server after the other": [
    ...story,
    whole,
    { type: "serving", server: "1", file: "f" },
    { type: "gone", server: "1" },
    { type: "serving", server: "2", file: "f" },
  ],
};

const bad: readonly (readonly [Invariant, string, readonly Happening[], Partial<Tables>?])[] = [
  ["S1", "two writes with one revision", [...story, ...create("c9", row(a, 5, body("9"))), whole]],
  ["S1", "a revision that had been a head", [...list("l", 2, []), ...story, whole]],
  [
    "S1",
    "a revision with two contents",
    [...story, whole, look([{ ...other, body: one }], 5, 1, log)],
  ],
  ["S1", "a head that goes back", [...story, whole, look([], 4, 1, log.slice(0, 3))]],
  [
    "S2",
    "an entry that came late",
    [...story, look([added, other], 4), look([modified, deleted], 5, 1, log)],
  ],
  [
    "S2",
    "a write that began later came before",
    [...create("c3", other), ...story.slice(0, 4), ...story.slice(6), whole],
  ],
  [
    "S3",
    "a row without its entry",
    [...story, whole],
    { rows: [row(a, 3, two), row(b, 4, three)] },
  ],
  ["S3", "an entry without its row", [...story, whole], { rows: [], counts: [] }],
  ["S3", "a head that is another beside the rows", [...story, whole], { head: 6 }],
  ["S13", "a floor that goes back in the end", [...story, whole], { floor: 0 }],
  ["S3", "a count that is wrong", [...story, whole], { counts: [{ scope, objects: 2 }] }],
  ["S3", "an entry that nobody wrote", [...story.slice(0, 4), ...story.slice(6), whole]],
  ["S3", "a log beyond its head", [...story, look(log, 4)]],
  [
    "S4",
    "an acknowledged write that is not there",
    [...story, ...create("c9", row(a, 6, body("9"))), whole],
  ],
  [
    "S4",
    "an acknowledged write that was there and is gone",
    [...story, whole, look([], 4, 1, log.slice(0, 3))],
  ],
  [
    "S4",
    "an acknowledged write that gave way to another",
    [...story, whole, look([{ ...other, body: one }], 5, 1, log)],
  ],
  [
    "S5",
    "an update of something else than expected",
    [...create("c1", added), ...update("c2", modified, { revision: 1 }), ...story.slice(4), whole],
  ],
  [
    "S5",
    "a create over an object",
    [
      ...story.slice(0, 2),
      ...create("c2", modified),
      ...story.slice(4),
      look([added, { ...modified, type: "ADDED" }, other, deleted], 5),
    ],
  ],
  [
    "S6",
    "a refused write that is there",
    [...story.slice(0, 5), failure("c3", "AlreadyExists"), ...story.slice(6), whole],
  ],
  [
    "S6",
    "a refusal without a reason",
    [
      ...story.slice(0, 2),
      ask("c9", { op: "update", key: a, body: body("9"), expect: { revision: 2 } }),
      failure("c9", "Conflict", { actual: { revision: 3, uid: "u" } }),
      ...story.slice(2),
      whole,
    ],
  ],
  [
    "S7",
    "a read of an old version",
    [...story.slice(0, 4), ...get("g", row(a, 2, one)), ...story.slice(4), whole],
  ],
  [
    "S7",
    "an object that is not found",
    [...story.slice(0, 2), ...get("g", "NotFound"), ...story.slice(2), whole],
  ],
  [
    "S7",
    "a list of an old revision",
    [...story.slice(0, 4), ...list("l", 2, [row(a, 2, one)]), ...story.slice(4), whole],
  ],
  ["S8", "a list that is short", [...story, ...list("l", 5, []), whole]],
  [
    "S8",
    "a list out of order",
    [
      ...story.slice(0, 6),
      ...list("l", 4, [row(b, 4, three), row(a, 3, two)]),
      ...story.slice(6),
      whole,
    ],
  ],
  [
    "S8",
    "a second page of a later state",
    [
      ...story.slice(0, 6),
      ...list("l1", 4, [row(a, 3, two)], { limit: 1, hasMore: true }),
      ...story.slice(6),
      ...list("l2", 5, [], { limit: 1, after: "l1" }),
      whole,
    ],
  ],
  [
    "S8",
    "a wrong number that remain",
    [
      ...story.slice(0, 6),
      ...list("l", 4, [row(a, 3, two)], { limit: 1, hasMore: true, remaining: 2 }),
      ...story.slice(6),
      whole,
    ],
  ],
  ["S8", "a state that is short", [...story, ...watch([mark(5, true)], { from: "state" }), whole]],
  ["S9", "a lost change", [...story, ...watch([item(added), item(other)]), whole]],
  ["S9", "a change twice", [...story, ...watch([item(added), item(added)]), whole]],
  [
    "S9",
    "changes out of order",
    [...story, ...watch([item(added), item(modified), item(added)]), whole],
  ],
  [
    "S9",
    "a change that was never made",
    [...story, ...watch([item({ ...added, revision: 9 })], { from: 5 }), whole],
  ],
  ["S9", "a change that never comes", [...story, ...watch([item(added)], { quiet: 5 }), whole]],
  [
    "S9",
    "a position beyond what came",
    [...story, ...watch([item(added)]), { type: "ended", watch: "w", position: 5 }, whole],
  ],
  [
    "S9",
    "a position before its state came",
    [...story, ...watch([], { from: "state" }), { type: "ended", watch: "w", position: 5 }, whole],
  ],
  [
    "S10",
    "a slow watcher's loss",
    [...story, ...watch([item(added), item(other)], { pace: "slow" }), whole],
  ],
  [
    "S10",
    "a watcher that expires without a cut",
    [
      ...story,
      ...watch([item(added)]),
      { type: "ended", watch: "w", position: 2, error: { code: "Expired", message: "" } },
      whole,
    ],
  ],
  [
    "S11",
    "leaving that is not seen",
    [...story, ...watch([item(added), item(other)], { app: "x" }), whole],
  ],
  [
    "S11",
    "leaving with the new state",
    [
      ...story,
      ...watch([item(added), item({ ...modified, type: "DELETED" })], { app: "x" }),
      whole,
    ],
  ],
  ["S11", "entering as a change", [...story, ...watch([item(modified)], { app: "y" }), whole]],
  ["S11", "a stranger", [...story, ...watch([item(added)], { app: "y" }), whole]],
  [
    "S12",
    "a mark before what it covers",
    [...story, ...watch([item(added), mark(3), item(modified)]), whole],
  ],
  [
    "S12",
    "a mark that goes back",
    [...story, ...watch([item(added), item(modified), mark(2)]), whole],
  ],
  [
    "S12",
    "no mark at the end of the state",
    [...story, ...watch([], { from: "state", quiet: 5 }), whole],
  ],
  [
    "S13",
    "a log that is shorter than its floor says",
    [...story, whole, look([], 5, 1, [other, deleted])],
  ],
  ["S13", "an entry below the floor", [...story, whole, look([], 5, 3, log)]],
  [
    "S13",
    "a watch from below the floor",
    [...story, whole, look([], 5, 4, [deleted]), ...watch([item(deleted)], { from: 3 })],
  ],
  [
    "S13",
    "a list that expires without a cut",
    [
      ...story.slice(0, 6),
      ...list("l1", 4, [row(a, 3, two)], { limit: 1, hasMore: true }),
      ask("l2", { op: "list", scope, limit: 1, after: "l1" }),
      failure("l2", "Expired"),
      ...story.slice(6),
      whole,
    ],
  ],
  [
    "S14",
    "an equal update with a revision",
    [
      ...story.slice(0, 2),
      ...update("c9", row(a, 3, one), { revision: 2 }),
      ...story.slice(2),
      whole,
    ],
  ],
  [
    "S14",
    "an entry equal to the one before",
    [
      ...create("c1", added),
      ...update("c2", row(a, 3, one), { revision: 2 }),
      look([added, { ...modified, body: one }], 3),
    ],
    { rows: [row(a, 3, one)] },
  ],
  [
    "S15",
    "silence after a lost wake-up",
    [...story, { type: "deaf", replica: "r" }, ...watch([item(added)], { quiet: 5 }), whole],
  ],
  [
    "S16",
    "two servers on a file",
    [
      ...story,
      whole,
      { type: "serving", server: "1", file: "f" },
      { type: "serving", server: "2", file: "f" },
    ],
  ],
  [
    "S17",
    "an object that is not found while the database is away",
    [
      ...story.slice(0, 2),
      ask("g", { op: "get", key: a }),
      struck,
      failure("g", "NotFound"),
      ...story.slice(2),
      whole,
    ],
  ],
  [
    "S17",
    "a failure that is not owned up to",
    [...story, ask("g", { op: "get", key: b }), struck, failure("g", "TypeError"), whole],
  ],
  [
    "S17",
    "a replica that hangs",
    [...story, whole, { type: "stuck", replica: "r", before: "heal" }],
  ],
  ["S17", "a database that stays away", [struck, ...story, ...get("g", "Unavailable"), whole]],
];

suite("checker", () => {
  for (const [name, happenings] of Object.entries(good)) {
    test(`is content with ${name}`, () => {
      const last = happenings.findLast((happening) => happening.type === "observed");
      const bounds = last === undefined ? {} : { head: last.head, floor: last.floor };
      assert.deepEqual(checkHistory(history(happenings, bounds)), []);
    });
  }

  for (const [invariant, name, happenings, tables] of bad) {
    test(`${invariant}: finds ${name}`, () => {
      const verdicts = checkHistory(history(happenings, tables));
      assert.ok(
        verdicts.some((verdict) => verdict.invariant === invariant),
        `found ${JSON.stringify(verdicts)}`,
      );
    });
  }
});
