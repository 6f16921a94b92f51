// Runs the embedded PostgreSQL in a folder until SIGTERM, or until it is killed; says where, or why not.

import { once } from "node:events";
import { PostgresServerError, startEmbeddedPostgres } from "@keelson/database";

try {
  const dataDir = process.argv[2] ?? "";
  await using server = await startEmbeddedPostgres({ dataDir }, new AbortController().signal);
  const ended = once(process, "SIGTERM"); // Before a word is said: whoever hears it may end us at once.
  const alive = setInterval(() => {}, 60_000);
  process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
  await ended;
  clearInterval(alive);
} catch (error) {
  if (!(error instanceof PostgresServerError)) throw error;
  process.stdout.write(`${JSON.stringify({ code: error.code, message: error.message })}\n`);
}
