#!/usr/bin/env node
// Brings what the tests of the platform need besides the oracle's programs: Keycloak, nginx and moto, into the cache.
//
//   node test/platform/prepare.ts                fetch what is missing
//   node test/platform/prepare.ts --optional     say what cannot be had and succeed: tests will name it, and be skipped

import { fetchKeycloak } from "./keycloak-program.ts";
import { fetchMoto } from "./moto-program.ts";
import { fetchNginx } from "./nginx-program.ts";

const interrupted = new AbortController();
process.once("SIGINT", () => interrupted.abort(new Error("interrupted")));
process.once("SIGTERM", () => interrupted.abort(new Error("interrupted")));

for (const [name, bring] of [
  ["Keycloak", fetchKeycloak],
  ["nginx", fetchNginx],
  ["moto", fetchMoto],
] as const) {
  try {
    await bring(interrupted.signal);
  } catch (error) {
    console.error(`${name} cannot be had: ${(error as Error).message}`);
    if (interrupted.signal.aborted) process.exit(130);
    if (!process.argv.includes("--optional")) process.exitCode = 1;
  }
}
