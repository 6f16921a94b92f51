// A certificate that somebody else has made for the server: what clients need to believe it.

import type { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { getCACertificates } from "node:tls";

import { readCertificates } from "./certificate-pool.ts";

/**
 * Whom clients must trust, PEM: the last that the chain leads to, be it with the help of an authority that this machine knows.
 * Where that is no root, clients of Go believe it and others may not.
 */
export function authorityOf(chain: string): {
  readonly authority: string;
  readonly isRoot: boolean;
} {
  const [leaf, ...others] = certificatesIn(chain);
  const untried = new Set(others);
  let last = leaf;
  while (!isIssuedBy(last, last)) {
    const next = [...untried].find((one) => isIssuedBy(last, one)) ?? knownIssuerOf(last);
    if (next === undefined) return { authority: last.toString(), isRoot: false };
    untried.delete(next);
    last = next;
  }
  return { authority: last.toString(), isRoot: true };
}

/** The name that clients at `url` must be told to expect; undefined where the certificate is for that address anyway. */
export function serverNameFor(chain: string, url: string): string | undefined {
  const [leaf] = certificatesIn(chain);
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
  const covered =
    isIP(host) === 0 ? leaf.checkHost(host, { subject: "never" }) : leaf.checkIP(host);
  if (covered !== undefined) return undefined;
  const { subjectAltName = "" } = leaf;
  const [, name] = /DNS:([^, ]+)/.exec(subjectAltName) ?? [];
  const [, address] = /IP Address:([^, ]+)/.exec(subjectAltName) ?? [];
  // Any name below one with a star is as good as another.
  return name?.replace(/^\*/, "kubernetes") ?? address;
}

function certificatesIn(chain: string): readonly [X509Certificate, ...X509Certificate[]] {
  const [leaf, ...others] = readCertificates(chain);
  if (leaf === undefined) throw new Error("there is no certificate in it");
  return [leaf, ...others];
}

function knownIssuerOf(certificate: X509Certificate): X509Certificate | undefined {
  return getCACertificates("default")
    .flatMap((pem) => readCertificates(pem))
    .find((one) => one.subject === certificate.issuer && isIssuedBy(certificate, one));
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}
