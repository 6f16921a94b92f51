// An API server that a test can be run against: the real one, or ours.

import type { KeyPair, Subject } from "../tools/certificates.ts";
import { everyKind } from "../oracle/every-kind.ts";
import type { HttpClient } from "../tools/http-client.ts";
import { startOracle, type Oracle } from "../oracle/cluster.ts";

/** What every test needs to know of a server. `Oracle` is one. */
export interface Target extends AsyncDisposable {
  readonly url: string;
  /** The certificate of the authority behind the server's, PEM. */
  readonly ca: string;
  /** Somebody in `system:masters`. */
  readonly admin: KeyPair & { readonly token: string };
  /** The path of the admin's kubeconfig. */
  readonly kubeconfig: string;
  /** For files of the test; gone with the server. */
  readonly folder: string;
  /** The admin's requests. */
  readonly client: HttpClient;
  /** A client with another identity; dispose it. `{}` is nobody in particular. */
  connectAs(identity: Partial<KeyPair> & { readonly token?: string }): HttpClient;
  /** A certificate that the server accepts as this user, in these groups. */
  issue(subject: Subject): Promise<KeyPair>;
}

/** What a standalone server of ours does by itself, and kube-apiserver leaves to a process beside it. */
const controllers = [
  "namespace-controller",
  "garbage-collector-controller",
  "serviceaccount-controller",
  "root-ca-certificate-publisher-controller",
  "clusterrole-aggregation-controller",
];

/** The real server, with those controllers that are part of ours. */
export async function startReference(signal: AbortSignal): Promise<Oracle> {
  // Its controller would write the status of flow schemas at moments of its own.
  const flags = {
    "kube-apiserver": [
      "--enable-priority-and-fairness=false",
      // Kinds that ours serves and that are off by default (KB §2.2).
      ...everyKind,
    ],
    "kube-controller-manager": ["--kube-api-qps=1000", "--kube-api-burst=2000"],
  };
  return await startOracle({ controllers, flags }, signal);
}
