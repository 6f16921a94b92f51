// An app's URL as apps use it: by psql, and by the two drivers of Node.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { systemPostgresFound } from "@keelson/database/testing";
import { Client } from "pg";
import postgres from "postgres";

/** The search path that each finds there. Where psql is missing, which its own test says, there is one driver's more. */
export async function searchPathsAt(url: string): Promise<readonly string[]> {
  const withPsql = (await systemPostgresFound()) ? byPsql : byPostgres;
  return await Promise.all([withPsql(url), byPg(url), byPostgres(url)]);
}

async function byPsql(url: string): Promise<string> {
  const { stdout } = await promisify(execFile)("psql", [url, "-Atc", "SHOW search_path"]);
  return stdout.trim();
}

async function byPg(connectionString: string): Promise<string> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ search_path: string }>("SHOW search_path");
    return rows[0]?.search_path ?? "";
  } finally {
    await client.end();
  }
}

async function byPostgres(url: string): Promise<string> {
  const sql = postgres(url, { max: 1, fetch_types: false });
  try {
    const [row] = await sql.unsafe<{ search_path: string }[]>("SHOW search_path");
    return row?.search_path ?? "";
  } finally {
    await sql.end({ timeout: 5 });
  }
}
