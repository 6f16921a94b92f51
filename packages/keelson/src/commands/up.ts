import { stdout } from "node:process";
import { systemClock } from "@keelson/base";
import { banner } from "../banner.ts";
import type { Config } from "../config.ts";
import { run } from "./run.ts";

/** `keelson up`: every part in one process. */
export async function up(config: Config, exit: (code?: number) => void): Promise<void> {
  const begunMs = systemClock.monotonic();
  let progressShown = false;
  await run({
    config,
    parts: new Set(["rest", "worker", "scheduler", "operator", "store"]),
    exit,
    show: {
      progress: (step) => {
        progressShown = true;
        stdout.write(`… ${step}\n`);
      },
      ready: (addresses, version) => {
        if (progressShown) stdout.write("\n");
        const elapsedMs = systemClock.monotonic() - begunMs;
        stdout.write(`${banner({ config, addresses, version, elapsedMs })}\n`);
      },
      stopping: () => stdout.write("\n… stopping (Ctrl-C again quits at once)\n"),
    },
  });
}
