import type { AddressInfo } from "node:net";

/**
 * Where a server that listens there over TLS is found, on its machine: `https://127.0.0.1:6443`. Every address at once is
 * none that one could go to, or that a certificate could be for: it is found by loopback.
 */
export function urlOf({ address, port }: Pick<AddressInfo, "address" | "port">): string {
  const found = loopbackOf[address] ?? address.replace(/^::ffff:(?=[\d.]+$)/, "");
  return `https://${found.includes(":") ? `[${found}]` : found}:${port}`;
}

const loopbackOf: Readonly<Record<string, string>> = {
  "0.0.0.0": "127.0.0.1",
  "::ffff:0.0.0.0": "127.0.0.1",
  "::": "::1",
};
