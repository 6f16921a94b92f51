// What the driver does not make of a server's address by itself. The same stands in packages/database/src/sql: neither package may import
// the other, and what both may import knows no driver.

import { isIP } from "node:net";
import { checkServerIdentity, type ConnectionOptions as TlsOptions } from "node:tls";

/** What a connection is made with, over what the driver reads in its URL. */
export interface ServerAddress {
  readonly host?: string;
  readonly port?: number;
  readonly ssl?: TlsOptions;
}

/**
 * A server that is reached by its address must prove that address: the driver would have it prove to be `localhost`. Of
 * several addresses in one URL it may prove any.
 *
 * An address of IPv6 is handed over by itself: the driver takes what is before its first colon for the host.
 */
export function serverAddress(url: string): ServerAddress {
  if (!URL.canParse(url)) return {};
  const { hostname, port, searchParams } = new URL(url);
  const hosts = hostname.split(",").map((host) => host.replace(/^\[(.*)\]$/, "$1"));
  const addresses = hosts.filter((host) => isIP(host) !== 0);
  const hasIPv6 = addresses.some((address) => isIP(address) === 6);
  const ssl: TlsOptions = {
    checkServerIdentity: (name, certificate) => {
      const claims = hosts.includes(name) ? [name] : addresses;
      const problems = claims.map((claim) => checkServerIdentity(claim, certificate));
      return problems.includes(undefined) ? undefined : problems[0];
    },
  };
  // The driver takes lists, of which its types do not know; a text it would take apart.
  const inParts = {
    host: hosts as unknown as string,
    port: hosts.map(() => Number(port || 5432)) as unknown as number,
  };
  return {
    ...(hasIPv6 && inParts),
    ...(addresses.length > 0 && isVerified(searchParams) && { ssl }),
  };
}

/**
 * Which server of a replicated database we mean: who writes. One that is told to take no writes for a while is still that,
 * and is read; unless the URL asks for one that takes them.
 */
export function sessionTarget(url: string): "primary" | "read-write" {
  const asked = URL.canParse(url) ? new URL(url).searchParams.get("target_session_attrs") : null;
  return asked === "read-write" ? asked : "primary";
}

/** Whether a certificate must be right: the driver checks it unless it was told one of these words. */
function isVerified(parameters: URLSearchParams): boolean {
  const mode = parameters.get("sslmode") ?? parameters.get("ssl") ?? "disable";
  const isUnchecked = ["disable", "false", "allow", "prefer", "require"].includes(mode);
  return !isUnchecked || parameters.get("sslrootcert") === "system";
}
