// PEM as Go's encoding/pem reads it, and as much of DER as tells a certificate from something else.

import { decodeBase64 } from "../../../go-text/base64.ts";
import { trimSpace } from "../../../go-text/trim-space.ts";

/** One block of a PEM text. */
export interface PemBlock {
  readonly type: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly bytes: Uint8Array;
}

/** A block and what comes after it; the block is undefined where none is left. */
export interface DecodedPem {
  readonly block: PemBlock | undefined;
  readonly rest: string;
}

/** The bytes of a base64 text, one character each; nothing if it is no base64. */
export function bytesOfBase64(base64: string): string | undefined {
  const canonical = decodeBase64(base64);
  return typeof canonical === "number" ? undefined : atob(canonical);
}

const beginning = "-----BEGIN ";
const ending = "\n-----END ";
const dashes = "-----";

/**
 * The first block of a text whose characters are bytes. Broken blocks are passed over. A block ends at the first END and begins
 * at the last BEGIN before it, so that beginnings without an end cost no second look.
 */
export function decodePem(text: string): DecodedPem {
  const none = { block: undefined, rest: text };
  let from = 0;
  for (;;) {
    const end = text.indexOf(ending, from);
    if (end < 0) return none;
    const found = readBlock(text, { from, end });
    if (found === "nothing more") return none;
    if (found !== "broken") {
      return { block: found, rest: text.slice(lineAt(text, end + ending.length).next) };
    }
    from = end + ending.length;
  }
}

/** All blocks. */
export function pemBlocks(text: string): readonly PemBlock[] {
  const blocks: PemBlock[] = [];
  let rest = text;
  for (;;) {
    const decoded = decodePem(rest);
    if (decoded.block === undefined) return blocks;
    blocks.push(decoded.block);
    rest = decoded.rest;
  }
}

/** The block that ends at `end` and begins not before `from`. */
function readBlock(
  text: string,
  { from, end }: { readonly from: number; readonly end: number },
): PemBlock | "broken" | "nothing more" {
  const begin = text.slice(from, end).lastIndexOf(beginning);
  if (begin < 0 || (begin > 0 && text[from + begin - 1] !== "\n")) return "broken";
  const first = lineAt(text, from + begin + beginning.length);
  if (!first.line.endsWith(dashes)) return "broken";
  const type = first.line.slice(0, -dashes.length);

  const headers = new Map<string, string>();
  let at = first.next;
  for (;;) {
    if (at >= text.length) return "nothing more";
    const { line, next } = lineAt(text, at);
    const colon = line.indexOf(":");
    if (colon < 0) break;
    headers.set(trimSpace(line.slice(0, colon)), trimSpace(line.slice(colon + 1)));
    at = next;
  }
  const trailer = end + ending.length;
  // Headers that run on into the last line, or beyond it.
  if (headers.size > 0 && end < at) return trailer < at ? "nothing more" : "broken";
  if (!text.startsWith(type + dashes, trailer)) return "broken";
  if (lineAt(text, trailer + type.length + dashes.length).line !== "") return "broken";
  const bytes = end > at ? bytesOfBase64(text.slice(at, end).replace(/[ \t]/g, "")) : "";
  if (bytes === undefined) return "broken";
  return { type, headers, bytes: Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)) };
}

/** The line from a place on without the blanks at its end, and where the next one begins. */
function lineAt(text: string, start: number): { readonly line: string; readonly next: number } {
  const found = text.indexOf("\n", start);
  let end = found < 0 ? text.length : found;
  if (found > start && text[end - 1] === "\r") end -= 1;
  while (end > start && (text[end - 1] === " " || text[end - 1] === "\t")) end -= 1;
  return { line: text.slice(start, end), next: found < 0 ? text.length : found + 1 };
}

/** What is wrong with a bundle of trusted certificates, base64 of PEM; nothing if one of them can be read. */
export function caBundleProblem(base64: string): string | undefined {
  const text = bytesOfBase64(base64) ?? "";
  if (text === "") return undefined;
  const isCertificate = ({ type, headers }: PemBlock): boolean =>
    type === "CERTIFICATE" && headers.size === 0;
  const certificates = pemBlocks(text).filter(isCertificate);
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
