#!/usr/bin/env node
// Runs the SQL files of a folder in the app's database, for the Job that migrates it.
//   DATABASE_URL=… DB_SCHEMA=… apply-sql-files.js /migrations

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { applySqlFiles } from "../src/sql/sql-files.ts";

const [folder] = process.argv.slice(2);
const { DATABASE_URL: url, DB_SCHEMA: schema } = process.env;
if (folder === undefined || url === undefined || schema === undefined) {
  process.stderr.write("usage: DATABASE_URL=… DB_SCHEMA=… apply-sql-files.js <folder>\n");
  process.exit(2);
}
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort(new Error("told to stop")));
try {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql"));
  const files = await Promise.all(
    names.map(async (name) => ({ name, text: await readFile(join(folder, name), "utf8") })),
  );
  const applied = await applySqlFiles({ url, schema, files }, stop.signal);
  for (const name of applied) process.stdout.write(`applied ${name}\n`);
  process.stdout.write(`${applied.length} of ${files.length} files were new\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
