// How the server shows its certificate.

import { constants } from "node:crypto";

import type { LoadedCertificates } from "./certificate-files.ts";

/** What a server is made with, and given again with every new certificate. */
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
