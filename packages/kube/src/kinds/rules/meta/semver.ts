// Versions as semver.org has them, and their order.

export interface Semver {
  readonly numbers: readonly [major: bigint, minor: bigint, patch: bigint];
  readonly pre: readonly string[];
}

export const zeroSemver: Semver = { numbers: [0n, 0n, 0n], pre: [] };

const form =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?$/;

/** Whether the text has the form of a version, however large its numbers are. */
export function isSemver(text: string): boolean {
  return form.test(text);
}

/** A version whose numbers have 64 bits at the most, or nothing if the text is none. */
export function parseSemver(text: string): Semver | undefined {
  const found = form.exec(text);
  if (found === null) return undefined;
  const [, major = "0", minor = "0", patch = "0", after] = found;
  const pre = after?.split(".") ?? [];
  if ([major, minor, patch, ...pre.filter(isNumber)].some(isTooLarge)) return undefined;
  return { numbers: [BigInt(major), BigInt(minor), BigInt(patch)], pre };
}

function isNumber(text: string): boolean {
  return /^\d+$/.test(text);
}

function isTooLarge(digits: string): boolean {
  // The length first: to read very many digits takes long.
  return digits.length > 20 || BigInt.asUintN(64, BigInt(digits)) !== BigInt(digits);
}

/** Negative, zero or positive, as `a` is before, at or after `b`. */
export function compareSemver(a: Semver, b: Semver): number {
  for (const [index, number] of a.numbers.entries()) {
    const other = b.numbers[index] ?? 0n;
    if (number !== other) return number < other ? -1 : 1;
  }
  if (a.pre.length === 0 || b.pre.length === 0) {
    return (a.pre.length === 0 ? 1 : 0) - (b.pre.length === 0 ? 1 : 0);
  }
  for (let index = 0; index < Math.min(a.pre.length, b.pre.length); index += 1) {
    const order = comparePre(a.pre[index] ?? "", b.pre[index] ?? "");
    if (order !== 0) return order;
  }
  return a.pre.length - b.pre.length;
}

function comparePre(a: string, b: string): number {
  if (a === b) return 0;
  if (isNumber(a) !== isNumber(b)) return isNumber(a) ? -1 : 1;
  return (isNumber(a) ? BigInt(a) < BigInt(b) : a < b) ? -1 : 1;
}
