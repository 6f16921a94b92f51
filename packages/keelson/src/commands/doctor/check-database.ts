// The PostgreSQL that settings name.

import { DatabaseError, openDatabase, serverFacts } from "@keelson/database";
import { withoutPassword } from "../../config/show.ts";
import { failed, ok, type Finding } from "./finding.ts";

/** From here on everything works. */
const majorMin = 15;

export interface DatabaseChecked {
  readonly finding: Finding;
  /** What its clock says, where it answered. */
  readonly atMs: number | undefined;
}

export async function checkDatabase(url: string, signal: AbortSignal): Promise<DatabaseChecked> {
  const check = "PostgreSQL";
  const shown = withoutPassword(url);
  const reach = "see that it runs there and lets this machine in, or mend KEELSON_DATABASE_URL";
  try {
    await using database = openDatabase({ url, name: "doctor", connectionsMax: 1 });
    const [row] = await database.run(serverFacts, undefined, signal);
    if (row === undefined)
      return { finding: failed(check, `${shown} is silent`, reach), atMs: undefined };
    const { version, at } = row;
    const isOld = Number.parseInt(version, 10) < majorMin;
    return {
      finding: isOld
        ? failed(check, `${version} at ${shown} is too old`, `take version ${majorMin} or newer`)
        : ok(check, `${version} at ${shown}`),
      atMs: Number(at),
    };
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    return { finding: failed(check, `${shown}: ${error.message}`, reach), atMs: undefined };
  }
}
