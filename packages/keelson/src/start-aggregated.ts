// The Kubernetes API behind a host cluster, as the configuration wants it.

import { AggregatedServer, auditLines, type AggregatedOptions } from "@keelson/apiserver";
import { arkKinds } from "./ark-kinds.ts";
import type { AuditLog } from "./audit-log.ts";
import type { Config } from "./config.ts";
import type { OpenedHost } from "./host/open-host.ts";
import { databaseAwayFailure, listenFailure, storeFailure } from "./start-failure.ts";

export interface StartAggregatedOptions extends Pick<
  AggregatedOptions,
  "store" | "clock" | "random" | "log" | "metrics" | "servingFiles"
> {
  readonly config: Config;
  readonly opened: OpenedHost;
  /** Where finished requests are told of; belongs to the caller, and outlives the server. */
  readonly auditLog: AuditLog | undefined;
}

/** Starts the server, which listens. Throws a `StartError` for what a user can act on. */
export async function startAggregated(
  { config, opened, auditLog, ...parts }: StartAggregatedOptions,
  signal: AbortSignal,
): Promise<AggregatedServer> {
  const { kubeAddress: host, kubePort: port } = config;
  try {
    return await AggregatedServer.start(
      {
        ...parts,
        ...arkKinds({ config, store: parts.store, values: opened.host.values }),
        log: parts.log.child({ part: "kubernetes" }),
        ...(auditLog === undefined ? {} : { audit: auditLines((line) => auditLog.write(line)) }),
        cluster: opened.host,
        host,
        port,
        certDir: config.certDir,
        clientAuthorityFile: config.clientCaFile,
        allowsAnonymous: config.anonymousAuth,
      },
      signal,
    );
  } catch (thrown) {
    const error = storeFailure(databaseAwayFailure(thrown, config), config);
    const what = "the Kubernetes API";
    throw listenFailure(error, { what, flag: "--kube-port", address: host, port });
  }
}
