// The signature of a request for a certificate: what is signed, how and by which key. Whether it is right takes
// cryptography, which whoever judges brings along.

import { derChildren, derHex, readDer, type DerValue } from "../meta/der.ts";

/** What a signature is to be checked against. */
export interface SignedBytes {
  readonly bytes: Uint8Array;
  readonly signature: Uint8Array;
  /** A SubjectPublicKeyInfo in DER. */
  readonly key: Uint8Array;
  /** None where the algorithm has its own. */
  readonly hash: Hash | undefined;
  /** Whether RSA pads with PSS, its salt as long as the hash. */
  readonly isPss: boolean;
}

type Hash = "sha1" | "sha256" | "sha384" | "sha512";

type KeyKind = "RSA" | "ECDSA" | "Ed25519";

interface Algorithm {
  readonly key: KeyKind;
  readonly hash?: Hash;
  readonly isPss?: boolean;
}

/** By object identifier, in hexadecimal. */
const algorithms: Readonly<Record<string, Algorithm>> = {
  "2a864886f70d010105": { key: "RSA", hash: "sha1" },
  "2a864886f70d01010b": { key: "RSA", hash: "sha256" },
  "2a864886f70d01010c": { key: "RSA", hash: "sha384" },
  "2a864886f70d01010d": { key: "RSA", hash: "sha512" },
  "2a8648ce3d0401": { key: "ECDSA", hash: "sha1" },
  "2a8648ce3d040302": { key: "ECDSA", hash: "sha256" },
  "2a8648ce3d040303": { key: "ECDSA", hash: "sha384" },
  "2a8648ce3d040304": { key: "ECDSA", hash: "sha512" },
  "2b6570": { key: "Ed25519" },
};
const pss = "2a864886f70d01010a";
const md5WithRsa = "2a864886f70d010104";
const mgf1 = "2a864886f70d010108";
const pssHashes: Readonly<Record<string, { readonly hash: Hash; readonly bytes: number }>> = {
  "608648016503040201": { hash: "sha256", bytes: 32 },
  "608648016503040202": { hash: "sha384", bytes: 48 },
  "608648016503040203": { hash: "sha512", bytes: 64 },
};
const keyKinds: Readonly<Record<string, { readonly kind: KeyKind; readonly type: string }>> = {
  "2a864886f70d010101": { kind: "RSA", type: "*rsa.PublicKey" },
  "2a8648ce3d0201": { kind: "ECDSA", type: "*ecdsa.PublicKey" },
  "2b6570": { kind: "Ed25519", type: "ed25519.PublicKey" },
};
const failures: Readonly<Record<KeyKind, string>> = {
  RSA: "crypto/rsa: verification error",
  ECDSA: "x509: ECDSA verification failure",
  Ed25519: "x509: Ed25519 verification failure",
};
const unimplemented = "x509: cannot verify signature: algorithm unimplemented";
const rsaBitsMin = 1024;

/** Why a request, which has the form of one, is not signed by its own key; nothing if it is. */
export function signatureProblem(
  request: Uint8Array,
  isSigned: (signed: SignedBytes) => boolean,
): string | undefined {
  const whole = readDer(request, 0, request.length);
  if (whole === undefined) return unimplemented;
  const [body, identifier, bits] = derChildren(request, whole) ?? [];
  if (body === undefined || identifier === undefined || bits === undefined) return unimplemented;
  const key = (derChildren(request, body) ?? [])[2];
  if (key === undefined) return unimplemented;
  const id = identifierOf(request, identifier);
  if (id === md5WithRsa) return "x509: cannot verify signature: insecure algorithm MD5-RSA";
  const algorithm = id === pss ? pssAlgorithm(request, identifier) : ownOf(algorithms, id);
  const known = ownOf(keyKinds, identifierOf(request, (derChildren(request, key) ?? [])[0]));
  if (algorithm === undefined || known === undefined) return unimplemented;
  if (known.kind !== algorithm.key) {
    return `x509: signature algorithm specifies an ${algorithm.key} public key, but have public key of type ${known.type}`;
  }
  const size = known.kind === "RSA" ? rsaBits(request, key) : undefined;
  if (size !== undefined && size < rsaBitsMin) {
    return `crypto/rsa: ${size}-bit keys are insecure (see https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size)`;
  }
  const isRight = isSigned({
    bytes: request.subarray(whole.start, body.end),
    // The first byte of a bit string says how many bits of the last are unused.
    signature: request.subarray(bits.start + 1, bits.end),
    key: request.subarray(startOf(request, body, key), key.end),
    hash: algorithm.hash,
    isPss: algorithm.isPss ?? false,
  });
  return isRight ? undefined : failures[known.kind];
}

/** Where a value's header begins: where the value before it ends. */
function startOf(bytes: Uint8Array, parent: DerValue, child: DerValue): number {
  let start = parent.start;
  for (const one of derChildren(bytes, parent) ?? []) {
    if (one.start === child.start) return start;
    start = one.end;
  }
  return start;
}

/** The object identifier at the head of a sequence. */
function identifierOf(bytes: Uint8Array, sequence: DerValue | undefined): string {
  const [id] = sequence === undefined ? [] : (derChildren(bytes, sequence) ?? []);
  return id === undefined ? "" : derHex(bytes, id);
}

/** Of its many options three are known: one hash throughout, and a salt as long as it. */
function pssAlgorithm(bytes: Uint8Array, identifier: DerValue): Algorithm | undefined {
  const [, parameters] = derChildren(bytes, identifier) ?? [];
  if (parameters === undefined) return undefined;
  const inside = (tag: number): DerValue | undefined => {
    const wrapper = (derChildren(bytes, parameters) ?? []).find((one) => one.tag === tag);
    return wrapper === undefined ? undefined : readDer(bytes, wrapper.start, wrapper.end);
  };
  const [hash, mask, salt, trailer] = [0xa0, 0xa1, 0xa2, 0xa3].map(inside);
  const found = ownOf(pssHashes, identifierOf(bytes, hash));
  const [, maskHash] = mask === undefined ? [] : (derChildren(bytes, mask) ?? []);
  const isOneHash = identifierOf(bytes, maskHash) === identifierOf(bytes, hash);
  if (found === undefined || !isOneHash || identifierOf(bytes, mask) !== mgf1) return undefined;
  if (salt === undefined || Number(`0x${derHex(bytes, salt)}`) !== found.bytes) return undefined;
  if (trailer !== undefined && derHex(bytes, trailer) !== "01") return undefined;
  return { key: "RSA", hash: found.hash, isPss: true };
}

/** How long the modulus of an RSA key is. */
function rsaBits(bytes: Uint8Array, key: DerValue): number | undefined {
  const [, bits] = derChildren(bytes, key) ?? [];
  const pair = bits === undefined ? undefined : readDer(bytes, bits.start + 1, bits.end);
  const [modulus] = pair === undefined ? [] : (derChildren(bytes, pair) ?? []);
  if (modulus === undefined) return undefined;
  const digits = derHex(bytes, modulus).replace(/^0+/, "");
  if (digits === "") return 0;
  return (digits.length - 1) * 4 + Number.parseInt(digits.slice(0, 1), 16).toString(2).length;
}

function ownOf<Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
