import { suite } from "node:test";
import {
  sharedThrowawayPostgres,
  systemPostgresFound,
  type PostgresFlavour,
  type ThrowawayPostgres,
} from "./throwaway-postgres.ts";

const flavours: readonly PostgresFlavour[] = ["embedded", "system"];
const hasSystem = await systemPostgresFound();

/**
 * A suite for the PostgreSQL we ship and one for the machine's own, skipped by name where there is none.
 * `server` starts it on first use and gives the same one to all.
 */
export function eachPostgres(
  name: string,
  define: (server: () => Promise<ThrowawayPostgres>, flavour: PostgresFlavour) => void,
): void {
  for (const flavour of flavours) {
    const skip = flavour === "system" && !hasSystem && "no PostgreSQL is installed on this machine";
    suite(`${name}, ${flavour} PostgreSQL`, { skip }, () => {
      define(() => sharedThrowawayPostgres(flavour), flavour);
    });
  }
}
