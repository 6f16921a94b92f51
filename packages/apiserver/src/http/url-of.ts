import type { AddressInfo } from "node:net";

/** Where a server that listens there over TLS is found: `https://127.0.0.1:6443`. */
export function urlOf({ family, address, port }: AddressInfo): string {
  return `https://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
