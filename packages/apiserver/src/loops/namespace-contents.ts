// What every namespace holds: an account to run as, and the certificate by which to trust us (KB §2.1).

import { jsonEqual, type Clock, type Log, type Random } from "@keelson/base";

import { isTerminating, nameOf } from "../object-metadata.ts";
import type { Mirror } from "../mirror.ts";
import type { Objects } from "../objects.ts";
import { KeyQueue } from "./key-queue.ts";

export interface NamespaceContentsOptions {
  readonly namespaces: Mirror;
  readonly serviceAccounts: Mirror;
  readonly configMaps: Mirror;
  readonly objects: Objects;
  /** The certificate of our CA, PEM. */
  readonly rootCertificate: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Puts it there, and back when it is deleted or changed. */
export async function runNamespaceContents(
  {
    namespaces,
    serviceAccounts,
    configMaps,
    objects,
    rootCertificate,
    clock,
    random,
    log,
  }: NamespaceContentsOptions,
  signal: AbortSignal,
): Promise<void> {
  const accounts = objects.resource("", "v1", "serviceaccounts");
  const maps = objects.resource("", "v1", "configmaps");
  const look = async (namespace: string, within: AbortSignal): Promise<undefined> => {
    const entry = namespaces.get("", namespace);
    if (entry === undefined || isTerminating(entry.object)) return undefined;
    if (serviceAccounts.get(namespace, "default") === undefined) {
      await objects.ensure(
        accounts,
        { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace } },
        within,
      );
    }
    const wanted = { "ca.crt": rootCertificate };
    const existing = configMaps.get(namespace, rootConfigMap);
    if (existing === undefined) {
      await objects.ensure(
        maps,
        {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { name: rootConfigMap, namespace, annotations: rootAnnotations },
          data: wanted,
        },
        within,
      );
    } else if (!jsonEqual(existing.object["data"] ?? {}, wanted)) {
      await objects.update(
        maps,
        { namespace, name: rootConfigMap },
        (live) => ({ ...live, data: wanted }),
        within,
      );
    }
    return undefined;
  };
  const queue = new KeyQueue({ name: "namespace contents", clock, random, log, workers: 4, look });
  using _namespaces = namespaces.onChange((change) => {
    if (change.type === "set") queue.add(nameOf(change.entry.object));
  });
  using _accounts = serviceAccounts.onChange((change) => {
    if (change.type === "deleted") queue.add(change.previous.key.namespace);
  });
  using _maps = configMaps.onChange((change) => {
    const { key } = change.type === "set" ? change.entry : change.previous;
    if (key.name === rootConfigMap) queue.add(key.namespace);
  });
  for (const { key } of namespaces.values()) queue.add(key.name);
  await queue.run(signal);
}

const rootConfigMap = "kube-root-ca.crt";
const rootAnnotations = {
  "kubernetes.io/description":
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.",
};
