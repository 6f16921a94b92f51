// What the process lends to its commands, and the way from there to a server.

import type { Clock } from "@keelson/base";
import type { Environment } from "../config/given.ts";
import type { ServerFlags } from "./client/find-server.ts";
import type { Terminal } from "./terminal.ts";
import type { Session } from "./session.ts";

/** What the process lends to its commands. */
export interface CommandContext {
  readonly environment: Environment;
  readonly workingFolder: string;
  readonly clock: Clock;
  /** Whether a person watches what is said besides the answer. */
  readonly isWatched: boolean;
  openTerminal(): Terminal;
  /** Runs a command until its end, or until somebody interrupts it. */
  run(work: (signal: AbortSignal) => Promise<void>): Promise<void>;
  /** Ends the process at once. */
  readonly exit: (code: number) => void;
}

/** Runs a command before the server that its flags, variables or the data folder name. */
export async function inSession(
  flags: ServerFlags,
  context: CommandContext,
  work: (session: Session, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { openSession } = await import("./open-session.ts");
  await context.run(async (signal) => {
    const { session, explain } = await openSession(flags, context);
    try {
      await work(session, signal);
    } catch (error) {
      throw explain(error);
    }
  });
}
