// Versions as semver.org has them, and their order.

export interface Semver {
  readonly numbers: readonly [major: bigint, minor: bigint, patch: bigint];
  readonly pre: readonly string[];
}

export const zeroSemver: Semver = { numbers: [0n, 0n, 0n], pre: [] };

const form =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?$/;

/** A version, or nothing if the text is none. */
export function parseSemver(text: string): Semver | undefined {
  const found = text.length > 256 ? null : form.exec(text);
  if (found === null) return undefined;
  const [, major = "0", minor = "0", patch = "0", pre] = found;
  const numbers = [BigInt(major), BigInt(minor), BigInt(patch)] as const;
  return { numbers, pre: pre?.split(".") ?? [] };
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
  const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber && isOtherNumber)
    return BigInt(a) === BigInt(b) ? 0 : BigInt(a) < BigInt(b) ? -1 : 1;
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
