// Planted bugs of watches and of the log that a simulated run shows.

import type { Mutant } from "./mutant.ts";

export const simulatedWatches: readonly Mutant[] = [
  {
    name: "a watch resumes at its revision instead of after it",
    invariant: "S9",
    stage: "simulation",
    edits: [
      {
        file: "log-reader.ts",
        find: "if ((changes[middle]?.revision ?? 0) > revision) high = middle;",
        replace: "if ((changes[middle]?.revision ?? 0) >= revision) high = middle;",
      },
    ],
  },
  {
    name: "the cursor advances before a read that fails",
    invariant: "S9",
    stage: "simulation",
    edits: [
      {
        file: "watch.ts",
        find: "const { changes, through } = await reader.after(this.#position, this.#signal);",
        replace:
          "const before = this.#position;\n      this.#position = hub.cursor;\n      const { changes, through } = await reader.after(before, this.#signal);",
      },
    ],
  },
  {
    name: "only the last version of an object is handed out",
    invariant: "S9",
    stage: "simulation",
    circumstances: { emphasis: { watch: 3, readSlow: 3, compact: 0, restartDatabase: 0 } },
    edits: [
      {
        file: "watch.ts",
        find: "    this.#position = changes.at(-1)?.revision ?? this.#position;\n    return changes;",
        replace:
          "    this.#position = changes.at(-1)?.revision ?? this.#position;\n    return [...new Map(changes.map((change) => [JSON.stringify(change.key), change])).values()];",
      },
    ],
  },
  {
    name: "a batch is published though others lie between",
    invariant: "S9",
    stage: "simulation",
    edits: [
      {
        file: "log-feed.ts",
        find: "first.revision !== hub.cursor + 1",
        replace: "first.revision <= hub.cursor",
      },
    ],
  },
  {
    name: "a watch that is let go forgets what waited in its buffer",
    invariant: "S9",
    stage: "simulation",
    circumstances: { emphasis: { watch: 3, closeWatch: 4, readSlow: 2 } },
    edits: [
      {
        file: "watch.ts",
        find: "    this.#position = this.position;\n    this.#isLive = false;\n",
        replace: "",
      },
    ],
  },
  {
    name: "a watch stands at its state before it has handed it out",
    invariant: "S9",
    stage: "simulation",
    edits: [
      {
        file: "watch.ts",
        find: "    if (this.#initial !== undefined) return 0;\n",
        replace: "",
      },
    ],
  },
  {
    name: "a full buffer is dropped",
    invariant: "S10",
    stage: "simulation",
    circumstances: { emphasis: { watch: 3, readSlow: 3, compact: 0, restartDatabase: 0 } },
    edits: [
      {
        file: "watch.ts",
        find: "      this.#leaveLive();\n    } else {",
        replace: "      this.#buffer = [];\n    } else {",
      },
    ],
  },
  {
    name: "a watch expires with another's page of the log",
    invariant: "S10",
    stage: "simulation",
    edits: [
      {
        file: "log-reader.ts",
        find: "        if (error.floor > revision) throw new Expired(revision, error.floor);\n        start = error.floor;\n",
        replace: "        throw error;\n",
      },
    ],
  },
  {
    name: "selectors ignore the old state",
    invariant: "S11",
    stage: "simulation",
    edits: [
      {
        file: "change.ts",
        find: "const before = previous !== undefined && matches(this.selector, previous.value);",
        replace: 'const before = change.type !== "ADDED";',
      },
    ],
  },
  {
    name: "an object that stops to match leaves with its new state",
    invariant: "S11",
    stage: "simulation",
    edits: [
      {
        file: "change.ts",
        find: 'type: "DELETED", body: previous })',
        replace: 'type: "DELETED" })',
      },
    ],
  },
  {
    name: "a mark says how far the hub has come",
    invariant: "S12",
    stage: "simulation",
    edits: [
      {
        file: "watch.ts",
        find: 'return [{ type: "BOOKMARK", revision: this.position, initialEventsEnd: false }];',
        replace:
          'return [{ type: "BOOKMARK", revision: this.#options.hub.cursor, initialEventsEnd: false }];',
      },
    ],
  },
  {
    name: "the floor rises after the cut",
    invariant: "S13",
    stage: "simulation",
    circumstances: { emphasis: { compact: 5, fail: 5 } },
    edits: [
      {
        file: "sqlite/transactions.ts",
        find: '      this.#writer.run("deleteChanges", last);\n      this.#writer.run("updateBounds", head, floor);\n',
        replace:
          '      this.#writer.run("deleteChanges", last);\n      void Promise.resolve()\n        .then(() => this.#writer.run("updateBounds", head, floor))\n        .catch(() => undefined);\n',
      },
    ],
  },
  {
    name: "the log is read without a look at the floor",
    invariant: "S13",
    stage: "simulation",
    edits: [
      {
        file: "sqlite/backend.ts",
        find: "      if (after < floor) throw new Expired(after, floor);\n",
        replace: "",
      },
      {
        file: "store.ts",
        find: "        if (from < floor) {",
        replace: "        if (from < 0) {",
      },
    ],
  },
  {
    name: "a lost wake-up has no poll behind it",
    invariant: "S15",
    stage: "simulation",
    edits: [
      {
        file: "log-feed.ts",
        find: "    using _timer = this.#options.clock.after(ms, resolve);\n",
        replace: "    void ms;\n",
      },
    ],
  },
];
