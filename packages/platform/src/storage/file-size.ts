const factors = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };

/** How large a file of a bucket may be; 0 where it does not say. */
export function bytesOf({ maxFileSize = "0" }: { readonly maxFileSize?: string }): number {
  const [, count = "0", unit] = /^([0-9]+)(Ki|Mi|Gi)?$/.exec(maxFileSize) ?? [];
  return Number(count) * (unit === undefined ? 1 : factors[unit as keyof typeof factors]);
}
