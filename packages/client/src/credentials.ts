// Who we are to a cluster, and how we know that it is the cluster. Both may change while we are connected.

/** What a request carries and what its connection is made with. */
export interface Credential {
  /** `authorization`, `impersonate-user` and the like. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly tls: TlsIdentity;
}

/** The two ends of a TLS connection; all PEM. */
export interface TlsIdentity {
  /** Whose certificates the server may show; left out: those the machine trusts. */
  readonly ca?: string;
  readonly certificate?: string;
  readonly key?: string;
  /** The name that the server's certificate must have; left out: the host of the URL. */
  readonly serverName?: string;
  /** Trust whoever answers. Only because kubeconfigs can say so. */
  readonly isInsecure?: boolean;
}

/** Credentials that may be renewed at any time. */
export interface Credentials {
  /** Those in force. Rejects when they cannot be had: a plugin fails, a file is missing. */
  current(signal: AbortSignal): Promise<Credential>;

  /** The server has refused those in force: the next `current` must get others, if there are any. */
  renew(): void;
}

/** Where a cluster is and who we are there. */
export interface Access {
  /** `https://host:port`, perhaps with a path; no slash at the end. */
  readonly server: string;
  /** The namespace to use where none is said. */
  readonly namespace?: string;
  /** A proxy on the way: http, https or socks5. */
  readonly proxyUrl?: string;
  /** The server runs in our own process: while we run, none of its connections can be cut or go silent unnoticed. */
  readonly isInProcess?: boolean;
  readonly credentials: Credentials;
}

/** Credentials that stay as they are. */
export function fixedCredentials({ token, ...tls }: TlsIdentity & { readonly token?: string }) {
  const headers: Credential["headers"] =
    token === undefined ? {} : { authorization: `Bearer ${token}` };
  const credential: Credential = { headers, tls };
  return { current: async () => credential, renew: () => undefined } satisfies Credentials;
}
