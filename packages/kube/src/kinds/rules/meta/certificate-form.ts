// What tells a certificate, or a request for one, from something else: its form, not whether it is right.

import { derChildren, derHex, readDer } from "./der.ts";

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
    if (derHex(bytes, id) !== basicConstraints) continue;
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
