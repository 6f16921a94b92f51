// PEM as Go's encoding/pem reads it, and as much of DER as tells a certificate from something else.

/** One block of a PEM text. */
export interface PemBlock {
  readonly type: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly bytes: Uint8Array;
}

/** A block and what comes after it; the block is undefined where none is left. */
export interface DecodedPem {
  readonly block: PemBlock | undefined;
  readonly before: string;
  readonly rest: string;
}

/** The bytes of a base64 text, one character each; nothing if it is no base64. */
export function bytesOfBase64(base64: string): string | undefined {
  try {
    return atob(base64);
  } catch {
    return undefined;
  }
}

/** The first block of a text whose characters are bytes. Broken blocks are passed over. */
export function decodePem(text: string): DecodedPem {
  const begin = /(?:^|\n)-----BEGIN ([^\n]*?)-----[ \t\r]*(?:\n|$)/g;
  for (let found = begin.exec(text); found !== null; found = begin.exec(text)) {
    const type = found[1] ?? "";
    const start = found.index + (found[0].startsWith("\n") ? 1 : 0);
    const body = found.index + found[0].length;
    const end = endOf(text, body, type);
    if (end !== undefined) {
      const block = blockOf(type, text.slice(body, end.start));
      if (block !== undefined) {
        return { block, before: text.slice(0, start), rest: text.slice(end.next) };
      }
    }
    // The line break that ends this line may begin the next block.
    begin.lastIndex = Math.max(body - 1, found.index + 1);
  }
  return { block: undefined, before: text, rest: text };
}

/** All blocks, and the text between and around them. */
export function pemBlocks(text: string): {
  readonly blocks: readonly PemBlock[];
  readonly between: readonly string[];
  readonly rest: string;
} {
  const blocks: PemBlock[] = [];
  const between: string[] = [];
  let rest = text;
  for (;;) {
    const decoded = decodePem(rest);
    if (decoded.block === undefined) return { blocks, between, rest };
    blocks.push(decoded.block);
    between.push(decoded.before);
    rest = decoded.rest;
  }
}

function endOf(
  text: string,
  from: number,
  type: string,
): { readonly start: number; readonly next: number } | undefined {
  const marker = `-----END ${type}-----`;
  const index = text.indexOf(marker, from);
  if (index < 0) return undefined;
  if (index > from && text[index - 1] !== "\n") return undefined;
  const after = /^[ \t\r]*(?:\n|$)/.exec(text.slice(index + marker.length));
  if (after === null) return undefined;
  return { start: index, next: index + marker.length + after[0].length };
}

function blockOf(type: string, body: string): PemBlock | undefined {
  const headers = new Map<string, string>();
  let rest = body;
  for (;;) {
    const line = rest.split("\n", 1)[0] ?? "";
    const colon = line.indexOf(":");
    if (colon < 0) break;
    headers.set(line.slice(0, colon).trim(), line.slice(colon + 1).trim());
    rest = rest.slice(line.length + 1);
  }
  const decoded = bytesOfBase64(rest.replace(/[\s]+/g, ""));
  if (decoded === undefined) return undefined;
  return { type, headers, bytes: Uint8Array.from(decoded, (character) => character.charCodeAt(0)) };
}

/** What is wrong with a bundle of trusted certificates, base64 of PEM; nothing if one of them can be read. */
export function caBundleProblem(base64: string): string | undefined {
  const text = bytesOfBase64(base64) ?? "";
  if (text === "") return undefined;
  const isCertificate = ({ type, headers }: PemBlock): boolean =>
    type === "CERTIFICATE" && headers.size === 0;
  const certificates = pemBlocks(text).blocks.filter(isCertificate);
  if (certificates.some(({ bytes }) => certificateProblem(bytes) === undefined)) return undefined;
  let rest = text;
  const say = (detail: string): string => `unable to load root certificates: ${detail}`;
  while (rest.length > 0) {
    const decoded = decodePem(rest);
    if (decoded.block === undefined) return say("unable to parse bytes as PEM block");
    rest = decoded.rest;
    if (!isCertificate(decoded.block)) continue;
    const problem = certificateProblem(decoded.block.bytes);
    if (problem !== undefined) return say(`failed to parse certificate: ${problem}`);
  }
  return say("no valid certificate authority data seen");
}

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

const sequence = 0x30;
const integer = 0x02;
const bitString = 0x03;

/** Why bytes are no certificate; nothing if they have the form of one. */
export function certificateProblem(bytes: Uint8Array): string | undefined {
  const whole = readDer(bytes, 0, bytes.length);
  if (whole === undefined || whole.tag !== sequence) return "x509: malformed certificate";
  if (whole.end !== bytes.length) return "x509: trailing data";
  const [body, algorithm, signature] = derChildren(bytes, whole) ?? [];
  if (body === undefined || body.tag !== sequence) return "x509: malformed tbs certificate";
  const fields = derChildren(bytes, body);
  if (fields === undefined) return "x509: malformed tbs certificate";
  const named = fields[0]?.tag === 0xa0 ? fields.slice(1) : fields;
  if (named[0]?.tag !== integer) return "x509: malformed serial number";
  if (named[1]?.tag !== sequence) return "x509: malformed signature algorithm identifier";
  if (named[2]?.tag !== sequence) return "x509: malformed issuer";
  if (named[3]?.tag !== sequence) return "x509: malformed validity";
  if (named[4]?.tag !== sequence) return "x509: malformed issuer";
  if (named[5]?.tag !== sequence) return "x509: malformed spki";
  if (algorithm?.tag !== sequence) return "x509: malformed algorithm identifier";
  if (signature?.tag !== bitString) return "x509: malformed signature";
  return undefined;
}

const boolean = 0x01;
const octetString = 0x04;
const objectIdentifier = 0x06;
const extensionsTag = 0xa3;
/** 2.5.29.19. */
const basicConstraints = "551d13";

/** What a certificate says of being an authority; nothing if it does not say. */
export function authorityOf(
  bytes: Uint8Array,
): { readonly isAuthority: boolean; readonly isReadable: boolean } | undefined {
  const whole = readDer(bytes, 0, bytes.length);
  const body = whole === undefined ? undefined : derChildren(bytes, whole)?.[0];
  const fields = body === undefined ? [] : (derChildren(bytes, body) ?? []);
  const wrapper = fields.find(({ tag }) => tag === extensionsTag);
  const list = wrapper === undefined ? undefined : derChildren(bytes, wrapper)?.[0];
  for (const extension of list === undefined ? [] : (derChildren(bytes, list) ?? [])) {
    const parts = derChildren(bytes, extension) ?? [];
    const id = parts[0];
    const value = parts.find(({ tag }) => tag === octetString);
    if (id?.tag !== objectIdentifier || value === undefined) continue;
    if (hexOf(bytes.subarray(id.start, id.end)) !== basicConstraints) continue;
    const constraints = readDer(bytes, value.start, value.end);
    if (constraints?.tag !== sequence) return { isAuthority: false, isReadable: false };
    const [first] = derChildren(bytes, constraints) ?? [];
    const isAuthority = first?.tag === boolean && bytes[first.start] === 0xff;
    return { isAuthority, isReadable: true };
  }
  return undefined;
}

/** Why bytes are no request for a certificate; nothing if they have the form of one. */
export function certificateRequestProblem(bytes: Uint8Array): string | undefined {
  const whole = readDer(bytes, 0, bytes.length);
  if (whole === undefined) return "asn1: syntax error: data truncated";
  if (whole.tag !== sequence) {
    return "asn1: structure error: tags don't match";
  }
  if (whole.end !== bytes.length) return "asn1: syntax error: trailing data";
  const [body, algorithm, signature] = derChildren(bytes, whole) ?? [];
  const isRight =
    body?.tag === sequence && algorithm?.tag === sequence && signature?.tag === bitString;
  return isRight ? undefined : "asn1: structure error: tags don't match";
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
