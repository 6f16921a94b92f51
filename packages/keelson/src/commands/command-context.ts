// What the process lends to its commands, and the way from there to a server.

import type { Clock } from "@keelson/base";
import type { Environment } from "../config/given.ts";
import type { ServerFlags } from "./client/find-server.ts";
import type { Output } from "./output/formats.ts";
import type { Session } from "./session.ts";
import type { Terminal } from "./terminal.ts";

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
  readonly exit: (code?: number) => void;
}

type Flags = ServerFlags & { readonly output?: Output };
type Work = (session: Session, signal: AbortSignal) => Promise<void>;

/** Runs a command that answers by itself, before the server that its flags, variables or the data folder name. */
export async function inSession(flags: Flags, context: CommandContext, work: Work): Promise<void> {
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

/** The same for one whose answer is what has become of each thing that it changes. */
export function inChange(
  flags: Flags & { readonly output: Output },
  context: CommandContext,
  work: Work,
): Promise<void> {
  return inSession(flags, context, async (session, signal) => {
    const { Outcomes } = await import("./outcomes.ts");
    const outcomes = new Outcomes(session.terminal, flags.output);
    try {
      await work({ ...session, tell: outcomes.tell }, signal);
    } finally {
      // What was done before a failure was done.
      await outcomes.end();
    }
  });
}
