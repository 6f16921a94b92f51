// Which hosts a model may be at. Whoever may write a Model must not reach through us what only we can reach.

import { BlockList, isIPv4, isIPv6 } from "node:net";

export interface ModelHostsOptions {
  /** Networks, or single addresses, that are allowed although they are closed to models otherwise. */
  readonly allowedRanges: readonly string[];
  /** Domains in which every model must be, themselves or with `*.` before them; none: any. */
  readonly domains: readonly string[];
}

/** Networks of the machine itself, of the site and of the link. */
const closedRanges = [
  "127.0.0.0/8",
  "::1/128",
  // Whoever connects to these reaches the machine itself.
  "0.0.0.0/8",
  "::/128",
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "fc00::/7",
  "169.254.0.0/16",
  "fe80::/10",
];

export class ModelHosts {
  readonly #closed = blockListOf(closedRanges);
  readonly #allowed: BlockList;
  readonly #domains: readonly string[];

  /** Throws for a range that is none. */
  constructor({ allowedRanges, domains }: ModelHostsOptions) {
    this.#allowed = blockListOf(allowedRanges);
    this.#domains = domains.map(
      (domain) => hostOf(`https://${domain.replace(/^\*\./, "")}`) ?? domain,
    );
  }

  /** What is wrong with a base URL; undefined if a model may be there. It says nothing of the URL itself. */
  problemOf(url: string): string | undefined {
    const host = hostOf(url);
    if (host === undefined) return "must be an https URL with a host";
    if (this.#isClosed(host)) {
      return "must not lead to a loopback, private or link-local address, unless ALLOWED_PRIVATE_IP_RANGES has it";
    }
    if (!this.#isInDomains(host)) return "must be at a host that WHITELISTED_MODEL_DOMAINS names";
    return undefined;
  }

  #isClosed(host: string): boolean {
    return addressesOf(host).some(
      (address) => contains(this.#closed, address) && !contains(this.#allowed, address),
    );
  }

  #isInDomains(host: string): boolean {
    if (this.#domains.length === 0) return true;
    // Addresses have four numbers on either side, so that none is below another.
    return this.#domains.some((domain) => host === domain || host.endsWith(`.${domain}`));
  }
}

/**
 * The host of an https URL, in the one form that each has: lower case, no brackets, no last dot, an IPv4 address as
 * four numbers however it was written. Undefined for what is no such URL, or is not one to every reader.
 */
function hostOf(text: string): string | undefined {
  // Readers differ on backslashes, blanks and missing or surplus slashes: some see another host than others.
  if (!/^https:\/\/[^/\\\s\p{Cc}]+/iu.test(text) || /[\\\s\p{Cc}]/u.test(text)) return undefined;
  if (!URL.canParse(text)) return undefined;
  const host = new URL(text).hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  return host === "" ? undefined : host;
}

/** The addresses that a host is known to have without asking anybody. */
function addressesOf(host: string): readonly string[] {
  if (host === "localhost" || host.endsWith(".localhost")) return ["127.0.0.1", "::1"];
  if (isIPv4(host)) return [host];
  if (!isIPv6(host)) return [];
  const inner = innerAddress(host);
  return inner === undefined ? [host] : [host, inner];
}

/** The IPv4 address that an IPv6 address stands for: mapped, compatible, behind NAT64 or 6to4. */
function innerAddress(address: string): string | undefined {
  const groups = groupsOf(address);
  const starts = (...expected: readonly number[]): boolean =>
    expected.every((group, index) => groups[index] === group);
  const last = groups.slice(6);
  if (starts(0, 0, 0, 0, 0, 0xffff) || starts(0, 0, 0, 0, 0, 0)) return dotted(last);
  if (starts(0x64, 0xff9b, 0, 0, 0, 0)) return dotted(last);
  return starts(0x2002) ? dotted(groups.slice(1, 3)) : undefined;
}

/** The eight groups of an address as URLs write it. */
function groupsOf(address: string): readonly number[] {
  const [before = "", after] = address.split("::");
  const read = (part: string): number[] =>
    part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
  if (after === undefined) return read(before);
  const [head, tail] = [read(before), read(after)];
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

function dotted([high = 0, low = 0]: readonly number[]): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}

function blockListOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", bits] = range.split("/");
    const family = isIPv4(address) ? "ipv4" : "ipv6";
    list.addSubnet(address, Number(bits ?? (family === "ipv4" ? 32 : 128)), family);
  }
  return list;
}

function contains(list: BlockList, address: string): boolean {
  return list.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}
