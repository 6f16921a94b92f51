// Authorities, and whether a certificate comes from one of them.

import { X509Certificate } from "node:crypto";

import { loadX509 } from "./x509.ts";

/** A certificate that does not lead to a trusted authority. */
export class UntrustedCertificate extends Error {
  override readonly name = "UntrustedCertificate";
  readonly code = "UNTRUSTED_CERTIFICATE";
}

/** A way from a certificate to a trusted one: all its dates must hold. */
export interface TrustedChain {
  readonly validFromMs: number;
  readonly validToMs: number;
}

/** Trusted authorities. Never changes: new authorities are a new pool. */
export class CertificatePool {
  readonly #authorities: readonly X509Certificate[];

  constructor(authorities: readonly X509Certificate[]) {
    this.#authorities = authorities;
  }

  /**
   * Finds the way from a client's certificate over others that it sent to one of the authorities. Throws
   * `UntrustedCertificate` if there is none, or if a certificate on it may not be used so: authorities must be
   * some, at the depth they allow, and what limits its use must allow clients.
   */
  async verifyClient(
    certificates: readonly X509Certificate[],
    nowMs: number,
  ): Promise<TrustedChain> {
    const [leaf, ...others] = certificates;
    if (leaf === undefined) throw new UntrustedCertificate("there is no certificate");
    const chain = this.#climb([leaf], new Set(others.slice(0, depthMax)), nowMs);
    if (chain === undefined) {
      const isExpired = !isCurrent(leaf, nowMs);
      throw new UntrustedCertificate(
        isExpired
          ? "x509: certificate has expired or is not yet valid"
          : "x509: certificate signed by unknown authority",
      );
    }
    await refuseMisuse(chain);
    return {
      validFromMs: Math.max(...chain.map(({ validFromDate }) => validFromDate.getTime())),
      validToMs: Math.min(...chain.map(({ validToDate }) => validToDate.getTime())),
    };
  }

  /**
   * The chain so far, completed; undefined if it leads nowhere. Each of the others is tried once, whatever ways lead
   * to it: a client may send authorities that have all signed each other.
   */
  #climb(
    chain: readonly X509Certificate[],
    untried: Set<X509Certificate>,
    nowMs: number,
  ): readonly X509Certificate[] | undefined {
    const last = chain.at(-1);
    if (last === undefined || !isCurrent(last, nowMs)) return undefined;
    for (const root of this.#authorities) {
      if (last.raw.equals(root.raw)) return chain;
      if (isIssuedBy(last, root) && isCurrent(root, nowMs)) return [...chain, root];
    }
    for (const other of untried) {
      if (!other.ca || !isIssuedBy(last, other)) continue;
      untried.delete(other);
      const found = this.#climb([...chain, other], untried, nowMs);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** The certificates of a PEM bundle. Throws if one of them is none, or if there are none. */
export function readCertificates(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error("there is no certificate in it");
  return blocks.map((block) => new X509Certificate(block));
}

/** The most certificates between a client's own and the authority's; more are not looked at. */
const depthMax = 8;

const clientUse = ["1.3.6.1.5.5.7.3.2", "2.5.29.37.0"]; // For clients; for anything.

/** Key usage, alternative names, basic constraints, extended key usage: critical ones that we heed. */
const heededExtensions = new Set(["2.5.29.15", "2.5.29.17", "2.5.29.19", "2.5.29.37"]);

function isCurrent({ validFromDate, validToDate }: X509Certificate, nowMs: number): boolean {
  return validFromDate.getTime() <= nowMs && nowMs <= validToDate.getTime();
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

async function refuseMisuse(chain: readonly X509Certificate[]): Promise<void> {
  const x509 = await loadX509();
  for (const [index, certificate] of chain.entries()) {
    const { keyUsage: uses } = certificate;
    // Without the extension Node answers undefined, whatever its types say.
    if ((uses as string[] | undefined)?.some((use) => clientUse.includes(use)) === false) {
      throw new UntrustedCertificate("x509: certificate specifies an incompatible key usage");
    }
    if (
      /md5|sha1\b|sha-1/i.test(certificate.signatureAlgorithm ?? "") &&
      index < chain.length - 1
    ) {
      throw new UntrustedCertificate("x509: the signature's algorithm is not safe");
    }
    const { extensions } = new x509.X509Certificate(certificate.raw);
    const unheeded = extensions.find(
      ({ critical, type }) => critical && !heededExtensions.has(type),
    );
    if (unheeded !== undefined) {
      throw new UntrustedCertificate(`x509: unhandled critical extension ${unheeded.type}`);
    }
    const constraints = extensions.find((one) => one instanceof x509.BasicConstraintsExtension);
    const below = index - 1; // Authorities between it and the client.
    if (constraints?.pathLength !== undefined && index > 0 && below > constraints.pathLength) {
      throw new UntrustedCertificate("x509: too many intermediates for path length constraint");
    }
  }
}
