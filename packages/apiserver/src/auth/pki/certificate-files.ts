// Certificates on disk that may be replaced while the server runs (API-16).

import { createPrivateKey, type X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";

import type { Clock, Log } from "@keelson/base";

import { CertificatePool, readCertificates } from "./certificate-pool.ts";
import { errorCode } from "./secret-file.ts";

/** A file cannot be used. */
export class CertificateFileError extends Error {
  override readonly name = "CertificateFileError";
  readonly code = "CERTIFICATE_FILE";
}

export interface CertificatePaths {
  /** What the server shows, and the key to it: `--tls-cert-file`, `--tls-private-key-file`. */
  readonly certificate: string;
  readonly key: string;
  /** Who may vouch for clients: each a bundle. */
  readonly clientAuthorities: readonly string[];
}

/** The files as they were when they last made sense together. */
export interface LoadedCertificates {
  /** PEM, for `tls.createServer` and `setSecureContext`. */
  readonly certificate: string;
  readonly key: string;
  readonly notAfter: Date;
  readonly clientAuthorities: CertificatePool;
}

export interface CertificateFilesOptions {
  readonly paths: CertificatePaths;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Throws the `CertificateFileError` that `open` would, for a start that wants to know before it begins anything. A certificate and
 * its key that are left out are our own, which are yet to be made.
 */
export async function checkCertificateFiles({
  certificate,
  key,
  clientAuthorities,
}: Partial<CertificatePaths>): Promise<void> {
  if (certificate !== undefined && key !== undefined) {
    loadPair({ certificate: await read(certificate), key: await read(key) }, { certificate, key });
  }
  for (const path of clientAuthorities ?? []) {
    const text = await read(path);
    attempt(path, () => readCertificates(text));
  }
}

/** Follows the files. Broken ones change nothing: what was read before stays in force, and the log says so once. */
export class CertificateFiles {
  readonly #options: CertificateFilesOptions;
  #texts: Texts;
  #current: LoadedCertificates;
  /** What was wrong at the last look. */
  #complaint = "";
  readonly #listeners = new Set<(loaded: LoadedCertificates) => void>();

  private constructor(options: CertificateFilesOptions, texts: Texts) {
    this.#options = options;
    this.#texts = texts;
    this.#current = load(texts, options.paths);
  }

  /** Reads the files for the first time. Throws a `CertificateFileError` that names the one that is wrong. */
  static async open(options: CertificateFilesOptions): Promise<CertificateFiles> {
    return new CertificateFiles(options, await readTexts(options.paths));
  }

  get current(): LoadedCertificates {
    return this.#current;
  }

  /** Calls `listener` with each new state, until the answer is disposed of; it must not throw. */
  onChange(listener: (loaded: LoadedCertificates) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Looks every ten seconds, until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#options.clock.sleep(lookEveryMs, signal);
      await this.look();
    }
  }

  /** Looks now. */
  async look(): Promise<void> {
    const { log, paths } = this.#options;
    try {
      const texts = await readTexts(paths);
      if (!isSame(texts, this.#texts)) this.#take(texts);
      this.#complaint = "";
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (message === this.#complaint) return;
      this.#complaint = message;
      log.error({ error }, "certificates are wrong, the last good ones count");
    }
  }

  #take(texts: Texts): void {
    this.#current = load(texts, this.#options.paths);
    this.#texts = texts;
    const notAfter = this.#current.notAfter.toISOString();
    this.#options.log.info({ notAfter }, "certificates were read again");
    for (const listener of this.#listeners) listener(this.#current);
  }
}

const lookEveryMs = 10_000;

interface Texts {
  readonly certificate: string;
  readonly key: string;
  readonly clientAuthorities: readonly string[];
}

function isSame(a: Texts, b: Texts): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

async function readTexts(paths: CertificatePaths): Promise<Texts> {
  return {
    certificate: await read(paths.certificate),
    key: await read(paths.key),
    clientAuthorities: await Promise.all(paths.clientAuthorities.map(read)),
  };
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new CertificateFileError(`${path} cannot be read (${errorCode(cause)})`, { cause });
  }
}

function load(
  { certificate, key, clientAuthorities }: Texts,
  paths: CertificatePaths,
): LoadedCertificates {
  const leaf = loadPair({ certificate, key }, paths);
  const authorities: X509Certificate[] = [];
  for (const [index, text] of clientAuthorities.entries()) {
    authorities.push(
      ...attempt(paths.clientAuthorities[index] ?? "", () => readCertificates(text)),
    );
  }
  return {
    certificate,
    key,
    notAfter: leaf.validToDate,
    clientAuthorities: new CertificatePool(authorities),
  };
}

/** The certificate, of which the key is the right one. */
function loadPair(
  { certificate, key }: Pick<Texts, "certificate" | "key">,
  paths: Pick<CertificatePaths, "certificate" | "key">,
): X509Certificate {
  const [leaf] = attempt(paths.certificate, () => readCertificates(certificate));
  const read = attempt(paths.key, () => createPrivateKey(key));
  if (leaf === undefined || !leaf.checkPrivateKey(read)) {
    throw new CertificateFileError(`${paths.key} is not the key of ${paths.certificate}`);
  }
  return leaf;
}

function attempt<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CertificateFileError(`${path} cannot be used: ${reason}`, { cause });
  }
}
