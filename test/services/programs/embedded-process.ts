// Runs the embedded PostgreSQL in a folder until SIGTERM, or until it is killed; says where, or why not.

import { once } from "node:events";
import { PostgresServerError, startEmbeddedPostgres } from "@keelson/database";

try {
  const dataDir = process.argv[2] ?? "";
  await using server = await startEmbeddedPostgres({ dataDir }, new AbortController().signal);
  process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
  const alive = setInterval(() => {}, 60_000);
  await once(process, "SIGTERM");
  clearInterval(alive);
} catch (error) {
  if (!(error instanceof PostgresServerError)) throw error;
  process.stdout.write(`${JSON.stringify({ code: error.code, message: error.message })}\n`);
}
