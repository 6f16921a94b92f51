// Who comes in to the REST API, and by which certificate it is known: what is read of files before anything starts.

import type { Clock, Log } from "@keelson/base";
import { authenticatorOf } from "./authenticator-of.ts";
import type { Config } from "./config.ts";
import type { Authenticator } from "./rest/identity/authenticator.ts";
import type { TlsFiles } from "./rest/tls-files.ts";

export interface Door {
  readonly authenticator: Authenticator;
  /** Undefined: anybody can listen in. */
  readonly tls: TlsFiles | undefined;
}

/** Throws a `TlsFilesError` or a `TokensFileError` that names the file that is wrong. */
export async function openDoor(
  config: Config,
  parts: { readonly clock: Clock; readonly log: Log },
): Promise<Door> {
  return { tls: await tlsFiles(config), authenticator: await authenticatorOf(config, parts) };
}

async function tlsFiles(config: Config): Promise<TlsFiles | undefined> {
  const { tlsCertFile: certFile, tlsKeyFile: keyFile, authGatewayClientCa: clientCaFile } = config;
  if (certFile === undefined || keyFile === undefined) return undefined;
  const { TlsFiles } = await import("./rest/tls-files.ts");
  return TlsFiles.read({ certFile, keyFile, clientCaFile });
}
