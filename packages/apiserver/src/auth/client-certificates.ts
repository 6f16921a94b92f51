// Clients that prove who they are with a TLS certificate: the common name is the user, the organisations are the groups.

import type { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";

import type { Clock } from "@keelson/base";

import type { Authenticated, Authenticator, Credentials } from "./authenticator.ts";
import { BadCredentials } from "./bad-credentials.ts";
import type { CertificatePool, TrustedChain } from "./pki/certificate-pool.ts";
import { RecentMap } from "./recent-map.ts";
import type { User } from "./user.ts";

/** The chain of a TLS client, its own certificate first; taken apart once for each connection. */
export function clientCertificates(socket: TLSSocket): readonly X509Certificate[] {
  const known = chains.get(socket);
  if (known !== undefined) return known;
  const chain: X509Certificate[] = [];
  let next: X509Certificate | undefined = socket.getPeerX509Certificate();
  while (next !== undefined && chain.length < chainMax) {
    chain.push(next);
    next = next.issuerCertificate;
  }
  chains.set(socket, chain);
  return chain;
}

export interface CertificateTrust {
  readonly clock: Clock;
  /** The authorities in force now. */
  readonly authorities: () => CertificatePool;
}

/** Accepts certificates that lead to one of the authorities. */
export function certificateAuthenticator(trust: CertificateTrust): Authenticator {
  const verifier = new ClientVerifier(trust);
  const users = new WeakMap<X509Certificate, Authenticated>();
  const identify = (certificate: X509Certificate): Authenticated => {
    const known = users.get(certificate) ?? { user: userOf(certificate) };
    users.set(certificate, known);
    return known;
  };
  return {
    authenticate({ certificates }: Credentials) {
      const [certificate] = certificates;
      if (certificate === undefined) return undefined;
      const verified = verifier.verify(certificates);
      return verified === undefined
        ? identify(certificate)
        : verified.then(() => identify(certificate));
    },
  };
}

/** Verifies clients' certificates, and remembers which it has verified: a signature costs a tenth of a millisecond. */
export class ClientVerifier {
  readonly #trust: CertificateTrust;
  #pool: CertificatePool;
  #verified = new RecentMap<string, TrustedChain>({ sizeMax: verifiedMax });

  constructor(trust: CertificateTrust) {
    this.#trust = trust;
    this.#pool = trust.authorities();
  }

  /** Undefined if the certificate is known to be good; else whether it is. Throws or rejects with `BadCredentials`. */
  verify(certificates: readonly X509Certificate[]): undefined | Promise<void> {
    const pool = this.#trust.authorities();
    if (pool !== this.#pool) {
      this.#pool = pool;
      this.#verified = new RecentMap({ sizeMax: verifiedMax });
    }
    const [certificate] = certificates;
    if (certificate === undefined) throw new BadCredentials("there is no certificate");
    const chain = this.#verified.get(certificate.fingerprint256);
    const now = this.#trust.clock.now();
    if (chain !== undefined && chain.validFromMs <= now && now <= chain.validToMs) return undefined;
    return this.#verifyAnew(certificates, certificate);
  }

  async #verifyAnew(
    certificates: readonly X509Certificate[],
    certificate: X509Certificate,
  ): Promise<void> {
    const verified = this.#verified;
    try {
      const chain = await this.#pool.verifyClient(certificates, this.#trust.clock.now());
      verified.set(certificate.fingerprint256, chain);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      const { serialNumber } = certificate;
      throw new BadCredentials(`verifying certificate SN=${serialNumber} failed: ${why}`, {
        cause,
      });
    }
  }
}

/** The common name of a certificate; empty without one. Of several the last counts. */
export function commonNameOf(certificate: X509Certificate): string {
  return subjectValues(certificate, "CN").at(-1) ?? "";
}

const verifiedMax = 4096;
const chainMax = 16;

const chains = new WeakMap<TLSSocket, readonly X509Certificate[]>();

/** Where a certificate may hold the uid of its user. */
const uidAttribute = "1.3.6.1.4.1.57683.2";

function userOf(certificate: X509Certificate): User {
  const name = commonNameOf(certificate);
  if (name === "") throw new BadCredentials("the certificate has no common name");
  const uids = subjectValues(certificate, uidAttribute);
  if (uids.length > 1)
    throw new BadCredentials(`expected 1 UID, but found multiple: [${uids.join(" ")}]`);
  if (uids[0] === "") throw new BadCredentials("UID cannot be an empty string");
  const fingerprint = certificate.fingerprint256.replaceAll(":", "").toLowerCase();
  return {
    name,
    uid: uids[0] ?? "",
    groups: subjectValues(certificate, "O"),
    extra: { "authentication.kubernetes.io/credential-id": [`X509SHA256=${fingerprint}`] },
  };
}

function subjectValues(certificate: X509Certificate, attribute: string): readonly string[] {
  const subject: object = certificate.toLegacyObject().subject;
  if (!Object.hasOwn(subject, attribute)) return [];
  const value: unknown = Object.entries(subject).find(([key]) => key === attribute)?.[1];
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((one) => typeof one === "string");
}
