// The certificates and keys of a server that stands alone: made at the first start, kept, and renewed in time.

import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";

import type { Clock, Log, Random } from "@keelson/base";

import {
  createAuthority,
  createKey,
  issueCertificate,
  publicKeyOf,
  type CertificateSubject,
  type KeyPair,
  type Validity,
} from "./certificate.ts";
import { errorCode, readIfThere, writeSecretFile } from "./secret-file.ts";

/** The folder, or a file of it, cannot be used, and replacing it would cut off whoever trusts it. */
export class PkiBroken extends Error {
  override readonly name = "PkiBroken";
  readonly code = "PKI_BROKEN";
}

export interface PkiOptions {
  /** Where the files are: `--cert-dir`. */
  readonly folder: string;
  /** What clients may call the server besides the usual names and the machine's; those of before stay until it is renewed. */
  readonly hosts?: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Everything that is in the folder, PEM. */
export interface Pki {
  /** Who signs the server's certificate and those of its clients. */
  readonly authority: KeyPair;
  readonly serving: KeyPair;
  /** Who signs the certificates of front proxies. */
  readonly frontProxyAuthority: KeyPair;
  /** A client in `system:masters`. */
  readonly admin: KeyPair;
  /** What ServiceAccount tokens are signed with. */
  readonly serviceAccountKey: string;
  readonly serviceAccountPublicKey: string;
}

/** The paths of the files in a folder. */
export function pkiPaths(folder: string) {
  const file = (name: string): string => join(folder, name);
  return {
    authority: { certificate: file("ca.crt"), key: file("ca.key") },
    serving: { certificate: file("apiserver.crt"), key: file("apiserver.key") },
    frontProxyAuthority: {
      certificate: file("front-proxy-ca.crt"),
      key: file("front-proxy-ca.key"),
    },
    admin: { certificate: file("admin.crt"), key: file("admin.key") },
    serviceAccountKey: file("sa.key"),
    serviceAccountPublicKey: file("sa.pub"),
  } as const;
}

/**
 * Reads the folder and makes whatever is missing, about to expire, or does not fit the rest. Keys of authorities and
 * the signing key of tokens are kept for ever: others rely on them. Throws `PkiBroken`.
 */
export async function openPki(options: PkiOptions): Promise<Pki> {
  try {
    return await openAll(options);
  } catch (cause) {
    if (!(cause instanceof Error && "errno" in cause)) throw cause;
    throw new PkiBroken(`${options.folder} cannot be used (${errorCode(cause)})`, { cause });
  }
}

async function openAll(options: PkiOptions): Promise<Pki> {
  const paths = pkiPaths(options.folder);
  const authority = await openAuthority(options, paths.authority, "keelson-ca");
  const frontProxyAuthority = await openAuthority(
    options,
    paths.frontProxyAuthority,
    "keelson-front-proxy-ca",
  );
  const hosts = [...usualHosts, hostname(), ...(options.hosts ?? [])];
  const subjects = {
    serving: { name: "kube-apiserver", hosts },
    admin: { name: "kubernetes-admin", groups: ["system:masters"] },
  };
  const serving = await openCertificate(options, paths.serving, authority, subjects.serving);
  const admin = await openCertificate(options, paths.admin, authority, subjects.admin);
  const serviceAccountKey = await openKey(options, paths.serviceAccountKey);
  const serviceAccountPublicKey = publicKeyOf(serviceAccountKey);
  if ((await readIfThere(paths.serviceAccountPublicKey)) !== serviceAccountPublicKey) {
    await writeSecretFile(paths.serviceAccountPublicKey, serviceAccountPublicKey, options.random);
  }
  return {
    authority,
    serving,
    frontProxyAuthority,
    admin,
    serviceAccountKey,
    serviceAccountPublicKey,
  };
}

/** Looks every hour whether something must be renewed, until `signal` aborts; `renewed` hears of each new state. */
export async function renewPki(
  options: PkiOptions,
  { pki, renewed }: { readonly pki: Pki; readonly renewed: (pki: Pki) => void | Promise<void> },
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = options;
  let current = pki;
  for (;;) {
    await clock.sleep(lookEveryMs, signal);
    try {
      const next = await openPki(options);
      if (JSON.stringify(next) === JSON.stringify(current)) continue;
      await renewed(next);
      current = next;
    } catch (error) {
      log.error({ error }, "certificates could not be renewed");
    }
  }
}

/** How pods and people call the server; the address is the first of the Services' range. */
const usualHosts = [
  "localhost",
  "127.0.0.1",
  "::1",
  "kubernetes",
  "kubernetes.default",
  "kubernetes.default.svc",
  "kubernetes.default.svc.cluster.local",
  "10.96.0.1",
];

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const lookEveryMs = hourMs;
const lifetimes = { authority: 3650 * dayMs, certificate: 365 * dayMs } as const;
/** How many names of before go on into the next certificate, until that is due. */
const otherHostsMax = 100;
/** The last part of a lifetime, in which a certificate is replaced. */
const renewalShare = 1 / 4;

interface Files {
  readonly certificate: string;
  readonly key: string;
}

async function openAuthority(options: PkiOptions, files: Files, name: string): Promise<KeyPair> {
  const { random, log } = options;
  const existing = await readIfThere(files.certificate);
  const existingKey = await readIfThere(files.key);
  if (existing !== undefined && existingKey === undefined) {
    throw new PkiBroken(`${files.certificate} has no key: ${files.key} is missing`);
  }
  // The key first: a start that dies in between finds it and goes on from there.
  const key = await openKey(options, files.key);
  if (existing !== undefined) {
    if (!belongTogether(existing, key)) {
      throw new PkiBroken(`${files.key} is not the key of ${files.certificate}`);
    }
    if (!isDue(existing, options.clock)) return { certificate: existing, key };
  }
  const validity = validityFor(lifetimes.authority, options.clock);
  const certificate = await createAuthority({ name, key }, { validity, random });
  await writeSecretFile(files.certificate, certificate, random);
  log.info(
    { file: files.certificate, notAfter: validity.notAfter.toISOString() },
    "made an authority",
  );
  return { certificate, key };
}

async function openCertificate(
  options: PkiOptions,
  files: Files,
  authority: KeyPair,
  subject: CertificateSubject,
): Promise<KeyPair> {
  const { clock, random, log } = options;
  const { hosts } = subject;
  const certificate = await readIfThere(files.certificate);
  const key = await readIfThere(files.key);
  let others: readonly string[] = [];
  if (
    certificate !== undefined &&
    key !== undefined &&
    belongTogether(certificate, key) &&
    isSignedBy(certificate, authority) &&
    !isDue(certificate, clock)
  ) {
    if (coversHosts(certificate, hosts ?? [])) return { certificate, key };
    // Replicas that share the folder have names of their own: were they dropped, each would take the others' away.
    others = hostsOf(certificate).slice(0, otherHostsMax);
  }
  const validity = validityFor(lifetimes.certificate, clock);
  const made = await issueCertificate(
    authority,
    { ...subject, ...(hosts && { hosts: [...new Set([...hosts, ...others])] }) },
    { validity, random },
  );
  await writeSecretFile(files.key, made.key, random);
  await writeSecretFile(files.certificate, made.certificate, random);
  log.info(
    { file: files.certificate, notAfter: validity.notAfter.toISOString() },
    "made a certificate",
  );
  return made;
}

async function openKey({ random }: PkiOptions, path: string): Promise<string> {
  const existing = await readIfThere(path);
  if (existing !== undefined) {
    try {
      publicKeyOf(existing);
    } catch (cause) {
      throw new PkiBroken(`${path} is no private key`, { cause });
    }
    return existing;
  }
  const key = createKey();
  await writeSecretFile(path, key, random);
  return key;
}

function belongTogether(certificate: string, key: string): boolean {
  try {
    const read = new X509Certificate(certificate);
    return read.publicKey.export({ type: "spki", format: "pem" }).toString() === publicKeyOf(key);
  } catch {
    return false;
  }
}

function isSignedBy(certificate: string, authority: KeyPair): boolean {
  const issuer = new X509Certificate(authority.certificate);
  const read = new X509Certificate(certificate);
  return read.checkIssued(issuer) && read.verify(issuer.publicKey);
}

function coversHosts(certificate: string, hosts: readonly string[]): boolean {
  const read = new X509Certificate(certificate);
  return hosts.every((host) => {
    const covered =
      isIP(host) === 0 ? read.checkHost(host, { subject: "never" }) : read.checkIP(host);
    return covered !== undefined;
  });
}

/** The names and addresses that a certificate is for. */
function hostsOf(certificate: string): readonly string[] {
  const { subjectAltName = "" } = new X509Certificate(certificate);
  return [...subjectAltName.matchAll(/(?:DNS|IP Address):([^, ]+)/g)].map(([, host = ""]) => host);
}

function isDue(certificate: string, clock: Clock): boolean {
  const { validFromDate, validToDate } = new X509Certificate(certificate);
  const end = validToDate.getTime();
  return clock.now() > end - (end - validFromDate.getTime()) * renewalShare;
}

/** From an hour ago: clocks differ. */
function validityFor(lifetimeMs: number, clock: Clock): Validity {
  const now = clock.now();
  return { notBefore: new Date(now - hourMs), notAfter: new Date(now + lifetimeMs) };
}
