#!/usr/bin/env node
// Both controllers, before the server that runs here: `npm start` in one terminal, `npm run examples` in another.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sse, type Log } from "@keelson/sdk";
import { dns } from "./dns.ts";
import { versionResolution } from "./version-resolution.ts";

const where = { api: { url: serverUrl() }, transport: sse(), log: plainLog() };
const controllers = [versionResolution(where), dns(where)];

for (const controller of controllers) await controller.start();
console.log(`${controllers.map(({ name }) => name).join(" and ")} follow ${where.api.url}`);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    void Promise.all(controllers.map((controller) => controller.stop())).then(() =>
      process.exit(0),
    );
  });
}

/** `KEELSON_SERVER`, or the one that says in its data folder where it is. */
function serverUrl(): string {
  // An empty variable counts as unset, as everywhere.
  const given = process.env["KEELSON_SERVER"] || undefined;
  if (given !== undefined) return given;
  const file = join(process.env["KEELSON_DATA_DIR"] || ".keelson", "run.json");
  try {
    return (JSON.parse(readFileSync(file, "utf8")) as { readonly rest: string }).rest;
  } catch (error) {
    const hint = "start one with npm start, or set KEELSON_SERVER";
    throw new Error(`no server says in ${file} that it is running: ${hint}`, { cause: error });
  }
}

function plainLog(fields: object = {}): Log {
  const say = (more: object, message: string): void => {
    console.log(message, JSON.stringify({ ...fields, ...more }));
  };
  return {
    debug: () => undefined,
    info: say,
    warn: say,
    error: say,
    child: (more) => plainLog({ ...fields, ...more }),
  };
}
