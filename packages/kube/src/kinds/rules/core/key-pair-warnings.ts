// Certificates and keys in Secrets: what can be seen from outside is wrong with a pair.

import { quote } from "../../../go-text/quote.ts";

/** What to say of a certificate and a key, as texts; whether they belong together is not looked at. */
export function keyPairWarnings(certificate: string, key: string): readonly string[] {
  const certificates = blockTypes(certificate);
  if (!certificates.includes("CERTIFICATE")) return [certificateProblem(certificates)];
  const keys = blockTypes(key);
  if (keys.some((type) => type === "PRIVATE KEY" || type.endsWith(" PRIVATE KEY"))) return [];
  return [keyProblem(keys)];
}

function certificateProblem(types: readonly string[]): string {
  if (types.length === 0) return "tls: failed to find any PEM data in certificate input";
  if (types.length === 1 && types[0]?.endsWith("PRIVATE KEY") === true) {
    return "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched";
  }
  return `tls: failed to find ${quote("CERTIFICATE")} PEM block in certificate input after skipping PEM blocks of the following types: [${types.join(" ")}]`;
}

function keyProblem(types: readonly string[]): string {
  if (types.length === 0) return "tls: failed to find any PEM data in key input";
  if (types.length === 1 && types[0] === "CERTIFICATE") {
    return "tls: found a certificate rather than a key in the PEM for the private key";
  }
  return `tls: failed to find PEM block with type ending in ${quote("PRIVATE KEY")} in key input after skipping PEM blocks of the following types: [${types.join(" ")}]`;
}

/** The types of the blocks that have a beginning and its end. */
function blockTypes(text: string): readonly string[] {
  const blocks = text.matchAll(
    /^-----BEGIN ([^\n]*)-----[ \t]*\r?\n[A-Za-z0-9+/=\s]*-----END \1-----/gm,
  );
  return [...blocks].map(([, type = ""]) => type);
}
