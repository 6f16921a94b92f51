// What counts as this machine alone: addresses to bind to, `Host` and `Origin` headers, URLs of neighbours.

/** Whether a host name or address, as it stands in a URL or a `Host`, is this machine and nothing else. */
export function isLoopbackHost(host: string): boolean {
  const bare = host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");
  if (bare === "localhost" || bare.endsWith(".localhost") || bare === "::1") return true;
  const octets = /^(?:::ffff:)?127\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(bare);
  return octets !== null && octets.slice(1).every((octet) => Number(octet) <= 255);
}

/**
 * The host by which a listener at `address` is found, on its machine. Every address at once is none that one could go to,
 * or that a certificate could be for: it is found by loopback.
 */
export function hostOf(address: string): string {
  return loopbackOf[address] ?? address;
}

const loopbackOf: Readonly<Record<string, string>> = {
  "0.0.0.0": "127.0.0.1",
  "::ffff:0.0.0.0": "127.0.0.1",
  "::": "::1",
};
