// Which proxy is on the way to a server: the one that its kubeconfig names, else the environment's, by the rules of
// Go's `httpproxy`, so that whatever works for kubectl works for us.

import { BlockList, isIP } from "node:net";

/** `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, by whoever reads the environment. */
export interface EnvironmentProxies {
  readonly httpsProxy?: string;
  readonly httpProxy?: string;
  readonly noProxy?: string;
}

/**
 * The proxy that the environment wants for a server, if any. Never for this machine itself. Throws a `TypeError`
 * for one that is no URL.
 */
export function environmentProxy(server: string, proxies: EnvironmentProxies): string | undefined {
  const { protocol, hostname, port } = new URL(server);
  const isSecure = protocol === "https:";
  const proxy = isSecure ? proxies.httpsProxy : proxies.httpProxy;
  if (proxy === undefined || proxy === "") return undefined;
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  if (isThisMachine(host)) return undefined;
  const target = { host, port: port === "" ? (isSecure ? "443" : "80") : port };
  const exceptions = (proxies.noProxy ?? "").split(",").map((one) => one.trim().toLowerCase());
  if (exceptions.some((exception) => isExcepted(target, exception))) return undefined;
  return proxyUrlOf(proxy);
}

/** A proxy's URL, `http` if it does not say. Throws a `TypeError` for one that nobody can use. */
export function proxyUrlOf(text: string): string {
  const url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  // Names are resolved by the proxy either way.
  if (url.protocol === "socks5h:") return text.replace(/^socks5h/i, "socks5");
  if (!/^(https?|socks5):$/.test(url.protocol)) {
    throw new TypeError(`a proxy is spoken to by http, https or socks5, not by ${url.protocol}`);
  }
  return url.href.replace(/\/$/, "");
}

function isThisMachine(host: string): boolean {
  return host === "localhost" || (isIP(host) !== 0 && loopback.check(host, familyOf(host)));
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");

interface Target {
  readonly host: string;
  readonly port: string;
}

/**
 * `*`, an address, a range (`10.0.0.0/8`), a name with all below it (`example.com`), or only what is below it
 * (`.example.com`, `*.example.com`); all but a range may have a port.
 */
function isExcepted({ host, port }: Target, exception: string): boolean {
  if (exception === "") return false;
  if (exception === "*") return true;
  if (exception.includes("/")) return isInRange(host, exception);
  const [, name = "", wantedPort] =
    /^(\[[^\]]*\]|[^:]*|.*:.*:.*?)(?::(\d+))?$/.exec(exception) ?? [];
  if (wantedPort !== undefined && wantedPort !== port) return false;
  const bare = name.replace(/^\[|\]$/g, "").replace(/^\*(?=\.)/, "");
  if (bare === "") return false;
  if (isIP(bare) !== 0 || isIP(host) !== 0) return bare === host;
  return bare.startsWith(".") ? host.endsWith(bare) : host === bare || host.endsWith(`.${bare}`);
}

function isInRange(host: string, range: string): boolean {
  const [network = "", bits = ""] = range.split("/");
  if (isIP(network) === 0 || isIP(network) !== isIP(host) || !/^\d{1,3}$/.test(bits)) return false;
  if (Number(bits) > (isIP(network) === 4 ? 32 : 128)) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(bits), familyOf(network));
  return list.check(host, familyOf(host));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}
