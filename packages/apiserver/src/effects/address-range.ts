// A range of IPv4 addresses.

export interface AddressRange {
  /** `10.96.0.0/12`. */
  readonly text: string;
  readonly base: number;
  readonly bits: number;
}

/** Reads `10.96.0.0/12`. Throws a `RangeError` for anything else. */
export function addressRange(text: string): AddressRange {
  const [address = "", length = ""] = text.split("/");
  const bits = Number(length);
  const number = numberOf(address);
  if (number === undefined || !Number.isInteger(bits) || bits < 8 || bits > 30) {
    throw new RangeError(`${text} is no range of IPv4 addresses from /8 to /30`);
  }
  const size = 2 ** (32 - bits);
  return { text, base: Math.floor(number / size) * size, bits };
}

/** How many addresses there are, the network's own and the broadcast address included. */
export function addressCount({ bits }: AddressRange): number {
  return 2 ** (32 - bits);
}

export function addressAt({ base }: AddressRange, index: number): string {
  const number = base + index;
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join(".");
}

/** Where an address stands in the range; undefined if it does not. */
export function addressIndex(range: AddressRange, address: string): number | undefined {
  const number = numberOf(address);
  if (number === undefined) return undefined;
  const index = number - range.base;
  return index >= 0 && index < addressCount(range) ? index : undefined;
}

function numberOf(address: string): number | undefined {
  const parts = address.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part))) {
    return undefined;
  }
  const numbers = parts.map(Number);
  if (numbers.some((part) => part > 255)) return undefined;
  return numbers.reduce((sum, part) => sum * 256 + part, 0);
}
