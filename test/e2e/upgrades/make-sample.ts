#!/usr/bin/env node
// Keeps samples of what this version makes of a data folder: npm run upgrades:sample. It needs the machine's own PostgreSQL, for pg_dump.

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { startThrowawayPostgres } from "@keelson/database/testing";
import { KeelsonProcess, temporaryFolder } from "../keelson-process.ts";
import { fill } from "./fill.ts";
import { writeParts, writeWhole } from "./sample.ts";

const { signal } = new AbortController();
const flags = ["--simulate-workloads=false"];

await keepParts();
await keepWhole();

/** With a PostgreSQL of one's own: what it holds as SQL. */
async function keepParts(): Promise<void> {
  await using folder = await temporaryFolder();
  await using server = await startThrowawayPostgres({ flavour: "system" });
  await using database = await server.createDatabase();
  const dataDir = join(folder.path, "data");
  await using keelson = new KeelsonProcess(dataDir, {
    flags: ["--database-url", database.url, ...flags],
  });
  const running = await keelson.ready();
  const facts = await fill(running, signal);
  await keelson.stop();
  const { stdout } = await promisify(execFile)(
    join(server.bin, "pg_dump"),
    ["--inserts", "--no-owner", "--no-privileges", database.url],
    { maxBuffer: 100_000_000 },
  );
  // Lines for psql alone are none of SQL's.
  const dump = stdout.replaceAll(/^\\.*$/gm, "");
  await writeParts(running.version, { dataDir, dump, facts });
}

/** With the PostgreSQL that comes with us: the folder as it is. */
async function keepWhole(): Promise<void> {
  await using folder = await temporaryFolder();
  const dataDir = join(folder.path, "data");
  await using keelson = new KeelsonProcess(dataDir, { flags });
  const running = await keelson.ready();
  const facts = await fill(running, signal);
  await keelson.stop();
  await writeWhole(running.version, { dataDir, facts });
}
