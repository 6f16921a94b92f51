// Bundles of certificates that are to be trusted.

import { bytesOfBase64 } from "../../../go-text/base64.ts";
import { certificateProblem } from "./certificate-form.ts";
import { decodePem, pemBlocks, type PemBlock } from "./pem.ts";

/** What is wrong with a bundle of trusted certificates, base64 of PEM; nothing if one of them can be read. */
export function caBundleProblem(base64: string): string | undefined {
  const text = bytesOfBase64(base64) ?? "";
  if (text === "") return undefined;
  const isCertificate = ({ type, headers }: PemBlock): boolean =>
    type === "CERTIFICATE" && headers.size === 0;
  const certificates = pemBlocks(text).filter(isCertificate);
  if (certificates.some(({ bytes }) => certificateProblem(bytes) === undefined)) return undefined;
  let rest = text;
  const say = (detail: string): string => `unable to load root certificates: ${detail}`;
  while (rest.length > 0) {
    const decoded = decodePem(rest);
    if (decoded.block === undefined) return say("unable to parse bytes as PEM block");
    rest = decoded.rest;
    if (!isCertificate(decoded.block)) continue;
    const problem = certificateProblem(decoded.block.bytes);
    if (problem !== undefined) return say(`failed to parse certificate: ${problem}`);
  }
  return say("no valid certificate authority data seen");
}
