// How the server shows its certificate and asks for the client's.

import { constants } from "node:crypto";

import type { CertificateFiles, LoadedCertificates } from "./certificate-files.ts";

/** What `createSecureServer` is given, and `setSecureContext` again with every new certificate. */
export interface ServingOptions {
  readonly cert: string;
  readonly key: string;
  readonly minVersion: "TLSv1.2";
  readonly secureOptions: number;
}

export function servingOptions({ certificate, key }: LoadedCertificates): ServingOptions {
  return {
    cert: certificate,
    key,
    minVersion: "TLSv1.2",
    // No resumed sessions: they would bring neither a new certificate to the client nor the client's whole chain to us.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}

/** Certificates of clients are asked for and judged by us, against two authorities: nobody is turned away for one. */
export const clientCertificateOptions = { requestCert: true, rejectUnauthorized: false } as const;

/** Gives the server each new certificate, for new connections; those that are open stay. */
export function followCertificates(
  files: CertificateFiles,
  server: { setSecureContext(options: ServingOptions): void },
): Disposable {
  return files.onChange((loaded) => server.setSecureContext(servingOptions(loaded)));
}
