import { join } from "node:path";
import type { Config } from "./config.ts";

/** Where the kubeconfig of our own server is. */
export function kubeconfigOf(config: Pick<Config, "kubeconfig" | "dataDir">): string {
  return config.kubeconfig ?? join(config.dataDir, "kubeconfig");
}
