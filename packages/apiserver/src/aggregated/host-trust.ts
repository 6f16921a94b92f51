// Whose certificates the host believes, by its ConfigMap `extension-apiserver-authentication`.

import type { Log } from "@keelson/base";

import { CertificatePool, readCertificates } from "../auth/pki/certificate-pool.ts";
import { usualRequestHeaders, type RequestHeaderNames } from "../auth/request-header.ts";
import type { Host } from "./host.ts";

/** Authorities and names as one state of the ConfigMap has them. */
export interface Trust {
  readonly clientAuthorities: CertificatePool;
  readonly frontProxies: CertificatePool;
  readonly names: RequestHeaderNames;
}

/** What the host says is not what a host says. The message tells which key is wrong. */
export class BadHostTrust extends Error {
  override readonly name = "BadHostTrust";
  readonly code = "BAD_HOST_TRUST";
}

/**
 * Follows the ConfigMap: each new state counts at once. One that makes no sense changes nothing, and the log says so
 * once: a typing error in the host must not cut everybody off.
 */
export class HostTrust {
  readonly #host: Pick<Host, "authentication">;
  readonly #log: Log;
  #said: Readonly<Record<string, string>>;
  #current: Trust;

  /** Throws `BadHostTrust`: at the start there is nothing to fall back to. */
  constructor({ host, log }: { readonly host: Pick<Host, "authentication">; readonly log: Log }) {
    this.#host = host;
    this.#log = log;
    this.#said = host.authentication();
    this.#current = readTrust(this.#said);
  }

  get current(): Trust {
    const said = this.#host.authentication();
    if (said === this.#said) return this.#current;
    this.#said = said;
    try {
      this.#current = readTrust(said);
      this.#log.info({}, "the host's authorities were read again");
    } catch (error) {
      this.#log.error({ error }, "the host's authorities are wrong, the last good ones count");
    }
    return this.#current;
  }
}

/** Reads the data. Keys that are missing leave nobody to believe. Throws `BadHostTrust`. */
export function readTrust(data: Readonly<Record<string, string>>): Trust {
  const { user, uid, group, extraPrefix } = usualRequestHeaders;
  return {
    clientAuthorities: poolAt(data, "client-ca-file"),
    frontProxies: poolAt(data, "requestheader-client-ca-file"),
    names: {
      user: headersAt(data, "requestheader-username-headers", user),
      uid: headersAt(data, "requestheader-uid-headers", uid),
      group: headersAt(data, "requestheader-group-headers", group),
      extraPrefix: headersAt(data, "requestheader-extra-headers-prefix", extraPrefix),
      allowedNames: namesAt(data, "requestheader-allowed-names", []),
    },
  };
}

function poolAt(data: Readonly<Record<string, string>>, key: string): CertificatePool {
  const pem = data[key] ?? "";
  if (pem.trim() === "") return new CertificatePool([]);
  try {
    return new CertificatePool(readCertificates(pem));
  } catch (cause) {
    throw new BadHostTrust(`${key} holds no certificates`, { cause });
  }
}

/** Names of headers, in lower case: so they arrive. */
function headersAt(
  data: Readonly<Record<string, string>>,
  key: string,
  unless: readonly string[],
): readonly string[] {
  return namesAt(data, key, unless).map((name) => name.toLowerCase());
}

/** A list, as JSON. */
function namesAt(
  data: Readonly<Record<string, string>>,
  key: string,
  unless: readonly string[],
): readonly string[] {
  const text = data[key];
  if (text === undefined) return unless;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new BadHostTrust(`${key} is no JSON`, { cause });
  }
  if (!Array.isArray(value) || !value.every((one): one is string => typeof one === "string")) {
    throw new BadHostTrust(`${key} is no list of texts`);
  }
  return value;
}
