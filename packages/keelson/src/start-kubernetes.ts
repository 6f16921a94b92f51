// The Kubernetes API as the configuration wants it.

import {
  auditLines,
  declaredResources,
  StandaloneServer,
  storedValues,
  type StandaloneOptions,
} from "@keelson/apiserver";
import { platformDefinitions } from "@keelson/platform/kinds";
import { arkKinds } from "./ark-kinds.ts";
import type { AuditLog } from "./audit-log.ts";
import type { Config } from "./config.ts";
import { kubeconfigOf } from "./kubeconfig-path.ts";
import { databaseAwayFailure, listenFailure, storeFailure } from "./start-failure.ts";

export interface StartKubernetesOptions extends Pick<
  StandaloneOptions,
  "store" | "clock" | "random" | "log" | "metrics" | "servingFiles"
> {
  readonly config: Config;
  /** Where finished requests are told of; belongs to the caller, and outlives the server. */
  readonly auditLog: AuditLog | undefined;
}

/** Starts the server, which listens and has written its kubeconfig. Throws a `StartError` for what a user can act on. */
export async function startKubernetes(
  { config, auditLog, ...parts }: StartKubernetesOptions,
  signal: AbortSignal,
): Promise<StandaloneServer> {
  const { kubeAddress: host, kubePort: port } = config;
  const ark = arkKinds({ config, store: parts.store, values: storedValues(parts.store) });
  try {
    return await StandaloneServer.start(
      {
        ...parts,
        admission: ark.admission,
        resources: [...ark.resources, ...declaredResources(platformDefinitions())],
        log: parts.log.child({ part: "kubernetes" }),
        ...(auditLog === undefined ? {} : { audit: auditLines((line) => auditLog.write(line)) }),
        host,
        port,
        certDir: config.certDir,
        clientAuthorityFile: config.clientCaFile,
        allowsAnonymous: config.anonymousAuth,
        tokenFile: config.tokenAuthFile,
        kubeconfig: kubeconfigOf(config),
        simulatesWorkloads: config.simulateWorkloads,
      },
      signal,
    );
  } catch (thrown) {
    const error = storeFailure(databaseAwayFailure(thrown, config), config);
    const what = "the Kubernetes API";
    throw listenFailure(error, { what, flag: "--kube-port", address: host, port });
  }
}
