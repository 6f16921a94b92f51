/**
 * Where a listener is found, on its machine: `https://127.0.0.1:6443`. Every address at once is none that one could go to, or that
 * a certificate could be for: it is found by loopback.
 */
export function listenerUrl(
  scheme: "http" | "https",
  { address, port }: { readonly address: string; readonly port: number },
): string {
  const host = loopbackOf[address] ?? address.replace(/^::ffff:(?=[\d.]+$)/, "");
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

const loopbackOf: Readonly<Record<string, string>> = {
  "0.0.0.0": "127.0.0.1",
  "::ffff:0.0.0.0": "127.0.0.1",
  "::": "::1",
};
