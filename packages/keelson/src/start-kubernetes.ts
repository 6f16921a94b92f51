// The Kubernetes API as the configuration wants it.

import { join } from "node:path";
import { StandaloneServer, type StandaloneOptions } from "@keelson/apiserver";
import type { Config } from "./config.ts";
import { listenFailure } from "./start-failure.ts";

export interface StartKubernetesOptions extends Pick<
  StandaloneOptions,
  "store" | "clock" | "random" | "log" | "metrics" | "servingFiles"
> {
  readonly config: Config;
}

/** Starts the server, which listens and has written its kubeconfig. Throws a `StartError` for what a user can act on. */
export async function startKubernetes(
  { config, ...parts }: StartKubernetesOptions,
  signal: AbortSignal,
): Promise<StandaloneServer> {
  const { kubeAddress: host, kubePort: port } = config;
  try {
    return await StandaloneServer.start(
      {
        ...parts,
        log: parts.log.child({ part: "kubernetes" }),
        host,
        port,
        certDir: config.certDir,
        clientAuthorityFile: config.clientCaFile,
        tokenFile: config.tokenAuthFile,
        kubeconfig: kubeconfigOf(config),
        simulatesWorkloads: config.simulateWorkloads,
      },
      signal,
    );
  } catch (error) {
    const what = "the Kubernetes API";
    throw listenFailure(error, { what, flag: "--kube-port", address: host, port });
  }
}

/** Where the kubeconfig of our own server is. */
export function kubeconfigOf(config: Config): string {
  return config.kubeconfig ?? join(config.dataDir, "kubeconfig");
}
