// A connection to the file, its settings and its prepared statements.

import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import type { Bounds, OnStatement } from "../backend.ts";
import { type Key, splitKind } from "../key.ts";
import { migrate } from "./migrate.ts";
import { type built, statements, type StatementName } from "./statements.ts";

/** A connection and its prepared statements. */
export class Connection {
  readonly #database: DatabaseSync;
  readonly #onStatement: OnStatement;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(database: DatabaseSync, onStatement: OnStatement) {
    this.#database = database;
    this.#onStatement = onStatement;
  }

  run(name: keyof typeof statements, ...parameters: SQLInputValue[]) {
    return this.#statement(name, statements[name]).run(...parameters);
  }

  one(name: keyof typeof statements, ...parameters: SQLInputValue[]) {
    return this.#statement(name, statements[name]).get(...parameters);
  }

  all(name: keyof typeof statements, ...parameters: SQLInputValue[]) {
    return this.#statement(name, statements[name]).all(...parameters);
  }

  iterate(name: keyof typeof statements, ...parameters: SQLInputValue[]) {
    return this.#statement(name, statements[name]).iterate(...parameters);
  }

  /** Rows as arrays: there may be many. */
  build(name: keyof typeof built, text: string, ...parameters: SQLInputValue[]): unknown[] {
    const statement = this.#statement(name, text);
    statement.setReturnArrays(true);
    return statement.all(...parameters);
  }

  /** Floor and head as they stand in the file. */
  bounds(): Bounds {
    const { head, floor } = this.one("selectBounds") as unknown as Bounds;
    return { head, floor };
  }

  /** Everything that `run` reads is of one moment. */
  snapshot<T>(run: () => T): T {
    this.#database.exec("BEGIN");
    try {
      return run();
    } finally {
      this.#database.exec("COMMIT");
    }
  }

  rollback(): void {
    // A failed COMMIT may have rolled back already.
    if (this.#database.isTransaction) this.#database.exec(statements.rollback);
  }

  close(): void {
    this.#database.close();
  }

  #statement(name: StatementName, text: string): StatementSync {
    this.#onStatement(name);
    let statement = this.#prepared.get(text);
    if (statement === undefined) {
      if (this.#prepared.size >= preparedMax) this.#prepared.clear();
      statement = this.#database.prepare(text);
      this.#prepared.set(text, statement);
    }
    return statement;
  }
}

/** Selectors make texts of their own; beyond this many the connection starts over. */
const preparedMax = 256;

/** The one connection that writes; it migrates the file first. */
export function openWriter(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 5000 });
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA fullfsync = ON;
    PRAGMA wal_autocheckpoint = 4000;
    PRAGMA journal_size_limit = 67108864;
    PRAGMA cache_size = -8192;
    PRAGMA temp_store = MEMORY;
  `);
  migrate(database);
  return database;
}

/** A connection that sees what is committed. */
export function openReader(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
  database.exec("PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY;");
  return database;
}

/** The columns that name an object, in the order of the key. */
export function keyParameters({ kind, namespace, name }: Key): [string, string, string, string] {
  const split = splitKind(kind);
  return [split.group, split.kind, namespace, name];
}
