// What `up` and `serve` share: which parts run, and what is said of them.

import type { Config } from "../config.ts";
import type { Addresses } from "../run-file.ts";
import { serve, type Part } from "../serve.ts";
import { serveOperator } from "../serve-operator.ts";
import { untilStopped } from "./until-stopped.ts";

export interface RunOptions {
  readonly config: Config;
  readonly parts: ReadonlySet<Part>;
  /** For people, on standard output: progress, then what is running. */
  readonly show: {
    readonly progress: (step: string) => void;
    readonly ready: (addresses: Addresses, version: string) => void;
    readonly stopping: () => void;
  };
  /** Ends the process at once. */
  readonly exit: (code?: number) => void;
}

/** Runs until it is told to stop; resolves after an orderly end. Throws a `StartError` for what a user can act on. */
export async function run({ config, parts, show, exit }: RunOptions): Promise<void> {
  const { progress: onProgress, ready: onReady, stopping: onStop } = show;
  const isOperatorAlone = [...parts].every((part) => part === "operator");
  await untilStopped({ config, exit, onReady, onStop }, async (shared, signal) => {
    warnOf(config, (message) => shared.log.warn({}, message));
    if (isOperatorAlone) await serveOperator(shared, signal);
    else await serve({ ...shared, parts, onProgress }, signal);
  });
}

function warnOf({ authMode, corsOrigins }: Config, warn: (message: string) => void): void {
  if (authMode === "none" && corsOrigins !== undefined) {
    warn(
      "pages of other origins may drive this server: origins are allowed and callers are not authenticated",
    );
  }
}
