// Planted bugs: mistakes that one could really make, each with the promise that it breaks.

import type { Invariant } from "../checker.ts";
import type { Misfortune } from "../processes/postgres-rounds.ts";
import type { SimulationOptions } from "../simulate.ts";

export interface Mutant {
  readonly name: string;
  readonly invariant: Invariant;
  /** Where the bug shows: in a simulated run, or only on a real PostgreSQL. */
  readonly stage: "simulation" | "postgresql";
  /** For a bug that shows itself rarely: under which circumstances it does. */
  readonly circumstances?: Pick<SimulationOptions, "emphasis" | "climate" | "steps">;
  /** On PostgreSQL: what must befall it. */
  readonly misfortunes?: readonly Misfortune[];
  readonly edits: readonly Edit[];
}

export interface Edit {
  /** Below `packages/store/src`. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
}

export const mutants: readonly Mutant[] = [
  {
    name: "the head is taken from the log after a restart",
    invariant: "S1",
    stage: "simulation",
    circumstances: { emphasis: { restartDatabase: 3, compact: 4 } },
    edits: [
      {
        file: "sqlite/backend.ts",
        find: "      this.#bounds = this.#boundsNow();\n    } catch (error) {\n      throw toStoreError(error);",
        replace:
          '      const bounds = this.#boundsNow();\n      const last = this.#reader.one("selectLast")?.["last"];\n      this.#bounds = { ...bounds, head: Number(last ?? bounds.floor) };\n    } catch (error) {\n      throw toStoreError(error);',
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
    name: "revisions come from a sequence",
    invariant: "S2",
    stage: "postgresql",
    edits: [
      {
        file: "postgres/migrations/0001-init.sql",
        find: "  SELECT m.head INTO counter FROM meta m FOR UPDATE;\n",
        replace: "  counter := nextval('revisions');\n",
      },
      {
        file: "postgres/migrations/0001-init.sql",
        find: "-- Commits a batch of writes,",
        // Steps of a thousand: a batch takes the numbers between.
        replace:
          "CREATE SEQUENCE revisions INCREMENT 1000 START 1000;\n-- Commits a batch of writes,",
      },
      // A write without company has a function of its own.
      {
        file: "postgres/migrations/0001-init.sql",
        find: "  SELECT m.head INTO revision FROM meta m FOR UPDATE;\n",
        replace: "  revision := nextval('revisions');\n",
      },
      {
        file: "postgres/migrations/0001-init.sql",
        find: "UPDATE meta m SET head = revision;",
        replace: "UPDATE meta m SET head = greatest(m.head, revision);",
      },
      {
        file: "postgres/migrations/0001-init.sql",
        find: "UPDATE meta m SET head = (SELECT max(n.revision) FROM numbered n)",
        replace:
          "UPDATE meta m SET head = greatest(m.head, (SELECT max(n.revision) FROM numbered n))",
      },
    ],
  },
  {
    name: "the log entry of a create is written after its transaction",
    invariant: "S3",
    stage: "simulation",
    edits: [
      {
        file: "sqlite/backend.ts",
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
        file: "sqlite/backend.ts",
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
        file: "sqlite/backend.ts",
        find: '        this.#writer.run("commit");\n',
        replace:
          '        void Promise.resolve()\n          .then(() => this.#writer.run("commit"))\n          .catch(() => this.#writer.rollback());\n',
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
        find: "      const body = await this.#sameOr(key, change, signal);\n",
        replace:
          "      const current = await this.#find(key, signal);\n      if (current !== undefined && current.revision !== expect.revision) throw new Conflict(key, expect, current);\n      const body = await this.#sameOr(key, change, signal);\n",
      },
      {
        file: "sqlite/backend.ts",
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
        file: "sqlite/backend.ts",
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
        file: "store.ts",
        find: "const isLevel = this.#hub.cursor >= head && head >= before;",
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
        file: "store.ts",
        find: "if (row !== undefined && this.#hub.cursor <= head) this.#cache.put(row);",
        replace: "if (row !== undefined && head > 0) this.#cache.put(row);",
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
        find: "at === head ? scanNow(",
        replace: "at <= head ? scanNow(",
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
        file: "sqlite/backend.ts",
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
    name: "an equal update writes",
    invariant: "S14",
    stage: "simulation",
    edits: [
      {
        file: "sqlite/backend.ts",
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
        find: "return jsonEqual(stored.body.value, body.value) ? stored.body : body;",
        replace: "return stored.body.text === body.text ? stored.body : body;",
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
        find: "      const row = await this.#find(key, signal);\n",
        replace: "      const row = await this.#find(key, signal).catch(() => undefined);\n",
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
