// Certificate, key and the gateway's authority, from files that may change while we run.

import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { Clock, Log } from "@keelson/base";
import { FollowedFiles } from "../followed-files.ts";

/** A file of the TLS setup cannot be used. */
export class TlsFilesError extends Error {
  override readonly name = "TlsFilesError";
  readonly code = "TLS_FILES";
}

export interface TlsPaths {
  readonly certFile: string;
  readonly keyFile: string;
  /** Who may vouch for a client: connections with such a certificate are the gateway's. */
  readonly clientCaFile: string | undefined;
}

interface Secrets {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca?: Buffer;
}

/** The files as they were read last. */
export class TlsFiles {
  readonly #paths: TlsPaths;
  readonly #files: FollowedFiles;
  readonly #secrets: Secrets;

  private constructor(paths: TlsPaths, files: FollowedFiles, secrets: Secrets) {
    this.#paths = paths;
    this.#files = files;
    this.#secrets = secrets;
  }

  /** Reads the files. Throws a `TlsFilesError` that names the one that is wrong. */
  static async read(paths: TlsPaths): Promise<TlsFiles> {
    const { certFile, keyFile, clientCaFile } = paths;
    const all = [certFile, keyFile, ...(clientCaFile === undefined ? [] : [clientCaFile])];
    const files = await FollowedFiles.look(all);
    return new TlsFiles(paths, files, await readSecrets(paths));
  }

  /** What a TLS server is built with. A client certificate is asked for only where one could count. */
  serverOptions(): object {
    const asks = this.#paths.clientCaFile !== undefined;
    return {
      ...this.#secrets,
      minVersion: "TLSv1.2",
      // Not refused here: a caller without one may still have the gateway's secret, and gets our error shape.
      ...(asks ? { requestCert: true, rejectUnauthorized: false } : {}),
    };
  }

  /** Gives new secrets to `use` when the files have changed. Wrong ones change nothing; the log says so. */
  follow(
    use: (secrets: object) => void,
    { clock, log }: { readonly clock: Clock; readonly log: Log },
    signal: AbortSignal,
  ): Promise<void> {
    const reload = async (): Promise<void> => {
      try {
        use(await readSecrets(this.#paths));
        log.info({ certFile: this.#paths.certFile }, "certificate read again");
      } catch (error) {
        log.error({ error }, "certificate is wrong, the last good one counts");
      }
    };
    return this.#files.follow(reload, clock, signal);
  }
}

async function readSecrets({ certFile, keyFile, clientCaFile }: TlsPaths): Promise<Secrets> {
  const cert = await readPem(certFile);
  const key = await readPem(keyFile);
  const ca = clientCaFile === undefined ? undefined : await readPem(clientCaFile);
  const secrets = { cert, key, ...(ca === undefined ? {} : { ca }) };
  try {
    createSecureContext(secrets);
  } catch (cause) {
    const reason = (cause as Error).message;
    throw new TlsFilesError(`${certFile} and ${keyFile} cannot be used for TLS: ${reason}`, {
      cause,
    });
  }
  return secrets;
}

async function readPem(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new TlsFilesError(`${path} cannot be read (${code})`, { cause });
  }
}
