// What clients may call a server, by the address that it listens on.

import { lookup } from "node:dns/promises";
import { isIP, SocketAddress } from "node:net";
import { networkInterfaces, type NetworkInterfaceInfo } from "node:os";

/**
 * The names and addresses of a server that is told to listen on `host`: an address, a name, or every address of the machine
 * as they are now. Throws what looking up the name throws.
 */
export async function hostsAt(
  host: string,
  interfaces: Interfaces = networkInterfaces(),
): Promise<readonly string[]> {
  if (isIP(host) !== 0) return addressesAt(host, interfaces);
  const found = await lookup(host, { all: true });
  const addresses = found.flatMap(({ address }) => addressesAt(address, interfaces));
  // `0` and `127.1` are no names, whatever they lead to.
  return /^[\d.]+$/.test(host) ? addresses : [host, ...addresses];
}

type Interfaces = Readonly<
  Record<string, readonly Pick<NetworkInterfaceInfo, "address">[] | undefined>
>;

function addressesAt(address: string, interfaces: Interfaces): readonly string[] {
  const bound = plain(address);
  if (bound !== "0.0.0.0" && bound !== "::") return [bound];
  const all = Object.values(interfaces).flatMap((one) => (one ?? []).map(({ address }) => address));
  const isAnswered = (one: string): boolean => bound === "::" || isIP(one) === 4;
  return all.map(plain).filter((one) => isAnswered(one) && !isLinkLocal(one));
}

/** As a certificate has it: the shortest form, without the interface; IPv4 as such. */
function plain(address: string): string {
  if (isIP(address) === 4) return address;
  const { address: shortest } = new SocketAddress({ address, family: "ipv6" });
  return shortest.replace(/^::ffff:(?=[\d.]+$)/, "");
}

/** They are known by an interface of the client's, which no certificate can name. */
function isLinkLocal(address: string): boolean {
  return /^fe[89ab]/i.test(address) && isIP(address) === 6;
}
