import type { Config } from "../config.ts";
import { serveApiserver } from "../serve-apiserver.ts";
import { untilStopped } from "./until-stopped.ts";

/** `keelson apiserver`: the Kubernetes API and its store, and nothing else. Its story is in the log. */
export async function apiserver(config: Config, exit: (code?: number) => void): Promise<void> {
  await untilStopped({ config, exit }, serveApiserver);
}
