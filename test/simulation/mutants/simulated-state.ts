// Planted bugs of writes and reads that a simulated run shows.

import type { Mutant } from "./mutant.ts";

export const simulatedState: readonly Mutant[] = [
  {
    name: "of a batch that failed only the first writer hears",
    invariant: "S17",
    stage: "simulation",
    edits: [
      {
        file: "commit-queue.ts",
        find: "      else for (const { reject } of batch) reject(error);\n",
        replace: "      else batch[0]?.reject(error);\n",
      },
    ],
  },
  {
    name: "the head is taken from the log after a restart",
    invariant: "S1",
    stage: "simulation",
    circumstances: { emphasis: { restartDatabase: 3, compact: 4 } },
    edits: [
      {
        file: "sqlite/transactions.ts",
        find: "    this.#bounds = writer.bounds();\n",
        replace:
          '    const bounds = writer.bounds();\n    const last = writer.one("selectLast")?.["last"];\n    this.#bounds = { ...bounds, head: Number(last ?? bounds.floor) };\n',
      },
      {
        file: "sqlite/statements.ts",
        find: '  selectBounds: "SELECT head, floor FROM meta",',
        replace:
          '  selectBounds: "SELECT head, floor FROM meta",\n  selectLast: "SELECT max(revision) AS last FROM changes",',
      },
    ],
  },
  {
    name: "the log entry of a create is written after its transaction",
    invariant: "S3",
    stage: "simulation",
    edits: [
      {
        file: "sqlite/transactions.ts",
        find: '      this.#writer.run("insertChange", revision, "ADDED", ...key, uid, text, null, null);',
        replace:
          '      void Promise.resolve()\n        .then(() => this.#writer.run("insertChange", revision, "ADDED", ...key, uid, text, null, null))\n        .catch(() => undefined);',
      },
    ],
  },
  {
    name: "deletions are not counted",
    invariant: "S3",
    stage: "simulation",
    edits: [
      {
        file: "sqlite/transactions.ts",
        find: 'if (write.type !== "update") addGrowth(',
        replace: 'if (write.type === "create") addGrowth(',
      },
    ],
  },
  {
    name: "writes are acknowledged before the commit",
    invariant: "S4",
    stage: "simulation",
    edits: [
      {
        file: "sqlite/transactions.ts",
        find: '      this.#writer.run("commit");\n',
        replace:
          '      void Promise.resolve()\n        .then(() => this.#writer.run("commit"))\n        .catch(() => this.#writer.rollback());\n',
      },
    ],
  },
  {
    name: "what an update expects is compared before its transaction",
    invariant: "S5",
    stage: "simulation",
    edits: [
      {
        file: "store.ts",
        find: "      const replaced = change.replaced ?? (await this.#reads.bodyAt(key, expect.revision, signal));\n",
        replace:
          "      const current = await this.#reads.find(key, signal);\n      if (current !== undefined && current.revision !== expect.revision) throw new Conflict(key, expect, current);\n      const replaced = change.replaced ?? (await this.#reads.bodyAt(key, expect.revision, signal));\n",
      },
      {
        file: "sqlite/transactions.ts",
        find: "    if (expect.revision !== undefined && expect.revision !== actual.revision)",
        replace:
          '    if (write.type === "delete" && expect.revision !== undefined && expect.revision !== actual.revision)',
      },
    ],
  },
  {
    name: "one conflict fails its whole batch",
    invariant: "S6",
    stage: "simulation",
    edits: [
      {
        file: "sqlite/transactions.ts",
        find: '        if (outcome.type !== "written") return outcome;\n',
        replace:
          '        if (outcome.type === "conflict") throw new Error("conflict");\n        if (outcome.type !== "written") return outcome;\n',
      },
    ],
  },
  {
    name: "the cache answers without a look at the head",
    invariant: "S7",
    stage: "simulation",
    edits: [
      {
        file: "object-reads.ts",
        find: "const isLevel = cursor() >= head && head >= before;",
        replace: "const isLevel = head > 0 && before > 0;",
      },
    ],
  },
  {
    name: "a read puts an old row into the cache",
    invariant: "S7",
    stage: "simulation",
    circumstances: {
      steps: 1000,
      emphasis: { get: 5, list: 0, watch: 0, compact: 0, fail: 0, restartDatabase: 0 },
      climate: { turnsMax: 4, loss: 0, wakeLoss: 0 },
    },
    edits: [
      {
        file: "object-reads.ts",
        find: "if (row !== undefined && cursor() <= head) cache.put(row);",
        replace: "if (row !== undefined && head > 0) cache.put(row);",
      },
    ],
  },
  {
    name: "later pages show the state as it is by then",
    invariant: "S8",
    stage: "simulation",
    edits: [
      {
        file: "sqlite/backend.ts",
        find: "at === head\n          ? scanNow(",
        replace: "at <= head\n          ? scanNow(",
      },
    ],
  },
  {
    name: "a list takes from memory what is not level with the head",
    invariant: "S8",
    stage: "simulation",
    circumstances: {
      emphasis: { list: 8, watch: 0, compact: 0, fail: 0, restartDatabase: 0 },
      climate: { turnsMax: 4, loss: 0, wakeLoss: 0 },
    },
    edits: [
      {
        file: "sqlite/scan.ts",
        find: "return known?.at === head ? known : undefined;",
        replace: "return head > 0 ? known : undefined;",
      },
    ],
  },
  {
    name: "what remains is counted by a log that was cut",
    invariant: "S8",
    stage: "simulation",
    circumstances: {
      emphasis: { list: 8, compact: 10, get: 0, watch: 0 },
      climate: { turnsMax: 2, loss: 0, wakeLoss: 0 },
    },
    edits: [
      {
        file: "sqlite/backend.ts",
        find: "return Number(now);\n      if (at < floor) throw new Expired(at, floor);\n",
        replace: "return Number(now);\n",
      },
    ],
  },
  {
    name: "lists are in UTF-16 order",
    invariant: "S8",
    stage: "simulation",
    edits: [
      {
        file: "sqlite/scan.ts",
        find: "rows: [...unchanged, ...past].sort((a, b) => comparePositions(a.key, b.key)),",
        replace:
          "rows: [...unchanged, ...past].sort((a, b) => (a.key.namespace + a.key.name < b.key.namespace + b.key.name ? -1 : 1)),",
      },
    ],
  },
  {
    name: "an equal update writes",
    invariant: "S14",
    stage: "simulation",
    edits: [
      {
        file: "sqlite/transactions.ts",
        find: '    if (text === current.object) return { type: "unchanged", revision: actual.revision };\n',
        replace: "",
      },
    ],
  },
  {
    name: "an update that is equal but for its order writes",
    invariant: "S14",
    stage: "simulation",
    edits: [
      {
        file: "store.ts",
        find: "return stored.text.length === body.text.length && jsonEqual(stored.value, body.value);",
        replace: "return stored.text === body.text;",
      },
    ],
  },
  {
    name: "the lock file is opened but not locked",
    invariant: "S16",
    stage: "simulation",
    edits: [
      {
        file: "sqlite/lock.ts",
        find: '    database.exec("BEGIN EXCLUSIVE");\n',
        replace: '    database.exec("BEGIN");\n',
      },
    ],
  },
  {
    name: "a failed read is taken for a missing object",
    invariant: "S17",
    stage: "simulation",
    edits: [
      {
        file: "store.ts",
        find: "      const row = await this.#reads.find(key, signal);\n",
        replace: "      const row = await this.#reads.find(key, signal).catch(() => undefined);\n",
      },
    ],
  },
  {
    name: "a disk error passes as it is",
    invariant: "S17",
    stage: "simulation",
    edits: [
      {
        file: "sqlite/errors.ts",
        find: "    case codes.io:\n",
        replace: "",
      },
    ],
  },
];
