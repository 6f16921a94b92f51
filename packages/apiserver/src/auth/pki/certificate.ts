// Making certificates: an authority of our own, and what it signs.

import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  type webcrypto,
} from "node:crypto";
import { isIP } from "node:net";

import type { Random } from "@keelson/base";
import type { Extension } from "@peculiar/x509";

import { loadX509 } from "./x509.ts";

/** A certificate and its private key, both PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** Who a certificate is for. Of a client, `name` is the user and `groups` are the user's groups. */
export interface CertificateSubject {
  readonly name: string;
  readonly groups?: readonly string[];
  /** DNS names and IP addresses: with them it is a server's certificate, without them a client's. */
  readonly hosts?: readonly string[];
}

export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** A private key on P-256, PEM. */
export function createKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "sec1", format: "pem" }).toString();
}

/** The public half of a private key, PEM. */
export function publicKeyOf(key: string): string {
  return createPublicKey(key).export({ type: "spki", format: "pem" }).toString();
}

/**
 * The certificate of an authority with this key, PEM. A later one for the same key and name is as good as the first:
 * who trusts either believes what the key has signed.
 */
export async function createAuthority(
  { name, key }: { readonly name: string; readonly key: string },
  { validity, random }: { readonly validity: Validity; readonly random: Random },
): Promise<string> {
  const x509 = await loadX509();
  const keys = { privateKey: signingKey(key), publicKey: verifyingKey(createPublicKey(key)) };
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity,
    serialNumber: serialNumber(random),
    name: [{ CN: [name] }],
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.keyCertSign |
          x509.KeyUsageFlags.keyEncipherment |
          x509.KeyUsageFlags.digitalSignature,
        true,
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return `${certificate.toString("pem")}\n`;
}

/** A new key and its certificate, signed by the authority. */
export async function issueCertificate(
  authority: KeyPair,
  { name, groups = [], hosts }: CertificateSubject,
  { validity, random }: { readonly validity: Validity; readonly random: Random },
): Promise<KeyPair> {
  const x509 = await loadX509();
  const issuer = new x509.X509Certificate(authority.certificate);
  const key = createKey();
  const publicKey = verifyingKey(createPublicKey(key));
  const usage = hosts === undefined ? "clientAuth" : "serverAuth";
  const extensions: Extension[] = [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(
      x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment,
      true,
    ),
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage[usage]]),
    await x509.AuthorityKeyIdentifierExtension.create(issuer),
  ];
  if (hosts !== undefined) {
    const names = hosts.map(
      (value) => ({ type: isIP(value) === 0 ? "dns" : "ip", value }) as const,
    );
    extensions.push(new x509.SubjectAlternativeNameExtension(names));
  }
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity,
    serialNumber: serialNumber(random),
    subject: [...groups.map((group) => ({ O: [group] })), { CN: [name] }],
    issuer: issuer.subject,
    publicKey,
    signingKey: signingKey(authority.key),
    signingAlgorithm: algorithm,
    extensions,
  });
  return { certificate: `${certificate.toString("pem")}\n`, key };
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

function signingKey(key: string): webcrypto.CryptoKey {
  return createPrivateKey(key).toCryptoKey(algorithm, true, ["sign"]);
}

function verifyingKey(key: KeyObject): webcrypto.CryptoKey {
  return key.toCryptoKey(algorithm, true, ["verify"]);
}

/** Positive, and never the same twice. */
function serialNumber(random: Random): string {
  return `01${Buffer.from(random.bytes(15)).toString("hex")}`;
}
