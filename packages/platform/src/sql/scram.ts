// What PostgreSQL keeps of a password. Sent in its place, it can be in a log of the server, and be of no use there.

import { createHash, createHmac, pbkdf2Sync } from "node:crypto";

/** As many as PostgreSQL itself takes; a password of 32 random bytes needs no more. */
const iterations = 4096;
export const saltBytes = 16;

/**
 * The verifier of SCRAM-SHA-256 (RFC 5802, RFC 7677), in the form that `ALTER ROLE … PASSWORD` takes for one.
 *
 * The password must be printable ASCII: then SASLprep, which it should go through first, leaves it as it is.
 */
export function scramVerifier(password: string, salt: Uint8Array): string {
  if (!/^[\x20-\x7e]+$/.test(password)) {
    throw new RangeError("a password of ours has printable ASCII and nothing else");
  }
  const salted = pbkdf2Sync(password, salt, iterations, 32, "sha256");
  const clientKey = createHmac("sha256", salted).update("Client Key").digest();
  const storedKey = createHash("sha256").update(clientKey).digest("base64");
  const serverKey = createHmac("sha256", salted).update("Server Key").digest("base64");
  const salt64 = Buffer.from(salt).toString("base64");
  return `SCRAM-SHA-256$${iterations}:${salt64}$${storedKey}:${serverKey}`;
}
