// PostgreSQL refuses to run as root, so under root it runs as somebody else.

import { readFile, stat } from "node:fs/promises";
import { PostgresServerError } from "./errors.ts";

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The account PostgreSQL runs as: undefined, that is our own, unless we are root. Under root it is
 * the owner of a data folder that exists, else `postgres`, else `nobody`.
 */
export async function accountFor(dataDir: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;

  const owner = await stat(dataDir).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };

  const accounts = parseAccounts(await readFile("/etc/passwd", "utf8"));
  const account = accounts.get("postgres") ?? accounts.get("_postgres") ?? accounts.get("nobody");
  if (account === undefined) {
    throw new PostgresServerError(
      "account-missing",
      "PostgreSQL does not run as root, and there is no user postgres or nobody to run it as",
    );
  }
  return account;
}

function parseAccounts(passwd: string): ReadonlyMap<string, Account> {
  return new Map(
    passwd
      .split("\n")
      .map((line) => line.split(":"))
      .filter((fields) => fields.length >= 4)
      .map(([name = "", , uid, gid]) => [
        name,
        { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }, // macOS writes nobody as -2.
      ]),
  );
}
