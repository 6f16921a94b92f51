import { createHash } from "node:crypto";

/** By which a token is looked up, so that the time it takes tells nothing of other tokens. */
export function tokenHash(token: string): string {
  return createHash("sha256").update(token).digest("base64");
}
