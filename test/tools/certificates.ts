// Certificates for a cluster that lives as long as a test. Made apart from those of our own server, which must believe what others issue.

import { randomBytes, webcrypto, KeyObject } from "node:crypto";

import "reflect-metadata"; // What @peculiar/x509 resolves its parts with; it must come first.
import * as x509 from "@peculiar/x509";

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const hourMs = 3_600_000;
const lifetimeMs = 365 * 24 * hourMs;

/** A certificate and its private key, both PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** Who a certificate is for. For Kubernetes `name` is the user and `groups` are the user's groups. */
export interface Subject {
  readonly name: string;
  readonly groups?: readonly string[];
  /** DNS names and IP addresses; with them it is a server's certificate, without a client's. */
  readonly hosts?: readonly string[];
}

/** A certificate authority whose key stays in this process, or in the files its owner writes. */
export class CertificateAuthority {
  readonly certificate: string;
  readonly key: string;
  readonly #issuer: string;
  readonly #signingKey: webcrypto.CryptoKey;

  private constructor(
    issuer: string,
    { certificate, key }: KeyPair,
    signingKey: webcrypto.CryptoKey,
  ) {
    this.certificate = certificate;
    this.key = key;
    this.#issuer = issuer;
    this.#signingKey = signingKey;
  }

  static async create(name: string): Promise<CertificateAuthority> {
    const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      ...validity(),
      name: `CN=${name}`,
      keys,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(
          x509.KeyUsageFlags.keyCertSign |
            x509.KeyUsageFlags.cRLSign |
            x509.KeyUsageFlags.digitalSignature,
          true,
        ),
      ],
    });
    const pair = { certificate: certificate.toString("pem"), key: pemOf(keys.privateKey) };
    return new CertificateAuthority(certificate.subject, pair, keys.privateKey);
  }

  /** A key pair of its own for `subject`, signed by this authority. */
  async issue({ name, groups = [], hosts }: Subject): Promise<KeyPair> {
    const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
    const usage = hosts === undefined ? "clientAuth" : "serverAuth";
    const extensions: x509.Extension[] = [
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage[usage]]),
    ];
    if (hosts !== undefined) {
      extensions.push(
        new x509.SubjectAlternativeNameExtension(
          hosts.map((value) => ({ type: /^[\d.]+$|:/.test(value) ? "ip" : "dns", value })),
        ),
      );
    }
    const certificate = await x509.X509CertificateGenerator.create({
      ...validity(),
      subject: [...groups.map((group) => ({ O: [group] })), { CN: [name] }],
      issuer: this.#issuer,
      publicKey: keys.publicKey,
      signingKey: this.#signingKey,
      signingAlgorithm: algorithm,
      extensions,
    });
    return { certificate: certificate.toString("pem"), key: pemOf(keys.privateKey) };
  }
}

/** A key pair to sign service account tokens with, both PEM. */
export async function createSigningKey(): Promise<{
  readonly public: string;
  readonly private: string;
}> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  return {
    public: KeyObject.from(keys.publicKey).export({ type: "spki", format: "pem" }).toString(),
    private: pemOf(keys.privateKey),
  };
}

/** From an hour ago: clocks of containers differ. */
function validity() {
  const now = Date.now();
  return {
    serialNumber: `01${randomBytes(15).toString("hex")}`,
    notBefore: new Date(now - hourMs),
    notAfter: new Date(now + lifetimeMs),
  };
}

/** SEC 1, because kube-apiserver's service account keys must be `EC PRIVATE KEY` or PKCS #8; all take it. */
function pemOf(key: webcrypto.CryptoKey): string {
  return KeyObject.from(key).export({ type: "sec1", format: "pem" }).toString();
}
