// Values in DER, as far as certificates and requests for them need to be read.

/** A value in DER. */
export interface DerValue {
  readonly tag: number;
  readonly start: number;
  readonly end: number;
}

/** The value that begins at a place, or nothing if there is none. */
export function readDer(bytes: Uint8Array, start: number, limit: number): DerValue | undefined {
  const tag = bytes[start];
  const first = bytes[start + 1];
  if (tag === undefined || first === undefined || start + 2 > limit) return undefined;
  if (first < 0x80) {
    const end = start + 2 + first;
    return end > limit ? undefined : { tag, start: start + 2, end };
  }
  const count = first & 0x7f;
  if (count === 0 || count > 4 || start + 2 + count > limit) return undefined;
  let length = 0;
  for (let index = 0; index < count; index += 1) {
    length = length * 256 + (bytes[start + 2 + index] ?? 0);
  }
  if (length < 0x80 || bytes[start + 2] === 0) return undefined;
  const begin = start + 2 + count;
  return begin + length > limit ? undefined : { tag, start: begin, end: begin + length };
}

/** The values inside a value, or nothing if they do not fill it. */
export function derChildren(bytes: Uint8Array, parent: DerValue): DerValue[] | undefined {
  const children: DerValue[] = [];
  let place = parent.start;
  while (place < parent.end) {
    const value = readDer(bytes, place, parent.end);
    if (value === undefined) return undefined;
    children.push(value);
    place = value.end;
  }
  return children;
}

/** The bytes of a value, in hexadecimal. */
export function derHex(bytes: Uint8Array, { start, end }: DerValue): string {
  return Array.from(bytes.subarray(start, end), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
}
