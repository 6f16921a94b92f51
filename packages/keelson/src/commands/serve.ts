import type { Config } from "../config.ts";
import { run } from "./run.ts";

/** `keelson serve --roles …`: the chosen parts, as one of several replicas. Its story is in the log. */
export async function serveRoles(config: Config, exit: (code?: number) => void): Promise<void> {
  await run({
    config,
    parts: new Set(config.roles),
    exit,
    show: { progress: () => undefined, ready: () => undefined, stopping: () => undefined },
  });
}
