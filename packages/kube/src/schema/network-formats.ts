// Addresses of networks: IP, CIDR and MAC, as the real server's library reads them.

/** An IPv4 address, leading zeros allowed, or an IPv6 one that ends in one. */
export function isIpv4(text: string): boolean {
  return text.includes(".") && isAddress(text, { allowLeadingZeros: true });
}

export function isIpv6(text: string): boolean {
  return text.includes(":") && isAddress(text, { allowLeadingZeros: false });
}

export function isCidr(text: string): boolean {
  const slash = text.indexOf("/");
  if (slash < 0) return false;
  const address = text.slice(0, slash);
  const length = text.slice(slash + 1);
  if (!/^[0-9]{1,6}$/.test(length)) return false;
  const isV6 = address.includes(":");
  if (!isV6 && !isDottedQuad(address, { allowLeadingZeros: true })) return false;
  if (isV6 && !isV6Address(address, { allowLeadingZeros: true })) return false;
  return Number(length) <= (isV6 ? 128 : 32);
}

/** EUI-48, EUI-64 or 20 bytes, by colons, dashes or dots. */
export function isMac(text: string): boolean {
  if (text.length > 59) return false;
  if (/^[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4})+$/.test(text)) {
    return [14, 19, 49].includes(text.length);
  }
  const isColons = /^[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2})+$/.test(text);
  const isDashes = /^[0-9a-fA-F]{2}(?:-[0-9a-fA-F]{2})+$/.test(text);
  return (isColons || isDashes) && [17, 23, 59].includes(text.length);
}

interface Leniency {
  readonly allowLeadingZeros: boolean;
}

function isAddress(text: string, leniency: Leniency): boolean {
  return text.includes(":") ? isV6Address(text, leniency) : isDottedQuad(text, leniency);
}

function isDottedQuad(text: string, { allowLeadingZeros }: Leniency): boolean {
  const parts = text.split(".", 5);
  if (parts.length !== 4) return false;
  return parts.every((part) => {
    if (!/^[0-9]+$/.test(part)) return false;
    if (part.length > 1 && part.startsWith("0") && !allowLeadingZeros) return false;
    return Number(part) <= 255;
  });
}

function isV6Address(text: string, leniency: Leniency): boolean {
  if (text.length > 200) return false;
  const halves = text.split("::", 3);
  if (halves.length > 2) return false;
  let groups = 0;
  for (const [index, half] of halves.entries()) {
    if (half === "") continue;
    const parts = half.split(":");
    for (const [position, part] of parts.entries()) {
      const isLast = index === halves.length - 1 && position === parts.length - 1;
      if (isLast && part.includes(".")) {
        if (!isDottedQuad(part, leniency)) return false;
        groups += 2;
      } else {
        if (!/^[0-9a-fA-F]{1,4}$/.test(part)) return false;
        groups += 1;
      }
    }
  }
  return halves.length === 2 ? groups < 8 : groups === 8;
}
