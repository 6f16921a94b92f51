// Certificates that tests issue: authorities, those below them, and what is signed with any extensions.

import { createPrivateKey, createPublicKey } from "node:crypto";

import { systemRandom } from "@keelson/base";
import type { Extension } from "@peculiar/x509";

import { createAuthority, createKey, type KeyPair } from "../auth/pki/certificate.ts";
import { loadX509 } from "../auth/pki/x509.ts";

/** All of them hold a day before and after. */
export const now = Date.UTC(2026, 0, 1);
const dayMs = 86_400_000;
const validity = { notBefore: new Date(now - dayMs), notAfter: new Date(now + dayMs) };
export const making = { validity, random: systemRandom };
const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

export async function root(name: string): Promise<KeyPair> {
  const key = createKey();
  return { key, certificate: await createAuthority({ name, key }, making) };
}

/** A certificate with just these extensions. */
export async function withExtensions(
  issuer: KeyPair,
  name: string,
  extensions: readonly Extension[],
): Promise<KeyPair> {
  const x509 = await loadX509();
  const key = createKey();
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity,
    serialNumber: Buffer.from(systemRandom.bytes(8)).toString("hex"),
    subject: `CN=${name}`,
    issuer: new x509.X509Certificate(issuer.certificate).subject,
    publicKey: createPublicKey(key).toCryptoKey(algorithm, true, ["verify"]),
    signingKey: createPrivateKey(issuer.key).toCryptoKey(algorithm, true, ["sign"]),
    signingAlgorithm: algorithm,
    extensions: [...extensions],
  });
  return { key, certificate: certificate.toString("pem") };
}

/** An authority below another. */
export async function below(issuer: KeyPair, name: string, pathLength?: number): Promise<KeyPair> {
  const x509 = await loadX509();
  return await withExtensions(issuer, name, [
    new x509.BasicConstraintsExtension(true, pathLength, true),
  ]);
}
