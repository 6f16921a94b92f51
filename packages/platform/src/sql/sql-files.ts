// Migrations that are SQL files: in the order of their names, each once, each in a transaction with the note that it ran.

import { createHash } from "node:crypto";
import { systemClock, type Clock } from "@keelson/base";
import { parseConnectionUrl } from "./connection-parts.ts";
import { literal, quoted } from "./identifier.ts";
import { Session } from "./session.ts";

export interface SqlFile {
  readonly name: string;
  readonly text: string;
}

/** A file did not run; those before it did, and stay. */
export class MigrationFailed extends Error {
  override readonly name = "MigrationFailed";
  readonly file: string;

  constructor(file: string, message: string, options: ErrorOptions) {
    super(`${file}: ${message}`, options);
    this.file = file;
  }
}

/** A migration may rewrite a table; whoever waits for it has a deadline of its own. */
const timeoutMs = 1_500_000;

/**
 * Runs those of `files` that have not run, and resolves with their names. Stops at the first that fails. Two that do so
 * at once take turns. A file that was changed after it ran is refused: what it would do now has not been done.
 */
export async function applySqlFiles(
  {
    url,
    schema,
    files,
    clock = systemClock,
  }: {
    readonly url: string;
    readonly schema: string;
    readonly files: readonly SqlFile[];
    readonly clock?: Clock;
  },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const parts = parseConnectionUrl(url);
  const session = await Session.open({ parts, timeoutMs, clock, searchPath: quoted(schema) });
  // Named in full: a file may look for its names elsewhere.
  const ledger = `${quoted(schema)}._plattr_migrations`;
  try {
    await session.run(
      {
        name: "createLedger",
        // Everybody may read an app's tables; which files it has run is nobody's business.
        text: `SELECT pg_advisory_lock(hashtext('plattr migrations'), hashtext(${literal(schema)}));
CREATE TABLE IF NOT EXISTS ${ledger} (name text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now());
ALTER TABLE ${ledger} ENABLE ROW LEVEL SECURITY`,
      },
      signal,
    );
    const rows = await session.run<{ readonly name: string; readonly sha256: string }>(
      { name: "readLedger", text: `SELECT name, sha256 FROM ${ledger}` },
      signal,
    );
    const done = new Map(rows.map(({ name, sha256 }) => [name, sha256]));
    const applied: string[] = [];
    for (const { name, text } of inOrder(files)) {
      const sha256 = createHash("sha256").update(text).digest("hex");
      const before = done.get(name);
      if (before === sha256) continue;
      if (before !== undefined) {
        throw new MigrationFailed(name, "it was changed after it ran: add a new file instead", {});
      }
      await applyFile(session, { name, text, sha256, ledger }, signal);
      applied.push(name);
    }
    return applied;
  } finally {
    await session.close();
  }
}

async function applyFile(
  session: Session,
  { name, text, sha256, ledger }: SqlFile & { readonly sha256: string; readonly ledger: string },
  signal: AbortSignal,
): Promise<void> {
  try {
    await session.run({ name: "reset", text: "RESET ALL" }, signal);
    await session.run({ name: "markBefore", text: "SET keelson.file TO 'before'" }, signal);
    await session.transaction(async () => {
      // No query: a file may begin with SET TRANSACTION, which has to be before any.
      await session.run({ name: "markTransaction", text: "SET keelson.file TO 'begun'" }, signal);
      // Some editors mark the encoding, which is no SQL; psql passes over it, too.
      await session.run({ name, text: text.replace(/^\u{feff}/u, "") }, signal);
      const [ended] = await session.run<{ readonly mark: string | null }>(
        { name: "readMark", text: "SELECT current_setting('keelson.file', true) AS mark" },
        signal,
      );
      // What undoes the transaction brings back what was there before it; RESET ALL leaves nothing.
      if (ended?.mark === "before") {
        throw new Error("it ends with ROLLBACK what it is run in: nothing before that stays");
      }
      await session.run(
        {
          name: "noteFile",
          text: `INSERT INTO ${ledger} (name, sha256) VALUES ($1, $2)`,
          values: [name, sha256],
        },
        signal,
      );
      // What needs the new tables reads them anew.
      await session.run({ name: "notify", text: "NOTIFY pgrst, 'reload schema'" }, signal);
    }, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new MigrationFailed(name, (error as Error).message, { cause: error });
  }
}

/** By their characters, the same everywhere: not as some language sorts them. */
function inOrder(files: readonly SqlFile[]): SqlFile[] {
  return files.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
