// Whether a request for a certificate was signed by the key that it names.

import { constants, createPublicKey, verify } from "node:crypto";

import type { SignedBytes } from "@keelson/kube";

/** False also for a key that cannot be read. */
export function isSigned({ bytes, signature, key, hash, isPss }: SignedBytes): boolean {
  try {
    const spki = createPublicKey({ key: Buffer.from(key), format: "der", type: "spki" });
    const padding = isPss
      ? {
          padding: constants.RSA_PKCS1_PSS_PADDING,
          saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
        }
      : {};
    return verify(hash ?? null, bytes, { key: spki, ...padding }, signature);
  } catch {
    return false; // OpenSSL says in many ways that something is no key or no signature.
  }
}
