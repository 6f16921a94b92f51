// Addresses of hosts and networks, as specs write them: what is wrong with one, and what is unusual.

import { quote } from "../../go-text/quote.ts";
import type { Place } from "./place.ts";

/** An address: eight groups of sixteen bits, an IPv4 address in the last two. */
interface Address {
  readonly groups: readonly number[];
  readonly isV4: boolean;
  /** An IPv6 text that means an IPv4 address. */
  readonly isMapped: boolean;
  readonly hasLeadingZeros: boolean;
}

/** Reads an address, leading zeros in decimal parts too; undefined for what is none. */
export function parseAddress(text: string): Address | undefined {
  if (!text.includes(":")) {
    const quad = parseQuad(text);
    return (
      quad && {
        ...quad,
        groups: [0, 0, 0, 0, 0, 0xffff, ...quad.groups],
        isV4: true,
        isMapped: false,
      }
    );
  }
  const v6 = parseV6(text);
  if (v6 === undefined) return undefined;
  return { ...v6, isV4: false, isMapped: hasMappedPrefix(v6.groups) };
}

interface Network {
  readonly address: Address;
  readonly bits: number;
  readonly hasLeadingZeros: boolean;
}

/** Reads `10.0.0.0/8`; undefined for what is no network. */
export function parseNetwork(text: string): Network | undefined {
  const slash = text.indexOf("/");
  if (slash < 0) return undefined;
  const address = parseAddress(text.slice(0, slash));
  const length = text.slice(slash + 1);
  if (address === undefined || !/^[0-9]{1,6}$/.test(length)) return undefined;
  const bits = Number(length);
  if (bits > (address.isV4 ? 32 : 128)) return undefined;
  const hasLeadingZeros = address.hasLeadingZeros || (length.length > 1 && length.startsWith("0"));
  return { address, bits, hasLeadingZeros };
}

/** Whether it is an IPv6 address that is not IPv4 in disguise. */
export function isV6(address: Address): boolean {
  return !address.isV4 && !address.isMapped;
}

/** The address in its usual form. */
export function printAddress({ groups, isV4, isMapped }: Address): string {
  if (isV4 || isMapped) {
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join(".");
  }
  const { start, length } = longestZeros(groups);
  const hex = (part: readonly number[]): string =>
    part.map((group) => group.toString(16)).join(":");
  if (length < 2) return hex(groups);
  return `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`;
}

/** The address with all bits beyond the prefix cleared, and the prefix. */
export function printNetwork({ address, bits }: Network): string {
  const first = masked(address, bits);
  return `${printAddress(first)}/${first.isMapped ? bits - mappedPrefixBits : bits}`;
}

/** Whether all addresses of one network are in another, which has more. Each family knows only its own addresses. */
export function isStrictSubset(inner: Network, outer: Network): boolean {
  const [first, start] = [masked(inner.address, inner.bits), masked(outer.address, outer.bits)];
  if (inner.bits <= outer.bits || isV6(first) !== isV6(start)) return false;
  const { groups } = masked({ ...outer.address, groups: first.groups }, outer.bits);
  return groups.every((group, index) => group === start.groups[index]);
}

/** Reports what is no address; what the old object already had is let through. */
export function checkAddress(
  text: string,
  at: Place,
  { existing }: { readonly existing?: ReadonlySet<string> } = {},
): boolean {
  if (existing?.has(text) === true) return true;
  const address = parseAddress(text);
  if (address === undefined) {
    at.invalid(text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    return false;
  }
  if (address.hasLeadingZeros) at.invalid(text, "must not have leading 0s");
  else if (address.isMapped) at.invalid(text, "must not be an IPv4-mapped IPv6 address");
  return !address.hasLeadingZeros && !address.isMapped;
}

/** Reports an address that is not written as it should be. */
export function checkCanonicalAddress(text: string, at: Place): boolean {
  if (!checkAddress(text, at)) return false;
  const address = parseAddress(text);
  const usual = address === undefined ? text : printAddress(address);
  if (usual === text) return true;
  at.invalid(text, `must be in canonical form (${quote(usual)})`);
  return false;
}

/** Reports what is no network. */
export function checkNetwork(
  text: string,
  at: Place,
  { existing }: { readonly existing?: ReadonlySet<string> } = {},
): void {
  if (existing?.has(text) === true) return;
  const network = parseNetwork(text);
  if (network === undefined) {
    at.invalid(text, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
  } else if (network.hasLeadingZeros) {
    at.invalid(text, "must not have leading 0s in IP or prefix length");
  } else if (network.address.isMapped) {
    at.invalid(text, "must not have an IPv4-mapped IPv6 address");
  } else if (hasBitsBeyond(network)) {
    at.invalid(text, "must not have bits set beyond the prefix length");
  }
}

/** Reports an address that no endpoint can have. */
export function checkEndpointAddress(text: string, at: Place): void {
  const address = parseAddress(text);
  if (address === undefined) {
    at.invalid(text, "must be a valid IP address");
    return;
  }
  const groups = address.groups;
  const isV4 = !isV6(address);
  const first = isV4 ? (groups[6] ?? 0) : (groups[0] ?? 0);
  const rest = groups.slice(0, 7).every((group) => group === 0);
  if (isV4 ? groups[6] === 0 && groups[7] === 0 : rest && groups[7] === 0) {
    at.invalid(text, `may not be unspecified (${text})`);
  }
  if (isV4 ? first >> 8 === 127 : rest && groups[7] === 1) {
    at.invalid(text, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
  }
  if (isV4 ? first === 0xa9fe : (first & 0xffc0) === 0xfe80) {
    at.invalid(text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  }
  const isMulticast = isV4
    ? first === 0xe000 && (groups[7] ?? 0) >> 8 === 0
    : (first & 0xff0f) === 0xff02;
  if (isMulticast) {
    at.invalid(text, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  }
}

/** Whether the addresses are of both families; what is no address counts as the old one: of it something was said before. */
export function isDualStack(addresses: readonly (Address | undefined)[]): boolean {
  const families = addresses.map((address) => address !== undefined && isV6(address));
  return families.includes(true) && families.includes(false);
}

/** What to say of an address that is right but unusual. `path` is where it stands. */
export function addressWarnings(text: string, path: string): readonly string[] {
  const address = parseAddress(text);
  if (address === undefined) return [];
  const usual = printAddress(address);
  if (address.hasLeadingZeros || address.isMapped) {
    return [`${path}: non-standard IP address ${quote(text)} is invalid: use ${quote(usual)}`];
  }
  if (!address.isV4 && usual !== text) {
    return [
      `${path}: IPv6 address ${quote(text)} should be in RFC 5952 canonical format (${quote(usual)})`,
    ];
  }
  return [];
}

/** What to say of a network that is right but unusual. */
export function networkWarnings(text: string, path: string): readonly string[] {
  const network = parseNetwork(text);
  if (network === undefined) return [];
  const warnings: string[] = [];
  const { address } = network;
  const usual = printNetwork(network);
  if (hasBitsBeyond(network)) {
    const single = `${printAddress(address)}/${address.isV4 ? 32 : 128}`;
    warnings.push(
      `${path}: CIDR value ${quote(text)} is ambiguous in this context (should be ${quote(usual)} or ${quote(single)}?)`,
    );
  }
  if (network.hasLeadingZeros || address.isMapped) {
    warnings.push(
      `${path}: non-standard CIDR value ${quote(text)} is invalid: use ${quote(usual)}`,
    );
  }
  if (warnings.length === 0 && !address.isV4 && usual !== text) {
    warnings.push(
      `${path}: IPv6 CIDR value ${quote(text)} should be in RFC 5952 canonical format (${quote(usual)})`,
    );
  }
  return warnings;
}

function hasBitsBeyond({ address, bits }: Network): boolean {
  const { groups } = masked(address, bits);
  return groups.some((group, index) => group !== address.groups[index]);
}

function masked(address: Address, bits: number): Address {
  const length = address.isV4 ? bits + mappedPrefixBits : bits;
  const groups = address.groups.map((group, index) => {
    const kept = Math.min(Math.max(length - index * 16, 0), 16);
    return group & ((0xffff << (16 - kept)) & 0xffff);
  });
  return { ...address, groups, isMapped: !address.isV4 && hasMappedPrefix(groups) };
}

/** What stands before an IPv4 address in eight groups. */
const mappedPrefixBits = 96;

function hasMappedPrefix(groups: readonly number[]): boolean {
  return groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
}

interface Parsed {
  readonly groups: readonly number[];
  readonly hasLeadingZeros: boolean;
}

function parseQuad(text: string): Parsed | undefined {
  const parts = text.split(".", 5);
  if (parts.length !== 4) return undefined;
  if (!parts.every((part) => /^[0-9]{1,32}$/.test(part) && Number(part) <= 255)) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = parts.map(Number);
  const hasLeadingZeros = parts.some((part) => part.length > 1 && part.startsWith("0"));
  return { groups: [a * 256 + b, c * 256 + d], hasLeadingZeros };
}

function parseV6(text: string): Parsed | undefined {
  if (text.length > 200) return undefined;
  const halves = text.split("::", 3);
  if (halves.length > 2) return undefined;
  let hasLeadingZeros = false;
  const read = (half: string, isLastHalf: boolean): number[] | undefined => {
    if (half === "") return [];
    const groups: number[] = [];
    const parts = half.split(":");
    for (const [index, part] of parts.entries()) {
      if (isLastHalf && index === parts.length - 1 && part.includes(".")) {
        const quad = parseQuad(part);
        if (quad === undefined) return undefined;
        hasLeadingZeros = quad.hasLeadingZeros;
        groups.push(...quad.groups);
      } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) {
        groups.push(Number.parseInt(part, 16));
      } else return undefined;
    }
    return groups;
  };
  const [before, after] = [read(halves[0] ?? "", halves.length === 1), read(halves[1] ?? "", true)];
  if (before === undefined || after === undefined) return undefined;
  const missing = 8 - before.length - after.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  return { groups: [...before, ...Array<number>(missing).fill(0), ...after], hasLeadingZeros };
}

/** The longest run of zeros, the first of equals. */
function longestZeros(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (let end = 0; end <= groups.length; end++) {
    if (groups[end] === 0) continue;
    if (end - start > best.length) best = { start, length: end - start };
    start = end + 1;
  }
  return best;
}
