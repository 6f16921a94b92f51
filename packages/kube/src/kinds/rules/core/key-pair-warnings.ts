// Certificates and keys in Secrets: what can be seen from outside is wrong with a pair.

import { quote } from "../../../go-text/quote.ts";
import { pemBlocks } from "../meta/pem.ts";

/** What to say of a certificate and a key, as texts; whether they belong together is not looked at. */
export function keyPairWarnings(certificate: string, key: string): readonly string[] {
  const certificates = pemBlocks(certificate).map(({ type }) => type);
  if (!certificates.includes("CERTIFICATE")) return [missingCertificate(certificates)];
  const keys = pemBlocks(key).map(({ type }) => type);
  if (keys.some((type) => type === "PRIVATE KEY" || type.endsWith(" PRIVATE KEY"))) return [];
  return [missingKey(keys)];
}

function missingCertificate(types: readonly string[]): string {
  if (types.length === 0) return "tls: failed to find any PEM data in certificate input";
  if (types.length === 1 && types[0]?.endsWith("PRIVATE KEY") === true) {
    return "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched";
  }
  return `tls: failed to find ${quote("CERTIFICATE")} PEM block in certificate input after skipping PEM blocks of the following types: [${types.join(" ")}]`;
}

function missingKey(types: readonly string[]): string {
  if (types.length === 0) return "tls: failed to find any PEM data in key input";
  if (types.length === 1 && types[0] === "CERTIFICATE") {
    return "tls: found a certificate rather than a key in the PEM for the private key";
  }
  return `tls: failed to find PEM block with type ending in ${quote("PRIVATE KEY")} in key input after skipping PEM blocks of the following types: [${types.join(" ")}]`;
}
