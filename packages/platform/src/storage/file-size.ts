const factors = { Ki: 2n ** 10n, Mi: 2n ** 20n, Gi: 2n ** 30n };

/** How large a file of a bucket may be, exactly; 0 where it does not say. */
export function bytesOf({ maxFileSize = "0" }: { readonly maxFileSize?: string }): bigint {
  const [, count = "0", unit] = /^([0-9]+)(Ki|Mi|Gi)?$/.exec(maxFileSize) ?? [];
  return BigInt(count) * (unit === undefined ? 1n : factors[unit as keyof typeof factors]);
}

/** Nothing that is sent is larger, and every controller can count so far. */
const bodyBytesMax = BigInt(Number.MAX_SAFE_INTEGER);

/** How large a body may be that an app takes for its buckets; 0 where none says so. */
export function bodyBytesOf(buckets: readonly { readonly maxFileSize?: string }[]): number {
  const largest = buckets.map(bytesOf).reduce((one, other) => (one > other ? one : other), 0n);
  return Number(largest < bodyBytesMax ? largest : bodyBytesMax);
}
